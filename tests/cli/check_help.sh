#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_help.sh - help, version and usage errors of the command and all subcommands.

. "${0%/*}/functions.sh"

expect 0 "$eventspace" --help
contains out "Usage: eventspace COMMAND"
(($(wc -l <"$folder/out") <= 44)) || fault "the help is longer than a screen"
expect 0 "$eventspace" help
cp "$folder/out" "$folder/first"
expect 0 "$eventspace" -h
cmp -s "$folder/first" "$folder/out" || fault "-h and help differ"
commands=$(sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' "$folder/out")
for name in run exec demo map check list heartbeat events collect order search import export \
    collectives clean doctor help version; do
    grep -qx "$name" <<<"$commands" || fault "help does not list $name"
done

for name in $commands; do
    case $name in help | version) continue ;; esac
    expect 0 "$eventspace" "$name" --help
    contains out "Usage: eventspace $name"
    grep -q '`' "$folder/out" && fault "$name --help has two styles of quotes"
    is_empty err
    cp "$folder/out" "$folder/first"
    expect 0 "$eventspace" help "$name"
    cmp -s "$folder/first" "$folder/out" || fault "help $name and $name --help differ"
    expect 0 "$eventspace" "$name" -h
    cmp -s "$folder/first" "$folder/out" || fault "$name -h and --help differ"
    expect 0 "$eventspace" "$name" --version
    contains out "eventspace "
    expect 2 "$eventspace" "$name" --verson
    contains err "eventspace $name: no option '--verson'; did you mean '--version'?"
    is_empty out
    expect 2 "$eventspace" "$name" --no-such-option
    contains err "eventspace $name: unrecognized option '--no-such-option'"
    contains err "eventspace $name: see 'eventspace $name --help'"
    lacks err '`'
    is_empty out
done
expect 2 "$eventspace" doctor one another
contains err "eventspace doctor: see 'eventspace doctor --help'"
(($(wc -l <"$folder/err") == 2)) || fault "more than two lines: $(cat "$folder/err")"

# Help is one screen and ends with examples; the manuals have them, too, and all options.
for name in $commands; do
    case $name in help | version) continue ;; esac
    expect 0 "$eventspace" "$name" --help
    lines=$(wc -l <"$folder/out")
    ((lines <= 40)) || fault "$name --help has $lines lines"
    grep -E '^.{80}' "$folder/out" && fault "$name --help has lines of more than 79 columns"
    grep -E '^ +$' "$folder/out" && fault "$name --help has lines of blanks only"
    sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g' "$top_srcdir/docs/man/eventspace-$name.1" >"$folder/man"
    sed -n '/^.SH EXAMPLES/,/^.SH SEE/p' "$folder/man" >"$folder/examples"
    sed '1,/^Examples:/d; s/^  //' "$folder/out" >"$folder/shown"
    [ "$(wc -l <"$folder/shown")" -eq 3 ] || fault "$name --help has no three examples"
    while IFS= read -r line; do
        grep -qxF -- "$line" "$folder/examples" || fault "eventspace-$name(1) lacks: $line"
    done <"$folder/shown"
    "$eventspace" complete "$name" -- | cut -f1 >"$folder/options"
    while IFS= read -r option; do
        case $option in --help | --usage | --version | --quiet) continue ;; esac
        grep -qE -- "^\\.B.*$option( |,|\"|=|\$|\[)" "$folder/man" || fault "eventspace-$name(1) lacks $option"
    done <"$folder/options"
done

for manual in "$top_srcdir"/docs/man/*.[1357]; do
    grep -q '^\.SH EXAMPLES\?$' "$manual" || fault "no example in ${manual##*/}"
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
expect 2 "$eventspace" hartbeat
contains err "no command 'hartbeat'; did you mean 'heartbeat'?"
expect 2 "$eventspace" --verson
contains err "no option '--verson'; did you mean '--version'?"
expect 2 "$eventspace" --run flow heartbeat
contains err "no option '--run' in front of a command"
expect 2 "$eventspace" help no-such-command
contains err "no command 'no-such-command'"

# What belongs to the program, or to an option, is none of ours; a near name is.
expect 2 "$eventspace" run --nme x true
contains err "did you mean '--name'?"
expect 127 "$eventspace" run -n 2 --launcher --nme true
contains err "--nme: cannot be run"
expect 0 env EVENTSPACE_DISABLE=1 "$eventspace" exec echo --verson
contains out "--verson"
expect 0 "$eventspace" run -np 2 true

# Where a run is asked for that is not there, the message says what to do.
for name in list heartbeat events collectives "collect off" clean; do
    # shellcheck disable=SC2086 # two words
    expect 2 "$eventspace" $name "$prefix-none"
    contains err "$prefix-none"
    contains err "eventspace list"
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $name one two three
done
# The run may stand in front of an action, and a word that is no action is told.
for words in "collect $prefix-none off" "collect $prefix-none tree kary:2" \
    "collect tree $prefix-none kary:2" "scope $prefix-none list" "scope $prefix-none show x"; do
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $words
    contains err "$prefix-none"
    contains err "not found"
done
for name in collect scope; do
    for words in flip "flip flop"; do
        # shellcheck disable=SC2086
        expect 2 "$eventspace" $name $words
        contains err "eventspace $name: 'flip' is not an action"
    done
done

# A short option is the same one in every command, and old words are still taken.
for name in $commands; do
    case $name in help | version) continue ;; esac
    "$eventspace" "$name" --help | sed -n 's/^  -\([a-zA-Z]\), --\([a-z-]*\).*/\1 \2/p'
done | sort -u >"$folder/letters"
double=$(cut -d ' ' -f 1 "$folder/letters" | uniq -d | tr '\n' ' ')
[ "$double" = "n " ] || fault "letters of several meanings: $(cat "$folder/letters")"
expect 2 "$eventspace" clean -n "$prefix-none"
expect 2 "$eventspace" collectives --top 3 "$prefix-none"
contains err "not found"

expect 2 "$eventspace" list --format xml
contains err "neither 'text' nor 'json'"

# Output that gets lost is an error.
"$eventspace" help >/dev/full 2>"$folder/err" && fault "a full disk went unnoticed"
contains err "cannot write the output"
finish
