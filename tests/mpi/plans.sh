#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# plans.sh - polls are counted or written as the plan says. Elements are split by peer and
# communicator, and filtered by communicator, class and rank.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

export EVENTSPACE_PLAN=$work/plan

hold=

# planned LINES... - runs polls under a plan with these lines.
planned() {
    { echo 'eventspace-plan 1'; printf '%s\n' "$@"; echo end; } >"$work/plan"
    observe 2 "$bin/polls" 1000 50 $hold
    expect 0 "it runs: $*"
    tuples >"$work/tuples"
}

# element NAME - prints its number of tuples and of counted polls.
element() {
    awk -F'\t' -v name="$1" '$1 == "element" && $4 == name { print $5, $7 }' "$work/tuples"
}

# is NAME HEAD POLLS
is() {
    local found
    found=$(element "$1")
    [ "$found" = "$2 $3" ]
    expect 0 "$1 has $2 tuples and $3 polls, found $found"
}

all=send,receive,completion,collective,communicator,one-sided,io,other
written() {
    grep -cP '^tuple\t0\t.*\tMPI_(Test|Testany|Testall|Testsome|Request_get_status|Iprobe|Improbe)\t' \
        "$work/tuples"
}

planned "collector all classes=$all"
[ "$(element 0.0/all | cut -d' ' -f2)" = 7000 ]
expect 0 'seven thousand polls are counted'
[ "$(written)" -eq 0 ]
expect 0 'and none is written'

planned "collector all classes=$all polls=1 threshold=16383"
[ "$(element 0.0/all | cut -d' ' -f2)" = 0 ]
expect 0 'where polls are written none is counted'
[ "$(written)" -eq 7000 ]
expect 0 'and all seven thousand are written'

# The two halves of Sendrecv are in one element each, with the other tuples of the class.
planned 'collector p classes=send split=peer' 'collector r classes=receive'
is '0.0/p[peer=0]' 150 0
is '0.0/p[peer=1]' 151 0
is '1.0/p[peer=0]' 151 0
is '0.0/r' 301 0
[ -z "$(grep -P '^tuple\t.*\tMPI_Barrier\t' "$work/tuples")" ]
expect 0 'a class that nobody wants is not recorded'

planned 'collector c classes=send,receive split=communicator'
is '0.0/c[comm=red]' 200 0
is '0.0/c[comm=blue]' 200 0
is '0.0/c[comm=MPI_COMM_WORLD]' 202 0

planned 'collector b classes=send,receive split=both'
is '0.0/b[comm=blue][peer=0]' 100 0
is '0.0/b[comm=blue][peer=1]' 100 0
is '1.0/b[comm=red][peer=0]' 100 0
is '1.0/b[comm=red][peer=1]' 100 0

planned 'collector red classes=send,receive communicator=r?d' \
    'collector rest classes=send ranks=1'
is '0.0/red' 200 0
is '1.0/rest' 201 0
[ -z "$(element 0.0/rest)" ]
expect 0 'rank 0 has no element of a collector for rank 1'

# A tuple that is deferred until the end needs an element that does not exist yet.
hold=hold
planned 'collector c classes=receive split=both communicator=*'
hold=
is '0.0/c[comm=red][peer=0]' 51 0
[ "$(grep -cP '^tuple\t0\t.*\tMPI_Irecv\t\w+\t0\t9\t\?\t' "$work/tuples")" -eq 1 ]
expect 0 'what is held back at the end is written, without a number'

# Each peer or communicator has an element, and each element has a unique name.
hold=wild
planned 'collector n classes=receive,completion split=peer' \
    'collector c classes=send split=communicator'
hold=
names=$(awk -F'\t' '$1 == "element" { print $4 }' "$work/tuples" | sort)
[ "$(printf '%s\n' "$names" | uniq -d)" = '' ]
expect 0 "no two elements have one name: $names"
is '0.0/c[comm=red]' 100 0
[ "$(printf '%s\n' "$names" | grep -c '^0\.0/c\[comm=red\]')" -eq 2 ]
expect 0 'communicators of one name have an element each'

# What a thread has looked up goes with it.
{ echo 'eventspace-plan 1'; echo 'collector p classes=send split=peer'; echo end; } >"$work/plan"
alone=$(ranks 1 "$bin/thread_memory" 21000) # MPICH 4.2 keeps some itself
grown=$(observe 1 "$bin/thread_memory" 21000)
expect 0 'twenty-one thousand threads'
[ $((grown - alone)) -lt 2048 ]
expect 0 "their memory is freed: $grown KiB more, alone $alone"

planned "collector off classes=$all enabled=0"
is '0.0/off' 0 0
finish
