# What moves when one position is changed: two small tables, with the mask and
# without it. Darker is more change; cells of the past that are exactly zero
# under the mask stay empty.
cell(kind, j, t) = recorded(sprintf("interventions.%s.%d.%d", kind, j, t))
shade(w) = 255 - int(150 * (w > 3 ? 1 : w / 3.0))

eval sized("10.8cm,5.6cm")
set xrange [-1.2:14]
set yrange [7.2:-1.6]
unset xtics; unset ytics
do for [side=0:1] {
	left = 7.3 * side
	kind = side == 0 ? "masked" : "unmasked"
	set label (side == 0 ? "with the mask" : "without the mask") at left+3,-1.15 center tc rgb ink
	do for [j=0:5] {
		set label sprintf("%d", j) at left+j+0.5,-0.35 center tc rgb ink
		set label sprintf("%d", j) at left-0.3,j+0.5 center tc rgb ink
		do for [t=0:5] {
			w = cell(kind, j, t)
			grey = shade(w)
			set object rect from left+t,j to left+t+1,j+1 fc rgb (65536*grey + 256*grey + grey) fs solid 1 border lc rgb future
			if (w > 0) {
				set label sprintf("%.2f", w) at left+t+0.5,j+0.5 center tc rgb ink front
			}
		}
	}
	set label "position that moved" at left+3,6.65 center tc rgb ink
}
set label "position changed" at -0.95,3 center rotate by 90 tc rgb ink
plot NaN
