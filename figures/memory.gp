# Memory of a forward pass against its length, both axes logarithmic: loop,
# packed and online path. Asked of the workspace (marks on lines), and by how much the
# process grew (crosses).
eval sized("10.8cm,6.6cm")
set logscale x 2
set logscale y 10
set xrange [110:9500]
set yrange [5e4:2e8]
set xtics ("128" 128, "256" 256, "512" 512, "1024" 1024, "2048" 2048, "4096" 4096) nomirror
set ytics ("100 kB" 1e5, "1 MB" 1e6, "10 MB" 1e7, "100 MB" 1e8) nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "positions $T$"
set border 3 lc rgb ink
asked(path, T) = recorded(sprintf("paths.%s.t%d.asked", path, T))
grew(path, T) = recorded(sprintf("paths.%s.t%d.resident", path, T))
$loop << EOD
EOD
$packed << EOD
EOD
$online << EOD
EOD
set print $loop
do for [k=0:4] { T = 128 * 2**k; print sprintf("%d %g %g", T, asked("loop", T), grew("loop", T)) }
set print $packed
do for [k=0:4] { T = 128 * 2**k; print sprintf("%d %g %g", T, asked("packed", T), grew("packed", T)) }
set print $online
do for [k=0:5] { T = 128 * 2**k; print sprintf("%d %g %g", T, asked("online", T), grew("online", T)) }
unset print
set label "packed" at 2250,asked("packed", 2048)*1.35 left tc rgb shade("packed")
set label "loop" at 2250,asked("loop", 2048)*0.72 left tc rgb shade("loop")
set label "online" at 4700,asked("online", 4096) left tc rgb shade("online")
plot $packed using 1:2 with linespoints pt mark("packed") ps 0.7 lw 1.5 dt dash("packed") lc rgb shade("packed"), \
     $loop using 1:2 with linespoints pt mark("loop") ps 0.4 lw 1.5 dt dash("loop") lc rgb shade("loop"), \
     $online using 1:2 with linespoints pt mark("online") ps 0.7 lw 1.5 dt dash("online") lc rgb shade("online"), \
     $loop using 1:3 with points pt 2 ps 0.5 lw 1.5 lc rgb shade("loop"), \
     $packed using 1:3 with points pt 2 ps 0.5 lw 1.5 lc rgb shade("packed"), \
     $online using 1:3 with points pt 2 ps 0.5 lw 1.5 lc rgb shade("online")
