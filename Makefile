# Makefile: from the chapters to the program, the record, the figures, the pages.
#
#   book.nw chapters/*.nw ->  build/src, tangled/    (tangle)
#                         ->  build/multihead        (compile)
#                         ->  build/results/*.tsv    (run)
#                         ->  build/figures/*        (draw)
#                         ->  book.pdf               (weave)
#
# `make help` lists the targets.

BUILD    ?= build
TANGLED  ?= tangled
PDF      ?= book.pdf
CHAPTERS ?= $(sort $(wildcard chapters/*.nw))
NOWEB    ?= /usr/lib/noweb
CLAIMS   ?= stop
TIMINGS  ?= measured

# make takes a blank for the end of a name, and an empty name for the root.
$(foreach name,BUILD TANGLED PDF,$(if $(filter 1,$(words $($(name)))),,\
	$(error $(name) must be one name without blanks, not '$($(name))')))

CFLAGS   ?= -O2 -g
WARNINGS  = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings \
            -Wdouble-promotion -Wvla
OPENMP   ?= -fopenmp
override CFLAGS += -std=c11 -ffp-contract=off $(OPENMP) $(WARNINGS)
LDLIBS   += -ljansson -lopenblas -lm
CHECK_LIBS = $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# What the book must define: each file once, modules before those above them.
LIBRARY  := error whole tensor blas workspace attention layer gradient online kernel kernel_small streaming weights
# The kernel again, for one kind of processor each, and each in float, too.
KERNELS  := kernel_avx2 kernel_avx512 single_plain single_avx2 single_avx512
COMMANDS := record fixture interventions storage differences reference run thoughts reply quiz remember predict bare speed bench measure lab
PROGRAM  := $(COMMANDS) single $(KERNELS) main
HEADERS  := real.h vector.h $(addsuffix .h,$(filter-out kernel_small,$(LIBRARY)) $(COMMANDS))
SOURCES  := $(addsuffix .c,$(LIBRARY) $(PROGRAM))
SUITES   := tensors one_head fixture loop packed interventions storage gradients files pytorch online streaming speed thoughts quiz predict when record
TESTS    := tests/suites.h tests/support.h tests/support.c tests/oracle.h \
            tests/oracle.c tests/layer_bench.h tests/layer_bench.c \
            tests/streamed_bench.h tests/streamed_bench.c tests/suite.c $(SUITES:%=tests/test_%.c)
# What is no C: tangled as it stands.
PLAIN    := quiz.schema.json
EXAMPLES := example/repeat.c
ROOTS    := $(HEADERS) $(SOURCES) $(TESTS) $(EXAMPLES)
FIGURES  := fixture-weights contributions interventions storage differences parity memory variants roofline times space

# What the chapters at hand do define. A snapshot, which stops at some chapter,
# defines fewer files than the whole book and expects no more; slots that only
# later chapters fill are empty in it.
DEFINED  := $(shell sed -n 's/^<<\[\[\([^]]*\)\]\]>>=.*/\1/p' book.nw $(CHAPTERS))
FILES    := $(filter $(DEFINED),$(ROOTS))
EXPECTED  = $(if $(SNAPSHOT),$(FILES) $(filter $(DEFINED),$(PLAIN)),$(ROOTS) $(PLAIN))

NAMES     = $(filter %.c,$(filter-out tests/% example/%,$(FILES)))
LIB_OBJ   = $(filter-out main.o,$(NAMES:.c=.o))
SUITE_OBJ = $(LIB_OBJ) $(patsubst %.c,%.o,$(filter tests/%.c,$(FILES)))
RECORD    = $(BUILD)/results/forward.tsv
SWEEP     = $(BUILD)/results/sweep.tsv
# What was kept of a long run; and timings, which only TIMINGS=kept takes.
TIMED     = records/sweep.tsv
KEPT      = $(filter-out $(TIMED),$(sort $(wildcard records/*.tsv)))
RECORDS   = $(RECORD) $(SWEEP) $(KEPT)

# Sorting, and what is a letter, the same for everyone; and a locale that is not
# installed, as happens on a machine reached by ssh, would stop LuaTeX.
export LC_ALL := C.UTF-8
MAKEFLAGS += --no-print-directory
# All processors, unless told otherwise.
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
.DELETE_ON_ERROR:
.SUFFIXES:
# A line that says what is being done; V=1 shows the commands themselves.
Q   := $(if $(V),,@)
say  = @printf '%-9s %s\n' "$(1)" "$(2)"

.PHONY: all pdf html spread tangle check golden lab keys figures timings parity bench variants try mutate exercises snapshots sanitize coverage fuzz certify lint clean help
all: $(PDF) published
	@echo "$(PDF) is up to date"

pdf: all            ## weave book.pdf (what plain `make` does)

# What a file depends on and make cannot see: a setting, kept in a file of its own
# that changes only when the setting does.
.PHONY: FORCE
define setting
	@mkdir -p $(BUILD); echo '$(1)' | cmp -s - $@ || echo '$(1)' > $@
endef
$(BUILD)/claims: FORCE
	$(call setting,$(CLAIMS))
$(BUILD)/timings: FORCE
	$(call setting,$(TIMINGS))
$(BUILD)/sources: FORCE
	$(call setting,$(CHAPTERS))
$(BUILD)/kept: FORCE
	$(call setting,$(KEPT))
$(BUILD)/flags: FORCE
	$(call setting,$(CC) $(CFLAGS) $(LDFLAGS) $(LDLIBS))

# ---- tangle -----------------------------------------------------------------

# noweb reads all sources at once: they share one space of chunk names.
$(BUILD)/book.markup: book.nw $(CHAPTERS) $(BUILD)/sources tools/check-chunks tools/noweb.py tools/texts.py Makefile
	$(call say,read,book.nw and $(words $(CHAPTERS)) chapters)
	@mkdir -p $(@D)
	$(Q)$(NOWEB)/markup -t book.nw $(CHAPTERS) > $@.all
	$(Q)$(if $(SNAPSHOT),tools/empty-slots,cat) < $@.all > $@.new
	$(Q)tools/check-chunks $(if $(SNAPSHOT),--cut) $@.new $(EXPECTED)
	@mv $@.new $@

# Some headers are in no chapter: names.h is made from the others, reference_lab.h
# from what PyTorch answered once, questions.h from chunks that hold words, and
# places.h from the titles of chapters and sections.
REFERENCE = tests/reference/lab.safetensors
MADE      = names.h reference_lab.h questions.h places.h
# Unchanged files keep their time stamps, so one stamp stands for all of them.
define keep
	@cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1)
endef
$(BUILD)/src.stamp: $(BUILD)/book.markup tools/tangle tools/names tools/embed tools/safetensors.py tools/quiz tools/texts.py $(REFERENCE)
	$(call say,tangle,$(BUILD)/src)
	$(Q)MADE="$(MADE)" tools/tangle $< $(BUILD)/src -L $(FILES)
	$(Q)cd $(BUILD)/src && "$(CURDIR)/tools/names" $(filter %.h,$(filter-out tests/%,$(FILES))) > names.h.new
	$(call keep,$(BUILD)/src/names.h)
	$(Q)tools/embed $(REFERENCE) > $(BUILD)/src/reference_lab.h.new
	$(call keep,$(BUILD)/src/reference_lab.h)
	$(Q)tools/quiz header < $< > $(BUILD)/src/questions.h.new
	$(call keep,$(BUILD)/src/questions.h)
	$(Q)tools/quiz places < $< > $(BUILD)/src/places.h.new
	$(call keep,$(BUILD)/src/places.h)
	@touch $@

$(FILES:%=$(BUILD)/src/%) $(MADE:%=$(BUILD)/src/%): $(BUILD)/src.stamp
	@:

tangle: published  ## write the readable C to tangled/

$(BUILD)/named.markup: $(BUILD)/book.markup tools/name-chunks
	$(Q)tools/name-chunks < $< > $@.new
	@mv $@.new $@

$(BUILD)/tangled.stamp: $(BUILD)/named.markup $(BUILD)/src.stamp tools/tangle
	$(call say,tangle,$(TANGLED))
	$(Q)MADE="$(MADE)" tools/tangle $< $(BUILD)/tangled -t8 $(FILES)
	@cp -p $(MADE:%=$(BUILD)/src/%) $(BUILD)/tangled/
	@touch $@

# The numbers in questions and cards are the program's, so it writes these files.
QUIZ = $(if $(filter quiz.c,$(FILES)),$(addprefix $(BUILD)/tangled/,quiz.json cards.txt $(PLAIN)))
$(BUILD)/tangled/quiz.json: $(BUILD)/multihead | $(BUILD)/tangled.stamp
	$(call say,run,multihead quiz --json)
	$(Q)$< quiz --json > $@.new
	@mv $@.new $@
$(BUILD)/tangled/cards.txt: $(BUILD)/multihead | $(BUILD)/tangled.stamp
	$(call say,run,multihead quiz --cards)
	$(Q)$< quiz --cards > $@.new
	@mv $@.new $@
$(BUILD)/tangled/%.schema.json: $(BUILD)/book.markup | $(BUILD)/tangled.stamp
	$(Q)$(NOWEB)/nt '-R[[$(@F)]]' < $< > $@.new
	@mv $@.new $@

# tangled/ is looked at every time, for somebody may have edited it by mistake.
# A source tree that cannot be written to is compared instead.
.PHONY: published
published: $(BUILD)/tangled.stamp $(QUIZ)
	@tools/publish $(BUILD)/tangled $(TANGLED)

# ---- compile ----------------------------------------------------------------

# A header whose #line alone has changed is left as it is, so an edit compiles
# little again. Should the compiler complain, it is asked once more with exact
# headers, for what it says must name the right line of the chapter.
CC_OBJECT = $(CC) $(CFLAGS) $(EXTRA) -MMD -MP -MT $@ -MF $(@:.o=.d) -I$(BUILD)/src -c $< -o $@.new && mv $@.new $@
define compile
	@mkdir -p $(@D)
	$(Q){ $(CC_OBJECT); } 2> $@.err && cat $@.err >&2 || { \
		EXACT=1 tools/tangle $(BUILD)/book.markup $(BUILD)/src -L $(filter %.h,$(FILES)); \
		$(CC_OBJECT); exit 1; }
endef

$(BUILD)/double/%.o: $(BUILD)/src/%.c $(BUILD)/flags
	$(compile)

$(BUILD)/single/%.o: $(BUILD)/src/%.c $(BUILD)/flags
	$(compile)

# A kernel may round once where it multiplies and adds: its promise is agreement
# within rounding, the same for any number of threads.
CONTRACT   = -ffp-contract=fast
KERNEL_OBJ = kernel.o $(KERNELS:=.o)
$(foreach precision,double single shared/double shared/single,$(KERNEL_OBJ:%=$(BUILD)/$(precision)/%)): EXTRA += $(CONTRACT)

# Tests are compiled plainly: it is their subjects whose optimised code counts.
$(BUILD)/single/%.o $(BUILD)/shared/single/%.o: EXTRA += -DMH_SINGLE
$(BUILD)/double/tests/%.o $(BUILD)/single/tests/%.o: EXTRA += -O0

$(BUILD)/multihead: $(addprefix $(BUILD)/double/,$(LIB_OBJ) main.o) $(BUILD)/flags
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@.new $(LDLIBS) && mv $@.new $@

$(BUILD)/suite-double: $(addprefix $(BUILD)/double/,$(SUITE_OBJ)) $(BUILD)/flags
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@.new $(CHECK_LIBS) $(LDLIBS) && mv $@.new $@

$(BUILD)/suite-single: $(addprefix $(BUILD)/single/,$(SUITE_OBJ)) $(BUILD)/flags
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@.new $(CHECK_LIBS) $(LDLIBS) && mv $@.new $@

-include $(wildcard $(BUILD)/double/*.d $(BUILD)/double/tests/*.d \
                    $(BUILD)/single/*.d $(BUILD)/single/tests/*.d)

# ---- install ----------------------------------------------------------------

# The library in both precisions, as objects that can be shared. The headers of
# the modules are between them; a program gets two that are made from those.
PREFIX   ?= /usr/local
# The program knows its version, and chapter 80 tells the program.
VERSION  := $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' $(CHAPTERS))
OFFERED  := error tensor workspace attention layer gradient online streaming weights
SHARED   := $(foreach precision,double single,$(patsubst %,$(BUILD)/shared/$(precision)/%.o,$(LIBRARY) kernel_avx2 kernel_avx512))
SONAME   := libmultihead.so.$(firstword $(subst ., ,$(VERSION)))
$(SHARED): EXTRA += -fPIC
$(BUILD)/shared/double/%.o: $(BUILD)/src/%.c $(BUILD)/flags
	$(compile)
$(BUILD)/shared/single/%.o: $(BUILD)/src/%.c $(BUILD)/flags
	$(compile)

-include $(wildcard $(BUILD)/shared/*/*.d)

$(BUILD)/shared/libmultihead.a: $(SHARED)
	$(call say,archive,$@)
	@rm -f $@.new
	$(Q)$(AR) rcs $@.new $^ && mv $@.new $@

$(BUILD)/shared/$(SONAME): $(SHARED)
	$(call say,link,$@)
	@echo '{ global: mh_*; mhf_*; local: *; };' > $(@D)/exported
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete,-soname,$(SONAME),--version-script=$(@D)/exported $^ -o $@.new $(LDLIBS) && mv $@.new $@

$(BUILD)/shared/multihead.h: PRECISION = double
$(BUILD)/shared/multiheadf.h: PRECISION = float
$(BUILD)/shared/multihead.h $(BUILD)/shared/multiheadf.h: tools/public-header tools/prototypes.py $(BUILD)/tangled.stamp
	@mkdir -p $(@D)
	$(Q)tools/public-header $(PRECISION) $(VERSION) $(OFFERED:%=$(BUILD)/tangled/%.h) > $@.new
	@mv $@.new $@

# It may be asked from any folder, so it holds no relative name.
$(BUILD)/shared/multihead.pc: FORCE
	@mkdir -p $(@D)
	@case '$(PREFIX)' in /*) prefix='$(PREFIX)' ;; *) prefix=$$(pwd)/'$(PREFIX)' ;; esac; \
	printf '%s\n' "prefix=$$prefix" 'Name: multihead' 'Version: $(VERSION)' \
		'Description: multi-head attention, forward and backward' \
		'Cflags: -I"$${prefix}/include"' 'Libs: -L"$${prefix}/lib" -lmultihead' \
		'Libs.private: $(LDLIBS) $(OPENMP)' > $@.new
	@mv $@.new $@

GOODS = bin/multihead include/multihead.h include/multiheadf.h lib/libmultihead.a \
        lib/$(SONAME) lib/libmultihead.so lib/pkgconfig/multihead.pc
.PHONY: install uninstall
install: $(BUILD)/multihead $(addprefix $(BUILD)/shared/,libmultihead.a $(SONAME) multihead.h multiheadf.h multihead.pc)  ## install library, headers and program below PREFIX=/usr/local
	$(Q)install -d $(addprefix "$(DESTDIR)$(PREFIX)"/,bin include lib/pkgconfig)
	$(Q)install $(BUILD)/multihead "$(DESTDIR)$(PREFIX)/bin/"
	$(Q)install -m 644 $(BUILD)/shared/multihead.h $(BUILD)/shared/multiheadf.h "$(DESTDIR)$(PREFIX)/include/"
	$(Q)install -m 644 $(BUILD)/shared/libmultihead.a $(BUILD)/shared/$(SONAME) "$(DESTDIR)$(PREFIX)/lib/"
	$(Q)ln -sf $(SONAME) "$(DESTDIR)$(PREFIX)/lib/libmultihead.so"
	$(Q)install -m 644 $(BUILD)/shared/multihead.pc "$(DESTDIR)$(PREFIX)/lib/pkgconfig/"

uninstall:          ## take away what install has put there
	rm -f $(addprefix "$(DESTDIR)$(PREFIX)"/,$(GOODS))

# ---- run --------------------------------------------------------------------

# Tests with the tag `long` are for make certify, which sets this to nothing.
# The verdict comes first: a program that fails its suite may not be able to
# write the questions.
CK_EXCLUDE_TAGS ?= long
export CK_EXCLUDE_TAGS
SUITE_PROGRAMS = $(BUILD)/suite-double $(BUILD)/suite-single
check: $(SUITE_PROGRAMS) $(BUILD)/multihead $(BUILD)/tangled.stamp  ## run the suite and compare with golden output; CHAPTER=10 runs one chapter's
	@$(BUILD)/suite-single $(CHAPTER) > $(BUILD)/suite-single.txt 2>&1 & \
		echo "double:"; $(BUILD)/suite-double $(CHAPTER); double=$$?; \
		wait $$!; single=$$?; echo "float:"; cat $(BUILD)/suite-single.txt; \
		$(MAKE) published && test $$double = 0 -a $$single = 0
	$(if $(CHAPTER)$(SNAPSHOT),,@tools/golden check $(BUILD)/multihead tests/golden)

golden: $(BUILD)/multihead  ## make the golden copies anew, after a change that was meant
	@tools/golden write $(BUILD)/multihead tests/golden && git --no-pager diff --stat tests/golden

lab: $(BUILD)/lab-output.txt  ## run the lab and show what it prints
	@cat $<

# Status 1 means that the lab ran and an assertion failed: the text is kept,
# for the claims on the page will say so better.
$(BUILD)/lab-output.txt: $(BUILD)/multihead
	$(call say,run,multihead lab)
	$(Q)$< lab > $@.new || test $$? = 1
	@mv $@.new $@

$(RECORD): $(BUILD)/multihead
	$(call say,run,multihead record)
	@mkdir -p $(@D)
	$(Q)$< record --output $@

$(SWEEP): $(BUILD)/multihead $(BUILD)/timings tools/timings $(if $(filter kept,$(TIMINGS)),$(TIMED))
	$(call say,run,multihead sweep)
	@mkdir -p $(@D)
	$(Q)$< sweep --output $@.measured
ifeq ($(TIMINGS),kept)
	$(Q)tools/timings use $(TIMED) $@.measured > $@.new
	@mv $@.new $@
else
	@mv $@.measured $@
endif

timings: $(BUILD)/multihead published  ## measure the sweep and keep it, for builds that are to be the same to the byte (TIMINGS=kept)
	$(Q)$< sweep --output $(BUILD)/timings.tsv
	$(Q)tools/timings keep $(BUILD)/timings.tsv $(TIMED)

keys: $(BUILD)/multihead  ## list the keys of all measured values
	@$< keys

# ---- draw -------------------------------------------------------------------

# The font of style.gp gives gnuplot its measures; TeX sets the text, and has a
# font already. Fontconfig, when it finds no place for its cache, complains.
$(BUILD)/figures/%.tex: figures/%.gp figures/style.gp $(RECORDS)
	$(call say,draw,$*)
	@mkdir -p $(@D)
	$(Q)XDG_CACHE_HOME=$$(cd $(@D) && pwd) gnuplot -e "record='$(RECORDS)'; output='$(BUILD)/figures/$*.new.tex'" figures/style.gp $< 2> $@.log; \
		test $$? = 0 -a ! -s $@.log || { sed 's,^,$<: ,' $@.log >&2; exit 1; }
	@sed '/\\fontfamily{/d; s/$*\.new/$*/' $(BUILD)/figures/$*.new.tex > $@.tmp
	@mv $(BUILD)/figures/$*.new.pdf $(BUILD)/figures/$*.pdf
	@rm $(BUILD)/figures/$*.new.tex
	@mv $@.tmp $@

figures: $(FIGURES:%=$(BUILD)/figures/%.tex)  ## draw the figures from the record

# ---- weave ------------------------------------------------------------------

# Each stage writes a file of its own, for in a pipe only the last may fail.
$(BUILD)/weave.stamp: $(BUILD)/book.markup tools/uses-in-code tools/mark-variants tools/kinds tools/noweb.py \
                      tools/prettify tools/split tools/quiz tools/texts.py
	$(call say,weave,$(BUILD)/tex)
	@mkdir -p $(BUILD)/tex
	$(Q)tools/quiz weave < $< > $(BUILD)/weave.0
	$(Q)$(NOWEB)/finduses < $(BUILD)/weave.0 > $(BUILD)/weave.1
	$(Q)tools/uses-in-code < $(BUILD)/weave.1 > $(BUILD)/weave.2
	$(Q)$(NOWEB)/noidx -delay < $(BUILD)/weave.2 > $(BUILD)/weave.3
	$(Q)tools/kinds < $(BUILD)/weave.3 > $(BUILD)/tex/kinds.lua
	$(Q)tools/mark-variants < $(BUILD)/weave.3 > $(BUILD)/weave.4
	$(Q)$(NOWEB)/totex -delay < $(BUILD)/weave.4 > $(BUILD)/weave.5
	$(Q)tools/prettify < $(BUILD)/weave.5 > $(BUILD)/weave.6
	$(Q)tools/split $(BUILD)/tex < $(BUILD)/weave.6
	@touch $@

# What the variants say, so that a record can tell whether that has changed.
$(BUILD)/variants.txt: $(BUILD)/book.markup tools/variant
	$(Q)tools/variant --text < $< > $@.new
	@mv $@.new $@

# Measured values and claims become TeX; a false claim stops here. The record of
# a long run was kept, and the page says how old it is and whether the code has
# changed since.
BIND = code=$$(tools/code-hash $(BUILD)/tangled) && \
       suite=$$(tools/code-hash --suite $(BUILD)/tangled $(BUILD)/variants.txt) && \
       tools/numbers --claims $(CLAIMS) --lab $(BUILD)/lab-output.txt --into $(BUILD)/tex \
       --code "$$code" --suite "$$suite" $(RECORDS) -- book.nw $(CHAPTERS)
$(BUILD)/numbers.stamp: $(RECORDS) $(BUILD)/lab-output.txt book.nw $(CHAPTERS) $(BUILD)/sources tools/numbers tools/noweb.py tools/texts.py tools/record.py \
                        $(BUILD)/claims $(BUILD)/kept tools/code-hash $(BUILD)/tangled.stamp $(BUILD)/variants.txt
	$(call say,bind,numbers to the record)
	@mkdir -p $(BUILD)/tex
	$(Q)$(BIND)
	@touch $@

$(BUILD)/prose.stamp: book.nw $(CHAPTERS) $(BUILD)/sources tools/check-prose tools/noweb.py
	@mkdir -p $(@D)
	$(Q)tools/check-prose book.nw $(CHAPTERS)
	@touch $@

# What chapter 72 shows of a session, whose reader forgot the order of two steps.
$(BUILD)/tex/lab-predict.txt: $(BUILD)/multihead
	$(call say,run,multihead predict)
	@mkdir -p $(@D)
	$(Q)printf '2/7 4/7 0\n' | $< predict --topic weights --seed 3 --rounds 1 > $@.new
	@mv $@.new $@

# The ages of records are counted to the day of this PDF, so they are bound again.
$(PDF): $(BUILD)/prose.stamp $(BUILD)/numbers.stamp $(BUILD)/weave.stamp $(BUILD)/tex/lab-predict.txt \
        $(FIGURES:%=$(BUILD)/figures/%.tex) tex/book.sty tools/typeset tools/colophon | published
	$(call say,typeset,$@)
	$(Q)tools/colophon "$(CC)" $(BUILD)/multihead > $(BUILD)/tex/colophon.tex
	$(if $(KEPT),$(Q)$(BIND) 2> /dev/null)
	$(Q)cp tex/book.sty $(BUILD)/tex/
	$(Q)tools/typeset $(BUILD)
	$(Q)cp $(BUILD)/tex/book.pdf $@.new
	@mv $@.new $@

# Two facing pages for README.md: those on which the fixture is calculated.
spread: $(PDF)      ## make tex/spread-left.png and tex/spread-right.png anew
	$(Q)page=$$(sed -n 's/.*newlabel{sec:byhand}{{[^}]*}{\([0-9]*\)}.*/\1/p' $(BUILD)/tex/book.aux); \
	left=$$((page - page % 2)); \
	pdftoppm -r 80 -png -singlefile -f $$left $(PDF) tex/spread-left && \
	pdftoppm -r 80 -png -singlefile -f $$((left + 1)) $(PDF) tex/spread-right

# The same TeX as pages for a browser; numbers of sections come from the PDF's run.
html: $(BUILD)/html.stamp  ## the book as pages for a browser, in build/html
$(BUILD)/html.stamp: $(PDF) tools/html tools/woven.py tex/book.css
	$(call say,html,$(BUILD)/html)
	$(Q)tools/html $(BUILD)
	@touch $@

# ---- trust ------------------------------------------------------------------

# The book up to each chapter, and the appendices, which are always there.
# (The answers, and what was tried, are of chapters that a snapshot may not have.)
APPENDICES = $(filter-out chapters/86% chapters/87% chapters/88%,$(filter chapters/8% chapters/9%,$(CHAPTERS)))
PARTS      = $(filter-out chapters/8% chapters/9%,$(CHAPTERS))

snapshots: $(PARTS:chapters/%.nw=snapshot-%)  ## the book up to each chapter compiles and passes its suites

snapshot-%:
	@$(MAKE) SNAPSHOT=$* BUILD=$(BUILD)/snapshots/$* TANGLED=$(BUILD)/snapshots/$*/published \
		CHAPTERS="$(shell tools/chapters-up-to $*) $(APPENDICES)" check > $(BUILD)/snapshot-$*.log 2>&1 \
		&& echo "up to $*: $$(grep -c '^100%' $(BUILD)/snapshot-$*.log) precisions, $$(grep -m1 '^100%' $(BUILD)/snapshot-$*.log)" \
		|| { cat $(BUILD)/snapshot-$*.log; exit 1; }

# A long run, whose record is kept. It wants a python3 that has PyTorch.
PYTHON ?= python3
parity: $(BUILD)/multihead published  ## compare 300 layers with live PyTorch (PYTHON=python3), keep records/parity.tsv
	@BUILD=$(BUILD) $(PYTHON) -B tests/parity

# Two minutes; LONG=1 adds a pass over 65,536 tokens. PyTorch, if there is one,
# takes its turns with the program.
bench: $(BUILD)/multihead published  ## time the program on this machine, beside PyTorch (PYTHON=python3) if it is there, keep records/bench.tsv
	@BUILD=$(BUILD) $(PYTHON) -B tests/bench $(if $(LONG),--long)

# A variant is tried aside: only what it changes is compiled again.
# VARIANT_SECONDS and VARIANT_MEGABYTES bound what runs. With KEEP= nothing is kept.
KEEP  ?= records/variants.tsv
ASIDE = BUILD='$(BUILD)' NOWEB='$(NOWEB)' CC='$(CC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
        LDLIBS='$(LDLIBS)' CHECK_LIBS='$(CHECK_LIBS)' FILES='$(FILES)' MADE='$(MADE)' OBJECTS='$(SUITE_OBJ) main.o' \
        JOBS='$(patsubst -j%,%,$(firstword $(filter -j%,$(MAKEFLAGS))))' ONLY='$(ONLY)' KEEP='$(KEEP)'
NORMAL = $(BUILD)/suite-double $(BUILD)/multihead $(BUILD)/tangled.stamp $(BUILD)/variants.txt

variants: $(NORMAL)  ## try every wrong and every right variant, keep records/variants.tsv; ONLY="a b" tries two
	@exec env $(ASIDE) tools/variants

try: $(NORMAL)      ## what one edit changes: EDIT=name of the book's, or FILE=my.nw with chunks of your own
	@exec env $(ASIDE) tools/try $(if $(FILE),--file '$(FILE)','$(EDIT)') book.nw $(CHAPTERS)

mutate: $(NORMAL) $(BUILD)/suite-single   ## small faults in the library, and how many the suite notices: 400, or ALL=1; keep records/mutants.tsv
	@exec env $(ASIDE) tools/mutate $(if $(ALL),--all)

exercises: $(NORMAL)  ## what the answers promise is what happens
	@exec env $(ASIDE) tools/exercises book.nw $(CHAPTERS)

sanitize: published  ## suite and program under AddressSanitizer, UndefinedBehaviorSanitizer, LeakSanitizer, ThreadSanitizer and valgrind; KIND=thread is one
	@BUILD='$(BUILD)' tools/sanitize $(KIND)

coverage: published  ## which lines and branches of the library the suites reach, chapter by chapter; keep records/coverage.tsv
	@BUILD='$(BUILD)' LIBRARY='$(LIBRARY) $(KERNELS)' python3 -B tools/coverage

SECONDS ?= 60
fuzz: $(BUILD)/multihead published  ## inputs that a machine makes up, for the reader of files, the command line and the layers: SECONDS=60 for each, TARGET=layers is one; KEEP=records/fuzz.tsv keeps a record
	@exec env BUILD='$(BUILD)' SECONDS='$(SECONDS)' OBJECTS='$(LIB_OBJ)' python3 -B tools/fuzz $(TARGET)

# A check leaves a stamp, so that what has not changed is not looked at again.
# Of the C code each line is looked at once: the float build and the kernels for
# other processors are made of the same lines.
LINT     = $(BUILD)/lint
FOLDERS  = $(patsubst %/.,%,$(wildcard tests/*/*/. tools/*/.))
SCRIPTS  = bootstrap .ci/run tests/certify $(filter-out $(FOLDERS),$(sort $(wildcard tests/*/* tools/*)))
ANALYSED = $(filter-out single% kernel_%,$(filter $(NAMES),$(SOURCES)))
LINTED   = $(LINT)/traps $(LINT)/scripts \
           $(foreach kind,spelling tex,$(addprefix $(LINT)/$(kind)/,book.nw $(CHAPTERS))) \
           $(foreach kind,analyzer tidy cppcheck,$(addprefix $(LINT)/$(kind)/,$(ANALYSED)))
READERS  = tools/lint tools/complaints tests/unfounded
define look
	@mkdir -p $(@D)
	$(Q)$(1)
	@touch $@
endef
# As in compiling, a complaint is made again with exact headers.
define look_at_c
	$(call look,$(1) 2> $@.said || { \
		EXACT=1 tools/tangle $(BUILD)/book.markup $(BUILD)/src -L $(filter %.h,$(FILES)); $(1); exit 1; })
endef
.PHONY: linted
linted: $(LINTED)
# All complaints at once, rather than the first.
lint:               ## spelling, TeX, shell scripts, traps in the sources, and three readers of the C code
	@$(MAKE) --keep-going linted

$(LINT)/traps: book.nw $(CHAPTERS) $(BUILD)/sources tools/check-traps tools/lint
	$(call look,tools/lint traps book.nw $(CHAPTERS))
$(LINT)/scripts: $(SCRIPTS)
	$(call say,look at,scripts)
	$(call look,tools/lint scripts $(SCRIPTS))
$(LINT)/spelling/%: % tests/words tools/prose-words tools/noweb.py tools/texts.py tools/lint
	$(call look,tools/lint spelling $<)
$(LINT)/tex/%: % tools/check-tex tools/noweb.py tools/texts.py tools/lint
	$(call look,tools/lint tex $<)
$(LINT)/analyzer/%: $(BUILD)/src/% $(READERS)
	$(call say,look at,$*)
	$(call look_at_c,INCLUDE=$(BUILD)/src DEPENDENCIES=$@.d TARGETS='$(foreach kind,analyzer tidy cppcheck,$(LINT)/$(kind)/$*)' tools/lint analyzer $<)
$(LINT)/tidy/%: $(BUILD)/src/% $(READERS)
	$(call look_at_c,INCLUDE=$(BUILD)/src tools/lint tidy $<)
$(LINT)/cppcheck/%: $(BUILD)/src/% $(READERS)
	$(call look_at_c,INCLUDE=$(BUILD)/src tools/lint cppcheck $<)

-include $(wildcard $(LINT)/analyzer/*.d)

certify: all        ## all that must hold before anyone trusts the book
	@tests/certify

clean:              ## remove what make made, but for tangled/
	rm -rf '$(BUILD)' '$(PDF)'

help:               ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14
