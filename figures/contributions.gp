# Where each coordinate of the fixture's last output comes from: a bar for each
# head's contribution, and an outlined bar for their sum, which is the output.
eval sized("10.8cm,6.4cm")
set xrange [-0.55:3.55]
set yrange [-3:6.9]
set xtics ("$Y_0=z_0+z_2$" 0, "$Y_1=z_1-z_3$" 1, "$Y_2=z_0-z_2$" 2, "$Y_3=z_1+z_3$" 3) offset 0,0.2
set ytics -2,2,6
set grid ytics lc rgb faint lw 0.6
set xzeroaxis lt 1 lc rgb ink lw 1
set ylabel "coordinate of the output" offset 1,0
do for [c=0:3] {
	do for [bar=0:2] {
		y = recorded(sprintf("fixture.%s.last.%d", word("contribution0 contribution1 output", bar+1), c))
		x = c + 0.29*(bar-1)
		colour = bar == 0 ? headzero : bar == 1 ? headone : ink
		if (bar < 2) {
			set object rect from x-0.13,0 to x+0.13,y fc rgb colour fs solid 1 noborder
		} else {
			set object rect from x-0.13,0 to x+0.13,y fc rgb paper fs solid 1 border lc rgb ink lw 1.5
		}
		set label sprintf("$%.2f$", y) at x,y center offset 0,(y < 0 ? -0.65 : 0.65) tc rgb colour front
	}
}
set label "head 0" at -0.29,0.25 left rotate by 90 tc rgb paper front
set label "head 1" at 0,0.25 left rotate by 90 tc rgb ink front
set label "output" at 0.29,0.25 left rotate by 90 tc rgb ink front
plot NaN
