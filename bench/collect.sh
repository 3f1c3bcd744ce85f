#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# collect.sh - the cost of collection: of operations that do nothing, then between two
# ranks.
#
#   bench/collect.sh [ROUNDS]       from the top of the build folder

set -eu
rounds=${1:-1000}
library=$PWD/wrappers/mpi/.libs
if ! [ -e "$library/libeventspace-mpi.so" ]; then
    echo "collect.sh: no $library/libeventspace-mpi.so: run it in the build folder, after make" >&2
    exit 2
fi
bench/collect_null "$library" "$rounds"
exec "${MPIEXEC:-mpiexec}" -bind-to core -n 2 "$PWD/bench/collect" "$library" "$rounds" </dev/null
