#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees.sh - collective operations through instrumented trees have the results and errors of
# the library, on the program's own communicators; edges are recorded.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

# trees SHAPE... - prints rules for all operations.
trees() {
    printf 'eventspace-trees 1\ntree t shape=%s\nend\n' "$*"
}

nobody='eventspace-trees 1
tree t communicator=nobody shape=linear
end'

# plain RANKS SEED - prints the output of the random program with the library.
plain() {
    ranks "$1" "$bin/trees_random" "$2" 60 2>/dev/null
}

checked() {
    tuples | "$PYTHON" "$here/check_trees.py" >"$work/checked"
    expect 0 "$1: edges have two ends"
    cat "$work/checked"
    grep -q '^[1-9]' "$work/checked"
    expect 0 "$1: trees were used"
}

seed=$((RANDOM % 1000))
echo "seed $seed"
sizes='3 4'
[ "$mpi" != openmpi ] || sizes=4 # its launcher is slow
for n in $sizes; do
    expected=$(plain $n $seed)
    [ -n "$expected" ]
    expect 0 "the library's own, $n ranks"
    unset EVENTSPACE_TREES
    [ "$(observe $n "$bin/trees_random" $seed 60 2>/dev/null)" = "$expected" ]
    expect 0 "collected without trees, $n ranks"
    for shape in linear kary 'kary fan-out=3 segment=1024' binomial exchange \
        'levels levels=core,host' 'explicit edges=2-0,0-1' 'explicit edges=3-0,3-1,1-2' \
        library; do
        export EVENTSPACE_TREES=$(trees "$shape")
        [ "$(observe $n "$bin/trees_random" $seed 60 2>"$work/err")" = "$expected" ]
        expect 0 "$shape, $n ranks"
        [ "$shape" = library ] || [ "${shape#explicit}" != "$shape" ] ||
            checked "$shape, $n ranks"
    done
done

# Rules by size, by operation, and by the name known to rank 0.
expected=$(plain 4 $seed)
export EVENTSPACE_TREES='eventspace-trees 1
tree twin communicator=twin shape=binomial
tree small bytes=0-500 operations=bcast,allreduce shape=linear
tree large shape=kary fan-out=3 segment=4096
end'
[ "$(observe 4 "$bin/trees_random" $seed 60 2>/dev/null)" = "$expected" ]
expect 0 'several rules'
checked 'several rules'

# A rank that cannot record still takes part.
export EVENTSPACE_TREES=$(trees kary)
"$bin/tuples" --remove "$EVENTSPACE_RUN"
preload=$runtime$library:$shim
found=$(timeout -k 5 60 "$MPIEXEC" -n 1 env LD_PRELOAD="$preload" \
    EVENTSPACE_PLAN=/nonexistent "$bin/trees_random" $seed 60 : \
    -n 3 env LD_PRELOAD="$preload" "$bin/trees_random" $seed 60 \
    </dev/null 2>"$work/err")
[ "$found" = "$expected" ]
expect 0 'a rank has stepped aside'
[ "$(tuples | grep -c 'tree contribute')" -gt 0 ]
expect 0 'the others are recorded'
EVENTSPACE_DISABLE=1 observe 4 "$bin/trees_random" $seed 60 >"$work/out" 2>/dev/null
[ "$(cat "$work/out")" = "$expected" ]
expect 0 'disabled for all'

# The exact tuples of one allreduce over ((1 (3)) (2)) under 0. A leaf departs by
# contributing.
observe 4 "$bin/trees" once
tuples | awk -F'\t' '$5 ~ /^tree/ { print $2, $5, $7, $8, $9, $10 }' | sort >"$work/once"
cat >"$work/expected" <<'EXPECTED'
0 tree arrival up 1 112 0 4
0 tree arrival up 2 112 0 4
0 tree contribute -1 112 0 4
0 tree departure down 1 112 0 4
0 tree departure down 2 112 0 4
1 tree arrival down 0 112 0 4
1 tree arrival up 3 112 0 4
1 tree contribute 0 112 0 4
1 tree departure down 3 112 0 4
1 tree departure up 0 112 0 4
2 tree arrival down 0 112 0 4
2 tree contribute 0 112 0 4
3 tree arrival down 1 112 0 4
3 tree contribute 1 112 0 4
EXPECTED
check 'the tuples of one allreduce' diff "$work/expected" "$work/once"

# All in one element: the operation's open tuple is replaced by those of edges, and
# restored.
printf 'eventspace-plan 1\ncollector all classes=%s\nend\n' \
    collective,communicator,contribute,arrival,departure,other >"$work/plan"
EVENTSPACE_PLAN=$work/plan observe 4 "$bin/trees" displaced 20
checked 'one element for all'
[ "$(tuples | grep -c 'MPI_Allreduce')" -eq 80 ]
expect 0 'one element for all: operations too'

ranks 3 "$bin/trees" errors 2>/dev/null | sort -s -k1,1 >"$work/plain"
[ -s "$work/plain" ]
expect 0 'MPI refuses'
for rules in "$EVENTSPACE_TREES" "$(trees exchange)" "$nobody"; do
    EVENTSPACE_TREES=$rules observe 3 "$bin/trees" errors 2>/dev/null |
        sort -s -k1,1 >"$work/errors"
    check 'errors are those of the library' diff "$work/plain" "$work/errors"
    EVENTSPACE_TREES=$rules check 'one rank is refused alone' \
        observe 3 "$bin/trees" alone 20
    EVENTSPACE_TREES=$rules check 'types that come and go' \
        observe 3 "$bin/trees" types 20
done

check 'communicators come and go' observe 2 "$bin/trees" churn 3000
check 'more communicators than shadows' observe 4 "$bin/trees" many 400
check 'threads' observe 3 "$bin/trees" threads 200

# An unreadable rule is reported once.
EVENTSPACE_TREES='nonsense' observe 3 "$bin/trees" once 2>"$work/err"
expect 0 'rules that cannot be read'
[ "$(grep -c 'no collective trees' "$work/err")" -eq 1 ]
expect 0 'are told by rank 0'

finish
