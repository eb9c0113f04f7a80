"""What variants, try and exercises share: building the program and the suite
with one variant in it, aside from the normal build, and running them.

The normal build must be up to date. Only what the variant changes is tangled
and compiled again. Nothing is written outside the folder that the caller names.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import noweb
import record

TOOLS = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD") or "build"
SECONDS = float(os.environ.get("VARIANT_SECONDS") or 60)    # of one run
MEGABYTES = int(os.environ.get("VARIANT_MEGABYTES") or 4096)
# "chapters/15-one-head.nw:226:F:distributions:test_name:0: Assertion ..."
FAILURE = re.compile(r"(.+:\d+):[FE]:[^:]*:([^:]*):\d+: (.*)")
COUNT = re.compile(r"^\d+%: Checks: (\d+), Failures: \d+, Errors: \d+$", re.M)


class Broken(Exception):
    """The variant does not compile; the text is what the compiler said."""


ERROR = re.compile(r"^([^\s:]+:\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.M)


def first_complaint(problem, variant):
    """In one line, why a variant is broken, and where."""
    found = ERROR.search(str(problem))
    place, why = found.groups() if found else (
        variant.place(), (str(problem).splitlines() or ["it failed"])[-1])
    return f"{place}: {variant.kind} {variant.name} does not compile: {why}"


def words(name):
    """A setting of the Makefile, as words."""
    return shlex.split(os.environ.get(name, ""))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def run(command):
    """Run a part of the build; stop at what it says if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", check=False)
    if done.returncode:
        raise Broken(done.stdout.strip())
    return done.stdout


# ---- the normal build -------------------------------------------------------

class Normal:
    """The normal build: its sources, and what each object depends on."""

    def __init__(self):
        self.src = os.path.join(BUILD, "src")
        with open(os.path.join(BUILD, "book.markup"), encoding="utf-8") as m:
            self.markup = m.readlines()
        self.files, self.objects = words("FILES"), words("OBJECTS")
        self.needs = {name: self.needs_of(name) for name in self.objects}

    def needs_of(self, name):
        """The files, below src, of which an object is made."""
        path = self.object(name)[:-len(".o")] + ".d"
        return set(re.findall(rf"{re.escape(self.src)}/(\S+\.[ch])\b",
                              read(path)))

    def object(self, name):
        return os.path.join(BUILD, "double", name)


def same(path, other):
    """Are two files the same, but for the places they come from?"""
    return all(os.path.exists(p) for p in (path, other)) and (
        [line for line in read(path).splitlines() if line[:5] != "#line"] ==
        [line for line in read(other).splitlines() if line[:5] != "#line"])


# ---- a build aside ----------------------------------------------------------

