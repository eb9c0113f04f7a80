# The weights of both heads on the fixture as two small tables: darker is more
# weight, the number stands in its cell, and the future is crossed out.
key(h, t, s) = sprintf("fixture.head%d.weights.%s.%d", h, t == 2 ? "last" : sprintf("%d", t), s)
blend(colour, w) = 255 - int((255 - colour) * w)
tint(colour, w) = 65536 * blend(int(colour / 65536), w) + 256 * blend(int(colour / 256) % 256, w) + blend(colour % 256, w)

set xrange [-0.9:7.3]
set yrange [3.2:-1.1]
unset xtics; unset ytics
do for [h=0:1] {
	left = 4.1 * h
	colour = h == 0 ? headzero : headone
	set label sprintf("head %d", h) at left+1.5,-0.75 center tc rgb colour
	do for [i=0:2] {
		set label sprintf("%d", i) at left+i+0.5,-0.25 center tc rgb ink
		set label sprintf("%d", i) at left-0.2,i+0.5 center tc rgb ink
		do for [j=0:2] {
			w = recorded(key(h, i, j))
			if (j > i) {
				set object rect from left+j,i to left+j+1,i+1 fc rgb paper fs solid 1 border lc rgb future
				set arrow from left+j+0.2,i+0.2 to left+j+0.8,i+0.8 nohead lc rgb future lw 1
				set arrow from left+j+0.2,i+0.8 to left+j+0.8,i+0.2 nohead lc rgb future lw 1
			} else {
				set object rect from left+j,i to left+j+1,i+1 fc rgb tint(colour, 0.85*w) fs solid 1 border lc rgb future
				set label sprintf("%.3f", w) at left+j+0.5,i+0.5 center tc rgb (w > 0.6 && h == 0 ? paper : ink) front
			}
		}
	}
}
set label "receiving position" at -0.6,1.5 center rotate by 90 tc rgb ink
set label "source" at 1.5,3.0 center offset 0,-0.6 tc rgb ink
set label "source" at 5.6,3.0 center offset 0,-0.6 tc rgb ink
plot NaN
