#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# counts.sh - every call of the program is recorded once, and no call that MPI makes itself:
# in C and in Fortran, before and after another tool, preloaded and linked.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

cat >"$work/expected" <<'EXPECTED'
MPI collective post 4
MPI_Allreduce 6
MPI_Barrier 10
MPI_Bsend_init 2
MPI_Comm_dup 2
MPI_Comm_free 2
MPI_File_close 2
MPI_File_open 2
MPI_File_set_view 2
MPI_File_write_all 6
MPI_Finalize 2
MPI_Iallreduce 4
MPI_Init 2
MPI_Irecv 14
MPI_Put 8
MPI_Recv_init 2
MPI_Request_free 10
MPI_Rsend_init 2
MPI_Send 14
MPI_Send_init 2
MPI_Ssend_init 2
MPI_Start receive 2
MPI_Start send 2
MPI_Startall 4
MPI_Wait 20
MPI_Waitall 6
MPI_Waitany 4
MPI_Waitsome 4
MPI_Win_create 2
MPI_Win_fence 4
MPI_Win_free 2
EXPECTED

# counted WHAT [FILE] - the numbers of tuples are as expected.
counted() {
    tuples | awk -F'\t' '$1 == "tuple" { n[$5]++ } END { for (o in n) print o, n[o] }' |
        sort >"$work/counts"
    check "$1" diff "${2:-$work/expected}" "$work/counts"
}

# polls - prints the polls of each rank. Tests of no request count as polls: three in each.
polls() {
    tuples | awk -F'\t' '$1 == "element" { n[$2] += $7 } END { print n[0], n[1] }'
}

told() {
    [ "$(grep -c 'tool: 7 sends 7 receives 10 waits 6 barriers 1 dups' "$work/err")" -eq 2 ]
    # The tool also counts the callback that MPI_Comm_free calls.
    expect 0 "$1: the other tool counts the same"
}

observe 2 "$bin/counts" "$work/file"
counted 'every call is recorded once, and none of MPI itself'
[ "$(polls)" = '3 3' ]
expect 0 'tests of no request are counted as polls'
tuples | awk -F'\t' '$5 ~ /_init$/ { print $9, $10 }' | sort -u >"$work/inits"
[ "$(cat "$work/inits")" = '? 0' ]
expect 0 'what makes a request has no number and moves nothing'

before=$bin/counting_tool.so:
observe 2 "$bin/counts" "$work/file" 2>"$work/err"
before=
# The tool is loaded before the collector, so its broadcast looks like the program's.
sed 's/^MPI_Barrier/MPI_Bcast 10\n&/' "$work/expected" | sort >"$work/behind"
counted 'behind another tool' "$work/behind"
told 'behind another tool'

after=:$bin/counting_tool.so
observe 2 "$bin/counts" "$work/file" 2>"$work/err"
after=
counted 'in front of another tool'
told 'in front of another tool'

# One program for each Fortran binding, with the same calls.
cat >"$work/fortran" <<'EXPECTED'
MPI_Allreduce 6
MPI_Barrier 10
MPI_Comm_dup 2
MPI_Comm_free 2
MPI_Finalize 2
MPI_Init 2
MPI_Irecv 14
MPI_Isend 14
MPI_Recv 6
MPI_Sendrecv 4
MPI_Sendrecv receive 4
MPI_Send 6
MPI_Waitall 14
EXPECTED
sort -o "$work/fortran" "$work/fortran"
for binding in mpif mpi f08; do
    program=$bin/fortran_counts_$binding
    if [ ! -x "$program" ]; then
        echo "not checked: no Fortran binding $binding"
        continue
    fi
    observe 2 "$program"
    expect 0 "the Fortran program of $binding runs"
    counted "every call of $binding is recorded once" "$work/fortran"
done

# Linked with the library of a separate installation.
prefix=$work/prefix
if "$MPICC" -show 2>/dev/null | grep -q mpich && [ -z "$ES_SANITIZERS" ] &&
    make -C "$top_builddir/wrappers/mpi" install prefix="$prefix" exec_prefix="$prefix" \
        libdir="$prefix/lib" mpiprofiledir="$prefix/etc" >"$work/install" 2>&1; then
    folder=$prefix/lib/eventspace/$ES_MPI
    sed -i "s|-L[^ ]* -Wl,-rpath,[^ ]*|-L$folder -Wl,-rpath,$folder|" \
        "$prefix/etc/eventspace.conf"
    # The wrapper adds .conf itself; it must not take the profile for a library.
    "$MPICC" -profile="$prefix/etc/eventspace" -o "$work/linked" "$here/counts.c" \
        >"$work/err" 2>&1
    if [ $? -ne 0 ] || ! readelf -d "$work/linked" | grep -q 'NEEDED.*libeventspace-mpi'; then
        echo "not checked: $MPICC -profile=$prefix/etc/eventspace:"
        cat "$work/err"
        echo 'its flags are given by hand instead'
        "$MPICC" $(sed -n 's/^PROFILE_PRELIB="\(.*\)"/\1/p' "$prefix/etc/eventspace.conf") \
            -o "$work/linked" "$here/counts.c"
    fi
    expect 0 'a program can be linked with the library'
    "$bin/tuples" --remove "$EVENTSPACE_RUN"
    ranks 2 "$work/linked" "$work/file"
    counted 'linked with the shared library'
    "$MPICC" -o "$work/static" "$here/counts.c" \
        -Wl,--whole-archive "$folder/libeventspace-mpi.a" -Wl,--no-whole-archive -lm
    expect 0 'a program can be linked with the static library'
    "$bin/tuples" --remove "$EVENTSPACE_RUN"
    ranks 2 "$work/static" "$work/file"
    counted 'linked with the static library'
else
    echo 'not checked: linking needs an MPICH and a library without sanitizers'
fi
finish
