#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# collective_hosts.sh - trees that know the hosts of ranks, relative to trees that do
# not, over hosts in two clusters connected by a slow line with high latency.
#
#   bench/collective_hosts.sh [OPTION]...         from the top of the build folder
#
# The hosts are simulated by name spaces of this machine (docs/hosts.md); if they cannot
# be created, it prints the reason and exits with 77. Ranks are assigned to them in
# turn, so that consecutive ranks are in different clusters. Each operation is measured
# separately, from the time when all ranks begin it to the end of the last; hosts share
# one clock here. Ratios are times of the others relative to the tree by levels.

set -u
case ${1-} in
--help)
    cat <<'END'
usage: collective_hosts.sh [OPTION]...
  --ranks N          8
  --rounds N         11
  --rate RATE        of the line between the clusters (100mbit)
  --delay US         how long it is (5000)
  --operations LIST  with commas between (bcast,allreduce)
  --sizes LIST       bytes (8,65536,1048576)
  --by-levels TREE   levels:host,cluster
  --others "TREE.."  "library binomial kary:2"
  --quick            3 rounds, two sizes
  -o PREFIX          writes PREFIX.tsv (the figures), PREFIX.md and PREFIX.svg
END
    exit 0
    ;;
esac

bench=$(cd "$(dirname "$0")" && pwd)
top_srcdir=$(dirname "$bench")
: "${top_builddir:=$PWD}"
MPIEXEC=${MPIEXEC-$(command -v mpiexec)}
PYTHON=${PYTHON:-python3}
export top_srcdir top_builddir MPIEXEC PYTHON
if ! [ -x "$top_builddir/bench/collective" ]; then
    echo 'collective_hosts.sh: no bench/collective: run it in the build folder, after make' >&2
    exit 2
fi
# The library that creates the hosts belongs to the tests.
if [ -z "${ES_HOSTS_WORLD:-}" ]; then
    make -s -C "$top_builddir/tests" hosts/finalize_shim.so hosts/delay_line \
        apps/yield_shim.la >/dev/null || exit 2
fi

# Enters separate name spaces.
. "$top_srcdir/tests/hosts/functions.sh"
. "$bench/collective_rules.sh"

fail() {
    echo "collective_hosts.sh: $*" >&2
    exit 2
}

ranks=8
rounds=11
rate=100mbit
delay=5000
operations=bcast,allreduce
sizes=8,65536,1048576
by_levels=levels:host,cluster
others="library binomial kary:2"
output=
while [ $# -gt 0 ]; do
    case $1 in
    --ranks | --rounds | --rate | --delay | --operations | --sizes | --by-levels | --others | -o)
        [ $# -ge 2 ] || fail "$1: a value is missing"
        case $1 in
        --ranks) ranks=$2 ;;
        --rounds) rounds=$2 ;;
        --rate) rate=$2 ;;
        --delay) delay=$2 ;;
        --operations) operations=$2 ;;
        --sizes) sizes=$2 ;;
        --by-levels) by_levels=$2 ;;
        --others) others=$2 ;;
        -o) output=$2 ;;
        esac
        shift
        ;;
    --quick) rounds=3 sizes=8,65536 ;;
    *) fail "unknown option '$1' (--help)" ;;
    esac
    shift
done

hosts up --rate "$rate" --delay "$delay" || fail 'the hosts do not come up'

# Number of ranks that each host gets in turn.
machines=(a0 b0 a1 b1)
ranks_of() {
    local number=$1 list=
    while [ "$number" -lt "$ranks" ]; do
        list=$list${list:+,}$number
        number=$((number + ${#machines[@]}))
    done
    echo "$list"
}

printf '%s:1\n' "${machines[@]}" >$work/machines
{
    echo '{"version": 1, "application": {"ranks": '"$ranks"'}, "cluster": {"clusters":'
    echo '[{"name": "east"}, {"name": "west", "gateway": "gate"}], "hosts": ['
    echo '{"name": "front"}, {"name": "gate", "cluster": "west"},'
    echo '{"name": "a0", "cluster": "east"}, {"name": "a1", "cluster": "east"},'
    echo '{"name": "b0", "cluster": "west"}, {"name": "b1", "cluster": "west"}]},'
    echo '"mapping": {"ranks": ['
    for i in "${!machines[@]}"; do
        [ -n "$(ranks_of "$i")" ] || continue
        [ "$i" -eq 0 ] || echo ','
        echo '{"ranks": "'"$(ranks_of "$i")"'", "host": "'"${machines[i]}"'"}'
    done
    echo ']}, "collectors": ['
    tree_collectors
    echo '], "collectives": ['
    tree_rules "$by_levels $others"
    echo ']}'
} >$work/map.json

echo "$ranks ranks on 4 hosts in two clusters, dealt out in turn; the line between: $rate, $delay us;"
echo "times of an operation by itself, ratios to $by_levels; all on $(nproc) cores (yield_shim):"
echo
# shellcheck disable=SC2086 # words
collected 900 trees -n "$ranks" --map $work/map.json -- \
    "$top_builddir/bench/collective" --apart --prefix collective_hosts --rounds "$rounds" \
    --operations "$operations" --sizes "$sizes" --reference "$by_levels" \
    "$by_levels" $others >$work/measured 2>$work/measured.err ||
    fail "the ranks ended with $?: $(cat $work/measured $work/measured.err)"
cat $work/measured.err >&2
grep -v '^figure:' $work/measured
echo
grep '^figure:' $work/measured
if [ -n "$output" ]; then
    sed -n 's/^figure: //; T; s/ /\t/g; p' $work/measured >"$output.tsv"
    grep -v '^figure:' $work/measured >"$output.md"
    "$PYTHON" "$bench/plot.py" --title "Time to that of a tree by levels" \
        --match 'collective_hosts_*_*_ratio' --note 'collective_hosts_*_*_time' \
        --reference 1 $work/measured >"$output.svg"
fi
