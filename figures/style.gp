# style.gp: what all figures share. Called with `record` and `output` set.
# The terminal leaves all text to LaTeX, so figures speak in the book's type.
# Margins are measured in its characters: named, or else every system has its own.
sized(size) = "set terminal cairolatex pdf colortext size ".size.\
	" font 'TeX Gyre Pagella' fontscale 0.8 linewidth 1 transparent; set output output"
eval sized("10.8cm,5.2cm")

# The value recorded under a key. A missing one is complained of on standard
# error, and make takes any complaint of gnuplot's for a failure.
lookup(key) = sprintf("awk -F'\\t' -v key='%s' '$1 == key { print $2; found = 1 } END { if (!found) print \"no value is recorded under\", key > \"/dev/stderr\" }' %s", key, record)
recorded(key) = real(system(lookup(key)))

headzero = 0x005AA0     # head 0, dark blue, everywhere in the book
headone  = 0xD67814     # head 1, orange, lighter in grey as well
future   = 0xB8B8B8     # what the mask forbids
ink      = 0x202020
paper    = 0xFFFFFF
aside    = 0x707070     # what is not the subject
faint    = 0xDDDDDD     # lines that help the eye

# Each path has its colour, mark and dash in every figure. No two share their
# mark, and where the lines have no marks no two share their dash.
shade_loop      = 0xB05A3C; mark_loop      = 7;  dash_loop      = 3
shade_packed    = 0x1B7A5A; mark_packed    = 5;  dash_packed    = 1
shade_online    = 0x707070; mark_online    = 9;  dash_online    = 1
shade_streaming = 0x202020; mark_streaming = 13; dash_streaming = 1
shade_PyTorch   = 0x7A4FA3; mark_PyTorch   = 1;  dash_PyTorch   = 2
shade(path) = value("shade_".path)
mark(path) = value("mark_".path)
dash(path) = value("dash_".path)

unset key
set border 0
set tics scale 0
