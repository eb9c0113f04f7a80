"""How the record of a long run is kept: when, where and with what it was made,
and lines of five fields, each with the place of the statement that wrote it."""

import datetime
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

def output_of(*command):
    """What a command prints, or nothing if it fails or does not exist."""
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = re.search(r"^model name\s*: (.*)$", info.read(), re.M)
    count = len(os.sched_getaffinity(0))
    return (f"{model[1].strip() if model else 'unknown processor'}, "
            f"{count} processor{'s' if count > 1 else ''}")


class Record:
    """What a program keeps; keys begin with the name of the record."""

    def __init__(self, name, program):
        self.name, self.program, self.lines = name, program, []

    def add(self, key, value, unit, kind):
        text = value if kind == "text" else f"{value:.17g}"
        line = sys._getframe(1).f_lineno
        self.lines.append(f"{self.name}.{key}\t{text}\t{unit}\t{kind}\t"
                          f"{self.program}:{line}\n")

    def add_origin(self, command, code):
        """When, where, and with what; code stands for that of the library."""
        commit = output_of("git", "rev-parse", "--short", "HEAD") or "unknown"
        # The record itself is what a run changes.
        if output_of("git", "status", "--porcelain", "--", ".", ":!records"):
            commit += ", with changes"
        today = datetime.datetime.now(datetime.timezone.utc).date()
        line = sys._getframe(1).f_lineno
        for key, text in (("date", today.isoformat()), ("commit", commit),
                          ("machine", machine()), ("command", command),
                          ("code", code)):
            self.lines.append(f"{self.name}.{key}\t{text}\t1\ttext\t"
                              f"{self.program}:{line}\n")

    def write(self, path):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.writelines(self.lines)
        os.replace(path + ".new", path)
