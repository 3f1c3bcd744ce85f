# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# command_lines.sh - help and errors of the example programs, without a launcher.

. "${top_srcdir:?not set}/tests/apps/functions.sh"

log=$(mktemp) || exit 99
trap 'rm -f "$log" "$log.short"' EXIT

# Succeeds when the program ends with status 2 after a message that has the text in it.
refuses() {
    local text=$1 program=$2
    shift 2
    "$apps/$program" "$@" >/dev/null 2>"$log"
    [ $? -eq 2 ] && grep -q -e "$text" "$log"
}

for program in ring hang imbalance life masterworker mergesort onesided stencil2d threads \
    windtunnel fortran_mpif fortran_mpi fortran_f08; do
    [ -x "$apps/$program" ] || continue # There may be no Fortran.
    "$apps/$program" --help >"$log" 2>&1
    expect 0 "$program --help succeeds"
    check "$program --help explains" grep -q "^Usage: .*$program " "$log"
    "$apps/$program" -h >"$log.short" 2>&1
    check "$program -h is --help" cmp -s "$log" "$log.short"
    check "$program refuses an unknown option" \
        refuses 'no-such-option' "$program" --no-such-option
done

for program in ring imbalance life masterworker mergesort onesided stencil2d \
    threads windtunnel; do
    check "$program refuses an argument" refuses "'argument'" "$program" argument
done

check 'a number is no word' refuses "--rounds: 'many'" ring --rounds many
check 'a number ends where it should' refuses "--rounds: '7x'" ring --rounds 7x
check 'a number may be too small' refuses "from 1 to" ring --words 0
check 'a number may be too large' refuses "from 0 to" ring --rounds 99999999999999999999
check 'seconds are not negative' refuses "--seconds: '-1'" hang --seconds -1 none
check 'seconds are finite' refuses "--seconds: 'inf'" hang --seconds inf none
check 'an operation has a name' refuses 'allreduce' imbalance --operation all
check 'ranks are numbers' refuses '--ranks-late' imbalance --ranks-late 1,x
check 'a deadlock has a name' refuses 'no-such-case' hang no-such-case
check 'a deadlock must be chosen' refuses 'no case given' hang
check 'only one deadlock at a time' refuses "'wait'" hang none wait
check 'sizes have names' refuses 'small, medium or large' windtunnel --size huge
check 'obstacles have names' refuses 'disc, plate or none' windtunnel --obstacle barn

finish
