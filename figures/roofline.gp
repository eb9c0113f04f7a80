# The roofline of one processor: useful operations a second against useful
# operations for each byte that is carried, both axes logarithmic. Under the
# slope memory is the limit, under the flat part arithmetic. A path that the
# record has no times of leaves no mark.
eval sized("10.8cm,7.6cm")
set logscale xy 10
set xrange [1.5:2000]
set yrange [0.6:600]
set xtics ("2" 2, "5" 5, "10" 10, "20" 20, "50" 50, "100" 100, "200" 200, "500" 500, "1000" 1000) nomirror
set ytics ("1" 1, "10" 10, "100" 100) nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "useful operations per byte"
set ylabel "GFLOP/s" offset 1,0
set border 3 lc rgb ink
peak = recorded("bench.one.fma")
gemm = recorded("bench.one.gemm")
memory = recorded("bench.one.memory")
roof(x) = x*memory < peak ? x*memory : peak
names = "loop packed online streaming"
$points << EOD
EOD
present = ""
set print $points
do for [i=1:4] {
	first = 0; last = 0
	do for [k=9:14] {
		key = sprintf("bench.length.t%d.%s.", 2**k, word(names, i))
		x = recorded(key."intensity"); y = recorded(key."rate")
		if (y == y) {
			print sprintf("%g %g %d", x, y, i)
			if (first == 0) {
				first = k; present = present.sprintf(" %d", i)
				set label word(names, i).sprintf(", $T=%d$", 2**k) at x,y center offset (i == 4 ? 3 : i == 2 ? 1.5 : 0),(i == 3 ? 0.9 : i == 4 ? -1.9 : i == 2 ? -2.6 : -0.9) tc rgb shade(word(names, i))
			}
			last = k; lastx = x; lasty = y
		}
	}
	if (last > first) { set label sprintf("$%d$", 2**last) at lastx,lasty center offset 0,-0.9 tc rgb shade(word(names, i)) }
	print ""; print ""
}
unset print
set label sprintf("multiply and add, %.0f", peak) at 1900,peak*2 right tc rgb ink
set label sprintf("dotted: product of large matrices, %.0f", gemm) at 1900,peak*1.3 right tc rgb aside
set label sprintf("memory, %.0f GB/s", memory) at 3.4,3.4*memory*1.5 center rotate by 34 tc rgb ink
plot roof(x) with lines lw 2 lc rgb ink, \
     (x > gemm/memory ? gemm : NaN) with lines dt 3 lw 1.2 lc rgb aside, \
     for [i in present] $points using ($3 == i+0 ? $1 : NaN):2 with linespoints pt mark(word(names, i+0)) ps 0.6 lw 1 lc rgb shade(word(names, i+0))
