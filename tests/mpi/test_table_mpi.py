# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""The table of MPI routines against the installed MPI: its mpi.h and its library."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOP = os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("top_builddir", TOP)
sys.path.insert(0, os.path.join(TOP, "wrappers", "mpi"))

from mpi_prototypes import read_prototypes  # noqa: E402
from operation_table import all_operations, read_table  # noqa: E402

TABLE = os.path.join(TOP, "wrappers", "mpi", "operations.tab")
PRELOAD = os.path.join(BUILD, "wrappers", "mpi", ".libs", "libeventspace-mpi.so")
COMPILER = shlex.split(os.environ.get("CC", "cc"))
MPICC = os.environ.get("MPICC", "")
MPIFC = os.environ.get("MPIFC", "")
NM = shlex.split(os.environ.get("NM", "nm"))


def run(command, **options):
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **options
    ).stdout


def preprocessed_mpi_h():
    flags = shlex.split(os.environ.get("MPI_CPPFLAGS", ""))
    return run(COMPILER + flags + ["-E", "-x", "c", "-"], input="#include <mpi.h>\n")


def symbols(library, which, kinds):
    lines = run(NM + ["-D", which, library]).splitlines()
    words = (line.split() for line in lines)
    return {word[-1].split("@")[0] for word in words if word[-2] in kinds}


def functions(library):
    """Functions defined by a shared object."""
    return symbols(library, "--defined-only", "TW")


def libraries(compiler, language, source):
    """Shared objects loaded by a program that was built by an MPI compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        text = os.path.join(folder, "text." + language)
        with open(text, "w") as output:
            output.write(source)
        run(shlex.split(compiler) + [text, "-o", program])
        return re.findall(r"=> (/\S+)", run(["ldd", program]))


def library_with(name, found):
    """The first of these shared objects that defines a function; None if none does."""
    return next((path for path in found if name in functions(path)), None)


C_PROGRAM = "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n"
FORTRAN_PROGRAM = "program p\nuse mpi_f08\ncall MPI_Init()\nend program\n"
# Internal functions of MPICH that Fortran bindings call: only attributes and callbacks.
INNER = re.compile(
    r"MPII_((Comm|Type|Win)_[gs]et_attr|Keyval_set_proxy|\w+_set_lang_f77)"
)


class InstalledMpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = {row.name: row for row in all_operations(read_table(TABLE))}
        with tempfile.NamedTemporaryFile("w") as output:
            output.write(preprocessed_mpi_h())
            output.flush()
            cls.prototypes = read_prototypes(output.name)
        cls.library = library_with("MPI_Init", libraries(MPICC, "c", C_PROGRAM))

    def test_the_header_was_understood(self):
        self.assertGreater(len(self.prototypes), 300)
        self.assertEqual(len(self.prototypes["MPI_Send"].parameters), 6)

    def test_every_routine_of_the_header_has_a_row(self):
        self.assertEqual(sorted(set(self.prototypes) - set(self.rows)), [])

    def test_rows_have_as_many_arguments_as_the_prototypes(self):
        differing = [
            row.name
            for row in self.rows.values()
            if row.arguments is not None
            and row.name in self.prototypes
            and len(row.arguments) != len(self.prototypes[row.name].parameters)
        ]
        self.assertEqual(differing, [])

    def test_every_routine_of_the_library_has_a_row(self):
        if self.library is None:
            self.skipTest("this MPI has no shared library")
        routines = {name for name in functions(self.library) if name.startswith("MPI_")}
        self.assertGreater(len(routines), 300)
        self.assertEqual(sorted(routines - set(self.rows)), [])

    def test_what_is_collected_is_interposed_under_both_names(self):
        if self.library is None:
            self.skipTest("this MPI has no shared library")
        exported = functions(self.library)
        expected = {
            prefix + row.name
            for row in self.rows.values()
            for prefix in ("", "P")
            if row.code and prefix + row.name in exported
        }
        self.assertGreater(len(expected), 300)
        self.assertEqual(sorted(expected - functions(PRELOAD)), [])

    def test_nothing_else_is_interposed(self):
        expected = {
            prefix + row.name
            for row in self.rows.values()
            for prefix in ("", "P")
            if row.is_wrapped and row.name in self.prototypes
        }
        mpi = {name for name in functions(PRELOAD) if re.match("P?MPI", name)}
        self.assertEqual(sorted(mpi - expected), [])

    def test_both_families_are_complete_in_the_preload_library(self):
        mpi = functions(PRELOAD)
        plain = {name for name in mpi if name.startswith("MPI")}
        profiling = {name[1:] for name in mpi if name.startswith("PMPI")}
        self.assertEqual(plain, profiling)

    def test_fortran_reaches_the_library_only_through_routines_of_the_table(self):
        if not MPIFC:
            self.skipTest("this MPI has no Fortran")
        fortran = library_with("mpi_init_", libraries(MPIFC, "f90", FORTRAN_PROGRAM))
        if self.library is None or fortran is None or fortran == self.library:
            self.skipTest("this MPI has no shared library of its own for Fortran")
        used = symbols(fortran, "--undefined-only", "Uw") & functions(self.library)
        self.assertGreater(len(used), 300)
        strange = {
            name
            for name in used
            if re.sub("^P", "", name) not in self.rows and not INNER.fullmatch(name)
        }
        self.assertEqual(sorted(strange), [])


if __name__ == "__main__":
    if not MPICC:
        print("skipped: built without MPI")
        sys.exit(77)
    unittest.main()
