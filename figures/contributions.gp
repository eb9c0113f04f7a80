# Where each coordinate of the fixture's last output comes from: one bar for
# each head, and a mark where their sum, the output, lies.
array zero[4]; array one[4]; array total[4]
do for [c=0:3] {
	zero[c+1] = recorded(sprintf("fixture.contribution0.last.%d", c))
	one[c+1]  = recorded(sprintf("fixture.contribution1.last.%d", c))
	total[c+1]  = recorded(sprintf("fixture.output.last.%d", c))
}
set xrange [-0.6:3.9]
set yrange [-2.9:6.6]
set xtics ("$Y_0 = a+c$" 0, "$Y_1 = b-e$" 1, "$Y_2 = a-c$" 2, "$Y_3 = b+e$" 3) offset 0,0.2
set ytics -2,2,6 nomirror
set grid ytics lc rgb 0xDDDDDD lw 0.6
set xzeroaxis lc rgb ink lw 1
set ylabel "coordinate of the output"
set style fill solid 1.0 noborder
do for [c=0:3] {
	set object rect from c-0.32,0 to c-0.06,zero[c+1] fc rgb headzero
	set object rect from c+0.06,0 to c+0.32,one[c+1] fc rgb headone
	set label sprintf("%.2f", zero[c+1]) at c-0.19,zero[c+1] center offset 0,0.6 tc rgb headzero
	set label sprintf("%.2f", one[c+1]) at c+0.19,one[c+1] center offset 0,(one[c+1] < 0 ? -0.6 : 0.6) tc rgb headone
	set arrow from c-0.36,total[c+1] to c+0.36,total[c+1] nohead lc rgb ink lw 2.5 front
	set label sprintf("%.2f", total[c+1]) at c+0.39,total[c+1] left tc rgb ink front
}
set label "head 0" at -0.19,1.8 center rotate by 90 tc rgb 0xFFFFFF front
set label "head 1" at 0.19,1.0 center rotate by 90 tc rgb 0x000000 front
set label "output" at -0.42,total[1] right tc rgb ink front
plot NaN
