# Which test notices which mistake: a row for each wrong variant, a column for
# each test that failed for at least one; the chapters' numbers at the foot.
# One pass over the record makes a table of marks: row, column, chapter.
eval sized("10.8cm,12.6cm")
marks = "awk -F'\t' '\
$1 ~ /^variants\.[^.]+\.tests$/ && $2 > 0 { split($1, part, \".\"); row[part[2]] = ++rows; name[rows] = part[2] }\
$1 ~ /^variants\.[^.]+\.test\.[0-9]+$/ { split($1, part, \".\"); test[part[2] \" \" part[4]] = $2 }\
$1 ~ /^variants\.[^.]+\.test\.[0-9]+\.chapter$/ { split($1, part, \".\"); where[test[part[2] \" \" part[4]]] = $2 }\
END { for (t in where) print where[t] \"\t\" t | \"sort -n\"; close(\"sort -n\") }' ".record
tests = system(marks)
columns = words(tests)/2
rows = "awk -F'\t' '$1 ~ /^variants\.[^.]+\.tests$/ && $2 > 0 { split($1, part, \".\"); print part[2] }' ".record
names = system(rows)
failed = "awk -F'\t' '$1 ~ /^variants\.[^.]+\.test\.[0-9]+$/ { split($1, part, \".\"); print part[2] \"/\" $2 }' ".record
all = " ".system(failed)." "
$points << EOD
EOD
set print $points
do for [c=1:columns] {
	chapter = word(tests, 2*c-1); test = word(tests, 2*c)
	do for [r=1:words(names)] {
		if (strstrt(all, word(names, r)."/".test."\n") > 0 || strstrt(all, word(names, r)."/".test." ") > 0) {
			print sprintf("%d %d", c, r)
		}
	}
}
unset print
set xrange [0.3:columns+0.7]
set yrange [words(names)+0.7:-0.3]
set tmargin 3.2
unset xtics
set ytics scale 0 ("" 0)
do for [r=1:words(names)] { set ytics add (word(names, r) r) }
# A line between chapters, and their numbers below.
# Tests know the numbers of files; chapters are counted in the order of those.
files = system("ls chapters | sed -n 's/^\\([0-7][0-9]\\)-.*/\\1/p'")
first = 1
low = 0                 # the numbers of narrow chapters stand one below the other
do for [c=1:columns] {
	here = word(tests, 2*c-1)
	next = c < columns ? word(tests, 2*c+1) : ""
	if (here ne next) {
		if (c < columns) { set arrow from c+0.5,0.2 to c+0.5,words(names)+0.6 nohead lw 0.6 lc rgb future }
		low = c-first < 3 ? low+1 : 0
		number = 0
		do for [n=1:words(files)] { if (word(files, n) eq here) { number = n } }
		set label sprintf("%d", number) at (first+c)/2.0,words(names)+1.4+0.9*low center tc rgb ink
		first = c+1
	}
}
# The three that know everything are named above their columns.
broad = "the_loop_agrees_with_the_oracle all_paths_agree_with_pytorch every_gradient_is_the_slope_found_by_trying"
called = "oracle referee slopes"
do for [c=1:columns] { do for [k=1:3] {
	if (word(tests, 2*c) eq word(broad, k)) {
		set label word(called, k) at c,0 left rotate by 50 tc rgb ink
	}
} }
set grid ytics lc rgb faint lw 0.6
set border 0
set bmargin 3.4
plot $points using 1:2 with points pt 5 ps 0.42 lc rgb ink
