#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_help.sh - help, version and usage errors of the command and all subcommands.

. "${0%/*}/functions.sh"

expect 0 "$eventspace" --help
contains out "Usage: eventspace COMMAND"
expect 0 "$eventspace" help
commands=$(sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' "$folder/out")
for name in run exec map check list heartbeat events collect order search import export \
    collectives clean doctor help version; do
    grep -qx "$name" <<<"$commands" || fault "help does not list $name"
done

for name in $commands; do
    case $name in help | version) continue ;; esac
    expect 0 "$eventspace" "$name" --help
    contains out "Usage: eventspace $name"
    is_empty err
    cp "$folder/out" "$folder/first"
    expect 0 "$eventspace" help "$name"
    cmp -s "$folder/first" "$folder/out" || fault "help $name and $name --help differ"
    expect 2 "$eventspace" "$name" --no-such-option
    contains err "eventspace $name: unrecognized option '--no-such-option'"
    is_empty out
done

# Help is one screen; the manuals have the details.
for name in search order; do
    expect 0 "$eventspace" "$name" --help
    lines=$(wc -l <"$folder/out")
    ((lines <= 40)) || fault "$name --help has $lines lines"
done

expect 0 "$eventspace" --version
contains out "eventspace "
cp "$folder/out" "$folder/first"
expect 0 "$eventspace" version
cmp -s "$folder/first" "$folder/out" || fault "version and --version differ"
expect 2 "$eventspace" version more

expect 2 "$eventspace"
contains err "Usage: eventspace COMMAND"
expect 2 "$eventspace" no-such-command
contains err "eventspace: no command 'no-such-command'"
expect 2 "$eventspace" help no-such-command
contains err "no command 'no-such-command'"

# Where a run is asked for that is not there, the message says what to do.
for name in list heartbeat events collectives "collect off" clean; do
    # shellcheck disable=SC2086 # two words
    expect 2 "$eventspace" $name "$prefix-none"
    contains err "$prefix-none"
    contains err "eventspace list"
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $name one two three
done
expect 2 "$eventspace" list --format xml
contains err "neither 'text' nor 'json'"

# Output that gets lost is an error.
"$eventspace" help >/dev/full 2>"$folder/err" && fault "a full disk went unnoticed"
contains err "cannot write the output"
finish
