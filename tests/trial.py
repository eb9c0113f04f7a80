"""What the tests of the build share: verdicts in the form of the Test Anything
Protocol, and copies of the sources in which mistakes can be made."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, os.environ.get("BUILD") or "build")
PDF = os.path.join(ROOT, os.environ.get("PDF") or "book.pdf")
GOLDEN = os.path.join(ROOT, "tests/golden/lab-output.txt")
NOT_SOURCES = {".git", "build", "book.pdf", BUILD, PDF}
# What the make above may have set must not reach the makes in the copies.
FOREIGN = re.compile("MAKE.*|MFLAGS|BUILD|PDF|TANGLED|CHAPTERS?|CLAIMS|SNAPSHOT"
                     "|TIMINGS|PREFIX|DESTDIR|CONTRACT"
                     "|NOWEB|CC|CFLAGS|LDFLAGS|LDLIBS|V|CK_.*"
                     "|EDIT|FILE|ONLY|KEEP|JOBS|VARIANT_.*"
                     "|SECONDS|TARGET|REPLACE|MERGE|PROCESSES")
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not FOREIGN.fullmatch(name)}

verdicts = []


def check(holds, what, reason=""):
    """Print whether something holds, and if not, the reason why not."""
    verdicts.append(bool(holds))
    print(f"{'ok' if holds else 'not ok'} {len(verdicts)} - {what}")
    if not holds:
        for line in str(reason).splitlines()[:40]:
            print(f"# {line}")
    sys.stdout.flush()
    return holds


def skip(what, why):
    """Say that something was not tried."""
    verdicts.append(True)
    print(f"ok {len(verdicts)} - {what} # SKIP {why}", flush=True)


def finish():
    """Print the plan, which a test that broke off never does, and leave."""
    print(f"1..{len(verdicts)}")
    sys.exit(0 if verdicts and all(verdicts) else 1)


def run(command, **options):
    """Run a command without a terminal; its status and all that it printed."""
    options.setdefault("env", ENVIRONMENT)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", check=False, **options)
    return done.returncode, done.stdout


def temporary():
    """A folder that is gone when its `with` ends."""
    return tempfile.TemporaryDirectory(prefix="trial.")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def printed():
    """{key: the pages of the book on which the value is printed}."""
    found = {}
    for key, page in re.findall(r"\\book@printed\s*\{([^{}]*)\}\{(\d+)\}", read(
            os.path.join(BUILD, "tex/book.aux"))):
        found.setdefault(key, set()).add(int(page))
    return found


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def snapshot(*folders):
    """The time stamp and content of every file in the folders."""
    found = {}
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                file = os.path.join(path, name)
                with open(file, "rb") as content:
                    found[os.path.relpath(file, os.path.dirname(folder))] = (
                        os.stat(file).st_mtime_ns, content.read())
    return found


def differences(old, new, part):
    """Names of files whose stamp (part 0) or content (part 1) differs."""
    return [name for name in sorted(set(old) | set(new))
            if name not in old or name not in new
            or old[name][part] != new[name][part]]


def results(sources, build):
    """What must not depend on how a book was built, or where: the C, the records
    but for their noise, what the lab prints, what the woven chapters say."""
    found = {name: content for name, (_, content) in snapshot(
        os.path.join(sources, "tangled"), os.path.join(build, "results"),
        os.path.join(build, "tex")).items()}
    for name in list(found):
        if name == "results/variants.tsv":      # a trial's, and no record
            del found[name]
        elif name.startswith("results/"):
            found[name] = [line for line in found[name].splitlines()
                           if b"\tnoise\t" not in line]
        elif name.startswith("tex/") and not re.match(r"tex/\d", name):
            del found[name]
    return {**found, "lab": read(os.path.join(build, "lab-output.txt"))}


def unlike(got, wanted):
    """Names of results that differ, or that only one of two has."""
    return [name for name in sorted(wanted | got)
            if got.get(name) != wanted.get(name)]


class Copy:
    """A copy of the sources, without anything that was built."""

    def __init__(self, path):
        self.path = path
        self.originals = {}
        shutil.copytree(ROOT, path, ignore=lambda folder, names: [
            name for name in names if folder == ROOT and
            not NOT_SOURCES.isdisjoint({name, os.path.join(ROOT, name)})])

    def file(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        return read(self.file(name))

    def exists(self, name):
        return os.path.exists(self.file(name))

    def line_of(self, name, text):
        """The number of the one line of a file where the text stands."""
        content = self.read(name)
        if content.count(text) != 1:
            sys.exit(f"{name}: wanted once, found {content.count(text)} times: "
                     f"{text!r}")
        return content[:content.index(text)].count("\n") + 1

    def edit(self, name, old, new):
        """Replace a text that stands in a file exactly once."""
        self.line_of(name, old)
        self.replace(name, self.read(name).replace(old, new))

    def replace(self, name, content):
        self.originals.setdefault(name, self.read(name))
        write(self.file(name), content)

    def restore(self):
        """Take back every edit."""
        for name, content in self.originals.items():
            write(self.file(name), content)
        self.originals = {}

    def make(self, *arguments, **variables):
        """Run make; its status and what it printed."""
        return run(["make", "-j2", *arguments], cwd=self.path,
                   env={**ENVIRONMENT, **variables})
