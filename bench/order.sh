#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# order.sh - the cost of the stores of the partial order, side by side.
#
#   bench/order.sh [smoke|quick|full] [STORE...]      from the top of the build folder
#
# Smoke takes seconds and is a test, quick some minutes; full goes to 100,000 traces and
# 10^8 events and takes most of an hour. Stores are written as for bench/order_stores;
# the default is all stores, in the configurations compared in docs/order.md. Exits with
# 1 if the answers of stores differ.

set -eu
mode=${1:-quick}
[ $# -eq 0 ] || shift
case $mode in
smoke | quick | full) ;;
*)
    echo "usage: order.sh [smoke|quick|full] [STORE...]" >&2
    exit 2
    ;;
esac
stores=${ES_ORDER_STORES:-bench/order_stores}
if ! [ -x "$stores" ]; then
    echo "order.sh: no $stores: run it in the build folder, after make" >&2
    exit 2
fi
patterns="stencil ring scatter-gather random web life master-worker wavefront drift grid balance"
status=0

# All stores in their usual configuration; several configurations of clusters.
if [ $# -eq 0 ]; then
    # The list of stores is the end of the usage message.
    known=$("$stores" -? 2>&1 | sed -n '/^stores:/,$ s/^  \([a-z]*\) .*/\1/p')
    for store in $known; do
        case $store in
        cluster)
            set -- "$@" cluster:max=13,strategy=merge-nth,threshold=10 \
                cluster:max=13,strategy=merge-first cluster:max=13,strategy=static
            [ "$mode" = smoke ] ||
                set -- "$@" cluster:max=13,strategy=fixed cluster:max=13/150,strategy=static \
                    cluster:max=13,strategy=migrate,threshold=1
            ;;
        *) set -- "$@" "$store" ;;
        esac
    done
fi

# measure PATTERN RANKS EVENTS OPTION... -- STORE...
measure() {
    pattern=$1 ranks=$2 events=$3
    shift 3
    code=0
    "$stores" -p "$pattern" -n "$ranks" -e "$events" "$@" || code=$?
    [ "$code" -le 1 ] || exit "$code"
    [ "$code" -eq 0 ] || status=1
}

case $mode in
smoke)
    for pattern in $patterns production; do
        measure "$pattern" 24 3000 -q 500 "$@"
        measure "$pattern" 24 3000 -q 500 -k 3 -r 4 "$@"
    done
    exit $status
    ;;
quick) events=200000 ranks=256 questions=50000 ;;
full) events=1000000 ranks=1024 questions=100000 ;;
esac
for pattern in $patterns; do
    measure "$pattern" "$ranks" "$events" -q "$questions" "$@"
    measure "$pattern" "$ranks" "$events" -q "$questions" -k 5 "$@"
    echo
done
# The size of the real trace of 1,024 ranks: 2.2 million messages, 405 operations.
[ "$mode" = quick ] || measure production 1024 5290000 -q "$questions" "$@"
echo "growth with traces:"
for ranks in 16 128 1024; do
    measure stencil "$ranks" "$events" -q "$questions" -k 5 "$@"
done
# Whole vectors are too large from here on, and clusters too slow.
if [ "$mode" = full ] && "$stores" -? 2>&1 | grep -q '^  epoch '; then
    for ranks in 10000 100000; do
        measure stencil "$ranks" 10000000 -q "$questions" -k 5 epoch
        measure stencil "$ranks" 10000000 -q "$questions" epoch
    done
    echo "growth with events:"
    for events in 10000 1000000 100000000; do
        measure stencil 1024 "$events" -q "$questions" -k 5 epoch:memory=1024
    done
fi
exit $status
