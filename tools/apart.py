"""What coverage and fuzz share: the book's code, built once more in a folder of
its own, with flags of its own."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command, status=(0,), **environment):
    """What a command says; what says anything else by its status ends it all.
    A variable that is None is taken away."""
    known = {name: value for name, value in {**os.environ, **environment}.items()
             if value is not None}
    done = subprocess.run(command, cwd=ROOT, env=known, check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    if done.returncode not in status:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(command[:4])} ends "
                 f"with status {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def make(there, *arguments):
    """Make something below another folder, as no part of the make above."""
    run("make", f"BUILD={there}", f"TANGLED={there}/tangled", *arguments,
        MAKEFLAGS=None, MAKELEVEL=None, MFLAGS=None)
