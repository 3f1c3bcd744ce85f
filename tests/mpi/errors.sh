#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# errors.sh - after an MPI error a collected program ends or goes on as without the
# collector: same status, same output, same message of MPI, at each thread level and for
# each handler. ES_ERRORS=all tries the whole table (check_errors.py).

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

[ -z "$ES_SANITIZERS" ] || skip 'a sanitized collector cannot be preloaded into the programs'

check 'each error: status, output and messages are as without the collector' \
    "${PYTHON:-python3}" "$here/check_errors.py" "$bin/errors" "$library" "$work"
finish
