#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_two_consumers.sh - the example docs/examples/two_consumers.c: each consumer reaches
# the run through a tuple server of its own, and both hold elements.

. "${0%/*}/functions.sh"

run=$prefix-two
server=$top_builddir/cli/eventspaced
example=$top_builddir/tests/cli/two_consumers
alpha=$folder/alpha/$run
beta=$folder/beta/$run
trap clear_up EXIT

make_run_folder "$alpha"
make_run_folder "$beta"
export EVENTSPACE_DIR=$folder/alpha
expect 0 "$server" --run "$run" --grace 60 --host alpha --advertise 127.0.0.1
port=$(sed -n 's/^tls:.*://p' "$folder/out")
cp -p "$alpha/key" "$beta"
expect 0 env EVENTSPACE_DIR="$folder/beta" "$server" --run "$run" --grace 60 --host beta \
    --home "tls:127.0.0.1:$port"
await 10 grep -q "registered with alpha" "$beta/eventspaced.log"

# One of them waits at alpha, the other one comes from beta; then the other way round.
exchange()
{
    local host=$1 taker=$2 giver=$3
    EVENTSPACE_DIR=$folder/$taker "$example" "$run" take "$host" 250 >"$folder/taken" &
    expect 0 env EVENTSPACE_DIR="$folder/$giver" "$example" "$run" give "$host" 250
    wait $! || fault "the taking consumer failed"
    [ "$(grep -c "^[0-9]*: rank [0-7] was late by" "$folder/taken")" = 250 ] ||
        fault "$(tail -3 "$folder/taken")"
    grep -qx '249: rank 1 was late by 249000 ns' "$folder/taken" || fault "no last one"
    grep -qx '0 lost' "$folder/taken" || fault "$(tail -1 "$folder/taken")"
}
exchange alpha alpha beta
exchange beta alpha beta
exchange beta beta alpha
expect 1 env EVENTSPACE_DIR="$folder/beta" "$example" "$run" give gamma 1
expect 0 "$eventspace" clean "$run"
finish
