# Memory of a forward pass beyond input and output against its length, both axes
# logarithmic: what was asked of the workspace (lines with marks), by how much
# the process grew (crosses). What the record has no values of leaves no mark.
eval sized("10.8cm,7.6cm")
set logscale x 2
set logscale y 10
set xrange [430:60000]
set yrange [1e6:2e9]
set xtics ("512" 512, "1024" 1024, "2048" 2048, "4096" 4096, "8192" 8192, "16384" 16384) nomirror
set ytics ("1 MB" 1e6, "10 MB" 1e7, "100 MB" 1e8, "1 GB" 1e9) nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "positions $T$"
set border 3 lc rgb ink
names = "loop packed online streaming"
$points << EOD
EOD
present = ""
set print $points
do for [i=1:4] {
	lastx = NaN; lasty = NaN
	do for [k=9:14] {
		key = sprintf("bench.length.t%d.%s.", 2**k, word(names, i))
		y = 2**20*recorded(key."asked"); z = 2**20*recorded(key."grown")
		if (y == y) { print sprintf("%d %g %g %d", 2**k, y, z, i); lastx = 2**k; lasty = y }
	}
	if (lasty == lasty) {
		present = present.sprintf(" %d", i)
		set label word(names, i) at lastx*1.15,lasty left offset 0,(i == 3 ? -0.6 : i == 1 ? -0.4 : 0) tc rgb shade(word(names, i))
	}
}
unset print
plot NaN, for [i in present] $points using ($4 == i+0 ? $1 : NaN):2 with linespoints pt mark(word(names, i+0)) ps 0.6 lw 1.4 lc rgb shade(word(names, i+0)), \
     for [i in present] $points using ($4 == i+0 ? $1 : NaN):3 with points pt 2 ps 0.6 lw 1.2 lc rgb shade(word(names, i+0))
