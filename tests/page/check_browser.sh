#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_browser.sh - the page of `eventspace view` in a real browser: a live run, a run that
# hangs, and archives: whole, empty, cut, and with losses.

. "${top_srcdir:?}/tests/cli/functions.sh"
need_mpi
command -v chromium-headless-shell >/dev/null || {
    echo "no chromium-headless-shell here (tools/install-deps --dev)"
    exit 77
}
grep -q '^#define HAVE_MICROHTTPD 1' "$top_builddir/config.h" || {
    echo "built without libmicrohttpd"
    exit 77
}
apps=$top_builddir/apps
started=()

end_all()
{
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
    wait
    for name in live hang none; do
        "$eventspace" clean --kill "$prefix-$name" >/dev/null 2>&1
    done
    clear_up
}
trap end_all EXIT

# serve NAME WHAT - starts a server of the page; its address is in $folder/NAME.url.
serve()
{
    "$eventspace" view --port 0 "$2" >"$folder/$1.url" 2>"$folder/$1.err" &
    started+=($!)
}

# go_on NAME [OPTION...] -- PROGRAM... - starts a run that does not end by itself.
go_on()
{
    local name=$1
    shift
    "$eventspace" run -n 4 --name "$prefix-$name" "$@" >"$folder/$name.out" 2>&1 &
    started+=($!)
}

is_there()
{
    "$eventspace" list "$prefix-$1"
}

has_address()
{
    grep -q '^http' "$folder/$1.url"
}

go_on live --trees=kary:2 -- "$apps/imbalance" --sleep --work-us 20000 --iterations 1000000
go_on hang -- "$apps/hang" receive-cycle --after 20 --seconds 1000
expect 0 "$eventspace" run -n 4 --record "$folder/ring" -- "$apps/ring" --rounds 20
expect 0 "$eventspace" run -n 1 --record "$folder/one" -- "$apps/ring" --rounds 0
expect 0 "$PYTHON" "$top_srcdir/tests/page/split_hosts.py" "$folder/ring" "$folder/split"
expect 0 "$eventspace" run -n 4 --record "$folder/late" -- "$apps/imbalance" --ranks-late 2 \
    --late-us 3000 --sleep --iterations 12
expect 0 "$eventspace" run -n 2 --record "$folder/lost" --threshold 16 -- \
    "$apps/ring" --rounds 5000

# A run whose processes do not call MPI.
"$eventspace" run -n 1 --name "$prefix-none" -- sleep 1000 >"$folder/none.out" 2>&1 &
started+=($!)
await 20 is_there none
expect 0 "$eventspace" record --for 10ms -o "$folder/empty" "$prefix-none"

# An archive whose recorder was killed.
has_all()
{
    [ "$(find "$folder/cut" -name '?.0-collective*' -size +0 | wc -l)" = 4 ]
}
await 20 is_there live
"$eventspace" record -o "$folder/cut" "$prefix-live" >"$folder/cut.out" 2>&1 &
recorder=$!
await 20 has_all
kill -KILL $recorder
wait $recorder 2>/dev/null

for name in ring split late one empty cut lost; do
    serve $name "$folder/$name"
done
for name in live hang; do
    await 20 is_there $name
    serve $name "$prefix-$name"
done
addresses=()
for name in ring split late one empty cut lost live hang; do
    await 20 has_address $name
    addresses+=("--$name" "$(cat "$folder/$name.url")")
done

"$PYTHON" "$top_srcdir/tests/page/browser_checks.py" "${addresses[@]}" \
    --pictures "${ES_PICTURES:-$folder}" || fault "the page is not as it should be"
finish
