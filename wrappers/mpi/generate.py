#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Makes C sources from operations.tab.

  generate.py codes TABLE              prints tuplespace/operation_codes.h
  generate.py table TABLE              prints tuplespace/operation_table.c
  generate.py list TABLE               prints "CODE NAME" lines
  generate.py next TABLE MPI           prints mpi_next.h
  generate.py wrap TABLE MPI CHAPTER   prints the wrappers of one chapter
  generate.py pass TABLE MPI           prints wrappers that only pass calls on

MPI is a preprocessed mpi.h.  Nothing is generated for routines that it lacks.
"""

import sys

from emit_mpi import emit_next, emit_pass_through, emit_wrappers
from emit_table import emit_codes, emit_list, emit_table
from mpi_prototypes import read_prototypes
from operation_table import TableError, read_table

WITHOUT_MPI = {"codes": emit_codes, "table": emit_table, "list": emit_list}
WITH_MPI = {"next": emit_next, "wrap": emit_wrappers, "pass": emit_pass_through}


def main(arguments):
    what, rest = (arguments + [""])[0], arguments[1:]
    if what in WITHOUT_MPI and len(rest) == 1:
        return WITHOUT_MPI[what](read_table(rest[0]))
    if what in WITH_MPI and len(rest) == (3 if what == "wrap" else 2):
        return WITH_MPI[what](read_table(rest[0]), read_prototypes(rest[1]), *rest[2:])
    sys.exit(__doc__.strip())


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]))
    except (TableError, OSError) as error:
        sys.exit("generate.py: %s" % error)
