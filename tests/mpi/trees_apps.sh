#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees_apps.sh - the example programs have the same output by trees of every shape as by
# the library, with trees for all forms of operations and for blocking ones only.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

blocking=barrier,bcast,reduce,allreduce,gather,scatter,allgather
all=$blocking,ibarrier,ibcast,ireduce,iallreduce,igather,iscatter,iallgather

forms=($blocking $all)
[ "$mpi" != openmpi ] || forms=($all) # its launcher is slow

# rules OPERATIONS SHAPE
rules() {
    printf 'eventspace-trees 1; tree t operations=%s shape=%s; end' "$1" "$2"
}

# steady - the output without measured times, sorted, since ranks print in any order.
steady() {
    sed -E '/per second/d; s/[0-9.]+ (us|ms|s|seconds)\b/TIME/g' | sort
}

# Each program runs with two shapes, first for blocking operations, then for all forms. The
# shapes are used in turn.
shapes=(linear 'kary fan-out=2' binomial 'levels levels=host' 'explicit edges=2-0,0-1'
    'kary fan-out=2 segment=1024' exchange)
turn=0
while read -r program options; do
    # Its module mpi_f08 accepts no array section in a nonblocking call.
    [ "$mpi $program" != 'openmpi fortran_f08' ] || continue
    # By default Open MPI may crash at MPI_Compare_and_swap; pt2pt does not support threads.
    [ "$program" != onesided ] || export OMPI_MCA_osc=pt2pt
    [ "$program" = onesided ] || unset OMPI_MCA_osc
    [ -x "$apps/$program" ] || continue # There may be no Fortran.
    program=$apps/$program
    unset EVENTSPACE_TREES
    # shellcheck disable=SC2086 # several options
    ranks 3 "$program" $options >"$work/plain" 2>&1
    expect 0 "${program##*/}: by the library"
    for operations in "${forms[@]}"; do
        shape=${shapes[turn++ % ${#shapes[@]}]}
        export EVENTSPACE_TREES=$(rules "$operations" "$shape")
        # shellcheck disable=SC2086 # several options
        observe 3 "$program" $options >"$work/trees" 2>&1
        expect 0 "${program##*/} $options: by $shape"
        check "${program##*/} prints the same" \
            diff <(steady <"$work/plain") <(steady <"$work/trees")
    done
done <<'PROGRAMS'
ring --rounds 50 --words 1
hang none --after 20
imbalance --operation barrier --iterations 20 --ranks-late 0 --late-us 100
imbalance --operation bcast --iterations 20 --root 1 --bytes 4000
imbalance --operation reduce --iterations 20 --root 1
imbalance --operation allgather --iterations 20
imbalance --operation iallreduce --iterations 20
life --hops 100
masterworker --tasks 50 --numbers 200
mergesort --keys 20001 --rounds 2
onesided --rounds 10
stencil2d --points 61 --iterations 60 --norm-every 5
threads --threads 3 --rounds 20
windtunnel --rows 64 --iterations 20
fortran_mpif --rounds 20
fortran_mpi --rounds 20
fortran_f08 --rounds 20
PROGRAMS

finish
