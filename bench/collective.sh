#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# collective.sh - the cost of instrumented collective trees, relative to the MPI
# library's own algorithms for the same operation, size and ranks in one run.
#
#   bench/collective.sh [OPTION]...               from the top of the build folder
#
# In each round every variant runs one block of operations: the library bypassing
# collection ("direct"), collected ("library"), and over each tree; with the suffix
# ".quiet", the collectors at the edges of the tree are off. Ratios compare the blocks
# of a round to those of the collected library; below 1 is faster.
#
# Then, in runs that take turns: the cost of supporting trees for operations that do not
# use them, as "library" to "direct" in runs with an empty list of rules, relative to
# the same ratio in runs without a list.

set -eu

usage() {
    cat <<'END'
usage: collective.sh [OPTION]...
  --ranks N          4
  --rounds N         15
  --block MS         about how long a block takes (3)
  --operations LIST  with commas between (all)
  --sizes LIST       bytes, of each rank in gathers (8,1024,16384,131072,1048576)
  --trees "TREE.."   "linear kary:2 kary:2.quiet binomial levels:host,core"
  --switches N       runs of each kind for the cost of being switchable; 0 = none (7)
  --quick            3 rounds of 1 ms, two sizes, 1 run of each kind
  -o PREFIX          writes PREFIX.tsv (the figures), PREFIX.md and PREFIX.svg
END
}

fail() {
    echo "collective.sh: $*" >&2
    exit 2
}

ranks=4
rounds=15
block=3
operations=
sizes=
trees="linear kary:2 kary:2.quiet binomial levels:host,core"
switches=7
output=

while [ $# -gt 0 ]; do
    case $1 in
    --ranks | --rounds | --block | --operations | --sizes | --trees | --switches | -o)
        [ $# -ge 2 ] || fail "$1: a value is missing"
        case $1 in
        --ranks) ranks=$2 ;;
        --rounds) rounds=$2 ;;
        --block) block=$2 ;;
        --operations) operations=$2 ;;
        --sizes) sizes=$2 ;;
        --trees) trees=$2 ;;
        --switches) switches=$2 ;;
        -o) output=$2 ;;
        esac
        shift
        ;;
    --quick)
        rounds=3 block=1 switches=1
        [ -n "$sizes" ] || sizes=8,65536
        ;;
    --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
for number in "$ranks" "$rounds" "$block" "$switches"; do
    case $number in '' | *[!0-9]*) fail "$number: expected a number" ;; esac
done

build=$PWD
for program in cli/eventspace bench/collective; do
    [ -x "$build/$program" ] || fail "no $program: run it in the build folder, after make"
done
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/collective_rules.sh
. "$here/collective_rules.sh"

