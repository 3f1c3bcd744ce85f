#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""helpers.py - checks that nothing is certain about right programs at
MPI_THREAD_MULTIPLE whose sleeping helper threads have not called MPI yet, and that
`run --watch=abort` lets them finish: OpenMP, std::async, a pool of Python threads.
"""

import os
import subprocess
import sys

import harness
from harness import Run

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
FOLDER = os.environ["VERDICT_FOLDER"]
LOOKS = 2


def build(name, source, compiler, *flags):
    """Returns the built program; None, after a message, if the compiler cannot."""
    program = os.path.join(FOLDER, name)
    command = [os.environ["MPICC"], *flags, "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX",
               "-pthread", "-o", program, os.path.join(SOURCES, source)]
    if compiler == "c++":
        command.append("-lstdc++")
    built = subprocess.run(command, capture_output=True, text=True, check=False,
                           env=dict(os.environ, MPICH_CC=compiler, OMPI_CC=compiler))
    if built.returncode == 0:
        return program
    print("skipped: %s: %s" % (name, built.stderr.strip().splitlines()[-1:]))
    return None


def list_programs():
    cc = os.environ.get("CC", "cc")
    rows = [("openmp", build("openmp", "openmp.c", cc, "-fopenmp")),
            ("async", build("async", "async.cc", "c++")),
            ("pool", build("pool.so", "pool_calls.c", cc, "-shared", "-fPIC"))]
    for name, program in rows:
        if program and name == "pool":
            yield name, [sys.executable, os.path.join(SOURCES, "pool.py"), program]
        elif program:
            yield name, [program]


def judge(row):
    name, command = row
    # The yielding library of functions.sh needs an MPI that is linked.
    launcher = ["--launcher", os.environ["MPIEXEC"]] if name == "pool" else []
    run = Run(name, 2, command, ["--watch=abort", *launcher])
    try:
        run.await_reached()
        run.look_at_right(LOOKS)
        return "nothing certain in %d looks" % run.looks
    finally:
        run.stop()


if __name__ == "__main__":
    sys.exit(min(harness.run_all(judge, list(list_programs()), lambda row: row[0]), 1))
