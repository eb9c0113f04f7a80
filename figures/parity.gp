# The errors of random layers against PyTorch, as distributions: what share of
# the layers has at most this error. Output on the left, input gradient on the
# right; loop, packed path, and PyTorch's own float.
eval sized("10.8cm,6.4cm")
last = recorded("parity.layers")
q(series, what, k) = recorded(sprintf("parity.float.%s.%s.%s", series, what, k == 20 ? "worst" : sprintf("q%02d", 5*k)))
set multiplot layout 1,2
set xrange [0:8]
set yrange [0:1]
set xtics 0,2,8 nomirror
set ytics ("0" 0, "half" 0.5, "all" 1) nomirror
set grid lc rgb faint lw 0.6
set border 3 lc rgb ink
set xlabel "epsilons"
array names[2] = ["y", "grad.x"]
array titles[2] = ["output", "input gradient"]
do for [side=1:2] {
	what = names[side]
	set title titles[side] offset 0,-0.6 tc rgb ink
	set print $loop
	do for [k=0:20] { print sprintf("%g %g", q("loop", what, k), 0.05*k) }
	set print $packed
	do for [k=0:20] { print sprintf("%g %g", q("packed", what, k), 0.05*k) }
	set print $torch
	do for [k=0:20] { print sprintf("%g %g", q("torch", what, k), 0.05*k) }
	unset print
	if (side == 1) {
		do for [i=1:3] {
			path = word("PyTorch packed loop", i); y = 0.58 - 0.13*i
			set label i path at 5,y left tc rgb shade(path)
			set arrow i from 3.8,y to 4.8,y nohead lw 2 dt dash(path) lc rgb shade(path)
		}
	} else { do for [i=1:3] { unset label i; unset arrow i } }
	plot $loop with lines lw 2 dt dash("loop") lc rgb shade("loop"), \
	     $packed with lines lw 2 dt dash("packed") lc rgb shade("packed"), \
	     $torch with lines lw 2 dt dash("PyTorch") lc rgb shade("PyTorch")
}
unset multiplot
