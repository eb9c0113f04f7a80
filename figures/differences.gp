# How far central differences are from the gradients, against the step: both
# axes logarithmic, float and double, with a mark at the cube root of epsilon.
eval sized("10.8cm,7.2cm")
set logscale xy 10
set xrange [1e-13:1]
set yrange [1e-12:20]
set format x "$10^{%T}$"
set format y "$10^{%T}$"
set xtics 1e-12,1e3,1 nomirror
set ytics 1e-12,1e3,1 nomirror
set grid ytics lc rgb faint lw 0.6
set xlabel "step $s$"
set border 3 lc rgb ink
set print $double
do for [k=1:43] { print sprintf("%g %g", 2.0**(-k), recorded(sprintf("differences.double.%d", k))) }
set print $single
do for [k=1:20] { print sprintf("%g %g", 2.0**(-k), recorded(sprintf("differences.float.%d", k))) }
unset print
best(type) = recorded(sprintf("differences.%s.best", type))
set arrow from best("double"),1e-12 to best("double"),2e-11 nohead lw 2 lc rgb ink
set arrow from best("float"),1e-12 to best("float"),2e-11 nohead lw 2 lc rgb aside
set label "double" at 1e-10,2e-7 left tc rgb ink
set label "float" at 1.5e-6,1 left tc rgb aside
plot $double with linespoints pt 6 ps 0.5 lw 1.2 lc rgb ink, \
     $single with linespoints pt 2 ps 0.5 lw 1.2 lc rgb aside
