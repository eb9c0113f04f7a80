# Storage against length, both axes logarithmic: the bytes of the scores by
# arithmetic (lines), what the workspace was asked for (circles), by how much
# the process grew (crosses).
eval sized("10.8cm,7.2cm")
set logscale x 2
set logscale y 10
set xrange [100:12000]
set yrange [3e4:3e9]
set xtics ("128" 128, "256" 256, "512" 512, "1024" 1024, "2048" 2048, "4096" 4096) nomirror
set ytics ("100 kB" 1e5, "1 MB" 1e6, "10 MB" 1e7, "100 MB" 1e8, "1 GB" 1e9) nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "positions $T$"
set border 3 lc rgb ink
limit = 256.0*1024*1024
bytes(T, H) = 8.0 * H * T * T
grey(h) = 0x202020 + 0x242424 * h
$points << EOD
EOD
set print $points
do for [i=0:18] {
	T = 128 * 2**(i/4); H = 2**(i%4)
	print sprintf("%d %d %g %g", T, H, recorded(sprintf("sweep.t%d.h%d.asked", T, H)), recorded(sprintf("sweep.t%d.h%d.resident", T, H)))
}
unset print
do for [h=0:3] {
	H = 2**h
	set label sprintf("$H=%d$", H) at 4300,bytes(4096, H) left tc rgb grey(h)
}
set label "not measured from 256 MiB on" at 130,limit*1.5 left tc rgb aside
plot for [h=0:3] [T=128:4096] bytes(T, 2**h) with lines lc rgb grey(h) lw 1.2, \
     limit with lines dt 3 lc rgb aside, \
     $points using 1:3 with points pt 6 ps 0.7 lw 1.5 lc rgb ink, \
     $points using 1:4 with points pt 2 ps 0.5 lw 1.5 lc rgb ink