work=$(mktemp -d)
EVENTSPACE_DIR=$work/runs
export EVENTSPACE_DIR
mkdir -m 700 "$EVENTSPACE_DIR"
run=
finish() {
    # Only of this run: there may be others.
    [ -z "$run" ] || "$build/cli/eventspace" clean --force "$run" >/dev/null 2>&1 || :
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Ranks poll all the time: if there are more of them than cores, they must yield.
cores=$(nproc)
choose_launcher() {
    launcher=${MPIEXEC:-mpiexec}
    if [ "$ranks" -gt "$cores" ]; then
        shim=$build/tests/apps/.libs/yield_shim.so
        [ -r "$shim" ] || make -s -C "$build/tests" apps/yield_shim.la >/dev/null
        launcher="$launcher -genv LD_PRELOAD $shim"
        how="giving way to each other (yield_shim)"
    else
        launcher="$launcher -bind-to core"
        how="each bound to one"
    fi
    echo "$ranks ranks on $cores cores, $how;"
}

# collected MAP WORD...: runs bench/collective with these words in a separate run.
collected() {
    map=$1
    shift
    run=bench-collective-$$-$((serial += 1))
    "$build/cli/eventspace" run -n "$ranks" --map "$map" --name "$run" --no-server \
        --launcher "$launcher" -- "$build/bench/collective" "$@" </dev/null
    run=
}
serial=0

# map_of RULES: nothing for a run without trees, otherwise "collectives" with rules.
map_of() {
    echo '{"version": 1, "application": {"ranks": '"$ranks"'}, "collectors": ['
    tree_collectors
    echo "]${1:+, $1}}"
}

map_of "\"collectives\": [$(tree_rules "$trees")]" >"$work/trees.json"

choose_launcher
echo 'times of an operation, ratios to "library":'
echo
# shellcheck disable=SC2086 # words
collected "$work/trees.json" --rounds "$rounds" --block "$block" \
    ${operations:+--operations "$operations"} ${sizes:+--sizes "$sizes"} \
    direct library $trees >"$work/out"
grep -v '^figure:' "$work/out"
grep '^figure:' "$work/out" >"$work/figures"

# --- Trees for none, and no trees --------------------------------------------------

# The two variants differ little, so no rank may have to wait for a core here.
[ "$ranks" -le "$cores" ] || ranks=$cores
echo
[ "$switches" -eq 0 ] || choose_launcher
map_of "" >"$work/without.json"
map_of '"collectives": []' >"$work/with.json"

# one_switch KIND: a line per operation: KIND OPERATION RATIO ADDED-NS.
one_switch() {
    collected "$work/$1.json" --rounds "$((rounds * 3))" --block "$block" \
        --operations barrier,allreduce --sizes 8 --reference direct direct library \
        >"$work/switch"
    awk -v kind="$1" '
        /^figure: .*_direct_time/ { direct = $3 }
        /^figure: .*_library_time/ { library = $3 }
        /^figure: .*_library_ratio / {
            split($2, part, "_")
            print kind, part[2], $3, (library - direct) * 1000
        }' "$work/switch" >>"$work/switches"
}

: >"$work/switches"
number=0
while [ "$number" -lt "$switches" ]; do
    number=$((number + 1))
    # The order alternates.
    if [ $((number % 2)) -eq 1 ]; then
        one_switch without
        one_switch with
    else
        one_switch with
        one_switch without
    fi
done

# Each pair of runs yields a ratio; prints the median, minimum and maximum.
awk '
    { ratio[$1, $2, ++count[$1, $2]] = $3; added[$1, $2, count[$1, $2]] = $4; names[$2] = 1 }
    function sort(list, n,    i, j, value) {
        for (i = 2; i <= n; i++) {
            value = list[i]
            for (j = i - 1; j >= 1 && list[j] > value; j--)
                list[j + 1] = list[j]
            list[j + 1] = value
        }
    }
    function median(list, n) {
        sort(list, n)
        return (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
    }
    END {
        for (name in names) {
            n = count["with", name]
            for (i = 1; i <= n; i++) {
                quotients[i] = ratio["with", name, i] / ratio["without", name, i]
                more[i] = added["with", name, i] - added["without", name, i]
            }
            what = "figure: collective_switchable_" name
            printf "%s_ratio %.4f ratio\n", what, median(quotients, n)
            printf "%s_ratio_low %.4f ratio\n", what, quotients[1]
            printf "%s_ratio_high %.4f ratio\n", what, quotients[n]
            printf "%s_added %.1f ns\n", what, median(more, n)
        }
    }' "$work/switches" >>"$work/figures"

if [ "$switches" -gt 0 ]; then
    echo
    echo "What it costs that operations of 8 bytes could go through trees:"
    echo
    echo '| operation | ratio | smallest | largest | added, ns |'
    echo '| --- | --- | --- | --- | --- |'
    awk '/_switchable_/ {
        split($2, part, "_")
        row[part[3]] = row[part[3]] " | " $3
    }
    END { for (name in row) print "| " name row[name] " |" }' "$work/figures"
fi | tee -a "$work/out"
echo
cat "$work/figures"
if [ -n "$output" ]; then
    sed 's/^figure: //; s/ /\t/g' "$work/figures" >"$output.tsv"
    grep -v '^figure:' "$work/out" >"$output.md"
    "${PYTHON:-python3}" "$here/plot.py" --title "Time of a tree to the library's own" \
        --match 'collective_*_*_ratio' --note 'collective_*_*_time' --reference 1 --log \
        "$work/figures" >"$output.svg"
fi
