# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# programs_check_themselves.sh - each example program runs on 1, 2, 3 and 4 ranks and
# verifies its own result.

. "${top_srcdir:?not set}/tests/apps/functions.sh"

for ranks in 1 2 3 4; do
    while read -r program options; do
        [ -x "$apps/$program" ] || continue # There may be no Fortran.
        check "$program on $ranks ranks" run "$ranks" "$program" $options
    done <<'PROGRAMS'
ring --rounds 200 --words 1
ring --rounds 20 --words 100000
hang none --after 20
imbalance --operation barrier --iterations 20 --ranks-late 0 --late-us 100
imbalance --operation bcast --iterations 20 --root 1 --bytes 4000
imbalance --operation reduce --iterations 20 --root 1
imbalance --operation allreduce --iterations 20 --jitter-us 50 --sleep
imbalance --operation allgather --iterations 20
imbalance --operation alltoall --iterations 20 --bytes 100
imbalance --operation scan --iterations 20 --ranks-late 1 --every 3
imbalance --operation iallreduce --iterations 20
life --hops 200
masterworker --tasks 100 --numbers 500
mergesort --keys 20001 --rounds 3
mergesort --keys 3
onesided --rounds 20
stencil2d --points 61 --iterations 60 --norm-every 25
threads --threads 3 --rounds 20
windtunnel --rows 64 --iterations 20 --verify
fortran_mpif --rounds 20
fortran_mpi --rounds 20
fortran_f08 --rounds 20
PROGRAMS
done

finish
