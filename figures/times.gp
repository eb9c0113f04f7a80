# Seconds of a forward pass against its length, both axes logarithmic, for each
# path and for PyTorch. What the record has no times of leaves no line.
eval sized("10.8cm,7.6cm")
set logscale x 2
set logscale y 10
set xrange [430:60000]
set yrange [0.005:20]
set xtics ("512" 512, "1024" 1024, "2048" 2048, "4096" 4096, "8192" 8192, "16384" 16384) nomirror
set ytics ("10 ms" 0.01, "100 ms" 0.1, "1 s" 1, "10 s" 10) nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "positions $T$"
set border 3 lc rgb ink
names = "loop packed online streaming sdpa"
titles = "loop packed online streaming PyTorch"
$points << EOD
EOD
present = ""
set print $points
do for [i=1:5] {
	lastx = NaN; lasty = NaN
	do for [k=9:14] {
		y = recorded(sprintf("bench.length.t%d.%s.median", 2**k, word(names, i)))
		if (y == y) { print sprintf("%d %g %d", 2**k, y, i); lastx = 2**k; lasty = y }
	}
	print ""; print ""
	if (lasty == lasty) {
		present = present.sprintf(" %d", i)
		if (i == 2) { set label "packed" at lastx*0.85,lasty right tc rgb shade("packed") } else { set label word(titles, i) at lastx*1.15,lasty left offset 0,(i == 5 || i == 1 ? 0.4 : -0.4) tc rgb shade(word(titles, i)) }
	}
}
unset print
plot NaN, for [i in present] $points using ($3 == i+0 ? $1 : NaN):2 with linespoints pt mark(word(titles, i+0)) ps 0.6 lw 1.4 dt dash(word(titles, i+0)) lc rgb shade(word(titles, i+0))