class Aside:
    """The program and the suite with a variant in it, in a folder that holds
    nothing else."""

    def __init__(self, normal, folder, markup, files):
        self.normal, self.folder = normal, folder
        self.said = ""                  # the compiler's warnings
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.path("src"))
        with open(self.path("book.markup"), "w", encoding="utf-8") as file:
            file.writelines(markup)
        self.tangle(files)
        changed = self.link_others()
        self.compile([name for name in normal.objects
                      if changed & normal.needs[name]])
        self.link()

    def path(self, name):
        return os.path.join(self.folder, name)

    def tangle(self, files):
        """Tangle the files that a variant changes."""
        run(["env", "EXACT=1", os.path.join(TOOLS, "tangle"),
             self.path("book.markup"), self.path("src"), "-L", *files])

    def link_others(self):
        """Point to the files that are as they were; return the changed."""
        src, changed = self.normal.src, set()
        for name in self.normal.files + words("MADE"):
            if not os.path.exists(self.path(f"src/{name}")):
                os.makedirs(os.path.dirname(self.path(f"src/{name}")),
                            exist_ok=True)
                os.symlink(os.path.abspath(f"{src}/{name}"),
                           self.path(f"src/{name}"))
            elif not same(f"{src}/{name}", self.path(f"src/{name}")):
                changed.add(name)
        os.remove(self.path("src/names.h"))     # made from the other headers
        headers = [name for name in self.normal.files
                   if re.fullmatch(r"[^/]*\.h", name)]
        names = subprocess.run([os.path.join(TOOLS, "names"), *headers],
                               cwd=self.path("src"), text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        with open(self.path("src/names.h"), "w", encoding="utf-8") as file:
            file.write(names)
        if not same(f"{src}/names.h", self.path("src/names.h")):
            changed.add("names.h")
        return changed

    def compile(self, objects):
        os.makedirs(self.path("double/tests"))
        for name in objects:
            source = self.path(f"src/{name[:-2]}.c")
            self.said += run(
                [*words("CC"), *words("CFLAGS"),
                 *(["-O0"] if name.startswith("tests/") else []),
                 "-I" + self.path("src"), "-c", source, "-o",
                 self.object(name)])

    def object(self, name):
        return self.path(f"double/{name}")

    def link(self):
        """Link the program, and the suite, which has a main of its own."""
        found = {name: self.object(name) if os.path.exists(self.object(name))
                 else self.normal.object(name) for name in self.normal.objects}
        program = [path for name, path in found.items()
                   if not name.startswith("tests/")]
        suite = [path for name, path in found.items() if name != "main.o"]
        link = [*words("CC"), *words("CFLAGS"), *words("LDFLAGS")]
        run([*link, *program, "-o", self.path("multihead"), *words("LDLIBS")])
        run([*link, *suite, "-o", self.path("suite"), *words("CHECK_LIBS"),
             *words("LDLIBS")])


# ---- running ----------------------------------------------------------------

running, stopping = set(), threading.Event()


def limited(command, seconds):
    """A command that may use no more than what a sane program needs: no core,
    so much memory, files of 64 megabytes, and, were this to be killed, too, no
    more seconds of a processor."""
    return ["sh", "-c", f"ulimit -c 0; ulimit -v {MEGABYTES << 10}; "
            f"ulimit -f {64 << 11}; ulimit -t {int(seconds) + 5}; exec \"$@\"",
            "sh", *command]


def stop(process):
    """Ask the suite first: it knows the processes of its tests."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(2)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def run_limited(command, said, seconds=SECONDS):
    """Run a program, with what it says in a file. Returns how it ended: its
    status, or "timeout", or "crash"."""
    # Settings of the suite are not for what is compared, but what is left out
    # of make check is left out here.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CK_") or name == "CK_EXCLUDE_TAGS"}
    # Where sums are cut among threads, their last digits depend on how many.
    environment["OPENBLAS_NUM_THREADS"] = "1"
    with open(said, "wb") as out:
        process = subprocess.Popen(
            limited(command, seconds), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True, env=environment)
    running.add(process)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        status = "timeout"
        stop(process)
    finally:
        running.discard(process)
    if stopping.is_set():
        raise SystemExit(1)
    return "crash" if isinstance(status, int) and status < 0 else status


def on_signal(*_):
    """Leave no program behind that may run for ever."""
    stopping.set()
    for process in list(running):
        stop(process)
    os._exit(1)


def catch_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)


class Outcome:
    """What a program did: its record, its lab, and its suite."""

    def __init__(self, folder, program, suite=None):
        self.folder, self.suite_end, self.failures, self.tests = (
            folder, None, [], 0)
        os.makedirs(folder, exist_ok=True)
        self.started = time.monotonic()
        self.read_lab(program)
        self.read_record(program)
        if suite:
            self.read_suite(suite)
        self.seconds = time.monotonic() - self.started

    def path(self, name):
        return os.path.join(self.folder, name)

    def read_lab(self, program):
        self.lab_end = run_limited([program, "lab"], self.path("lab.txt"),
                                   min(SECONDS, 20))
        self.lab = read(self.path("lab.txt")).splitlines()

    def read_record(self, program):
        table = self.path("record.tsv")
        if os.path.exists(table):
            os.remove(table)
        if self.lab_end == "timeout":   # this would not end, either
            self.record_end, self.record = "timeout", {}
            return
        self.record_end = run_limited([program, "record", "--output", table],
                                      self.path("record.txt"),
                                      min(SECONDS, 20))
        self.record = (record.read_records([table])
                       if os.path.exists(table) else {})

    def read_suite(self, suite):
        self.suite_end = run_limited([suite], self.path("suite.txt"))
        said = read(self.path("suite.txt"))
        self.failures = [m.groups() for m in map(FAILURE.match,
                                                 said.splitlines()) if m]
        count = COUNT.search(said)
        self.tests = int(count[1]) if count else 0
        # A suite that did not come to its end has not said what failed.
        if not count and self.suite_end != "timeout":
            self.suite_end = "crash"

    def failed(self):
        """The names of the failed tests, in order, and what else went wrong."""
        names = sorted({name for _, name, _ in self.failures})
        return names + ([self.suite_end] if isinstance(self.suite_end, str)
                        else [])


def with_variant(normal, book, variant, folder):
    """Build and run a variant; raises Broken."""
    markup = noweb.with_variant(normal.markup, variant, book.pieces)
    built = Aside(normal, folder, markup, sorted(book.files(variant)))
    outcome = Outcome(folder, built.path("multihead"), built.path("suite"))
    outcome.said = built.said
    return outcome


# ---- many at once -----------------------------------------------------------

def jobs():
    """As many as the Makefile says, or as there are processors."""
    return int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def baseline(folder):
    """What the program of the normal build says, run as variants are."""
    return Outcome(os.path.join(folder, "normal"),
                   os.path.join(BUILD, "multihead"))


def chosen(book, wanted, only):
    """The variants of some kinds; of these, only those that were named."""
    found = [v for v in book.all.values() if wanted(v)]
    for name in only:
        if name not in {v.name for v in found}:
            sys.exit(f"{os.path.basename(sys.argv[0])}: there is no variant "
                     f"{name} here")
    return [v for v in found if not only or v.name in only]


def try_all(normal, book, variants, folder):
    """Try the variants, a few at a time; for each its Outcome or Broken."""
    results = {}
    progress(f"0 of {len(variants)}")

    def one(variant):
        try:
            return with_variant(normal, book, variant,
                                os.path.join(folder, variant.name))
        except Broken as problem:
            return problem

    with ThreadPoolExecutor(jobs()) as pool:
        tasks = {pool.submit(one, variant): variant for variant in variants}
        for task in as_completed(tasks):
            results[tasks[task].name] = task.result()
            progress(f"{len(results)} of {len(variants)}: {tasks[task].name}")
    progress("")
    return {variant.name: results[variant.name] for variant in variants}
