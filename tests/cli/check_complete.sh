#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_complete.sh - what a command line can become, asked of the command and of the
# shells that are here.

. "${0%/*}/functions.sh"
run=$prefix-run
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns

# becomes CANDIDATES WORD... : the candidates' first words, with blanks between.
becomes()
{
    local wanted=$1 found
    shift
    expect 0 "$eventspace" complete "$@"
    is_empty err
    found=$(cut -f1 "$folder/out" | paste -sd' ')
    [ "$found" = "$wanted" ] || fault "'$*' becomes '$found', not '$wanted'"
}

# Commands and options are those of the help.
becomes "heartbeat help" he
becomes "$("$eventspace" help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' | paste -sd' ')" ""
for name in $("$eventspace" help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'); do
    case $name in help | version) continue ;; esac
    "$eventspace" "$name" --help >"$folder/help"
    shown=$({
        sed '/^Also:/,$d' "$folder/help" | grep -oE '^ {2,6}(-., )?--[a-z][a-z-]*'
        sed '/^Also:/,$!d; /^Examples:/,$d' "$folder/help"
    } | grep -oE -- '--[a-z-]+' | sort)
    told=$("$eventspace" complete "$name" -- | cut -f1 | sort)
    [ "$shown" = "$told" ] || fault "$name: $(diff <(echo "$shown") <(echo "$told"))"
done

# Values that are words: the command takes each.
for pair in events:format list:format heartbeat:shape search:engine order:store events:sort \
    export:to import:from events:class events:operation; do
    name=${pair%:*} option=${pair#*:}
    "$eventspace" complete "$name" "--$option=" | cut -f1 >"$folder/words"
    [ -s "$folder/words" ] || fault "no value of $name --$option"
    while IFS= read -r word; do
        "$eventspace" "$name" "$word" --help >"$folder/out" 2>"$folder/err" ||
            fault "$name refuses $word: $(cat "$folder/err")"
    done < <(if [ "$option" = operation ]; then head -5; else cat; fi <"$folder/words")
done
becomes "--engine=indexed" search --engine=i
becomes "indexed" search --engine i
becomes "indexed" search -p x --engine i
becomes "mpi" search -p ""

# What belongs to the program is the shell's.
becomes "" run -n 2 ./program --he
becomes "--help" run -n 2 --he
becomes "" no-such-command x
becomes "on off threshold tree" collect ""
becomes "list show set" scope ""

# What is there now.
"$helpers/make_segments" "$run" 2 10 live >"$folder/maker" &
maker=$!
await 10 grep -q ready "$folder/maker"
becomes "$run" heartbeat ""
becomes "$run" collect off "$prefix"
becomes "$run" order --store epoch "$prefix"
host=$("$eventspace" list -f json "$run" | sed -n 's/.*"host":"\([^"]*\)".*/\1/p' | head -1)
"$eventspace" complete events --host "" | cut -f1 | grep -qx "$host" ||
    fault "host $host is not told"
kill $maker
wait $maker 2>/dev/null

# bash, which takes "--engine=i" for three words.
bash_becomes()
{
    local wanted=$1
    shift
    # shellcheck disable=SC2016 # for the other shell
    PATH=${eventspace%/*}:$PATH bash -c '. "$1"; shift; COMP_WORDS=(eventspace "$@")
        COMP_CWORD=$#; _eventspace; echo "${COMPREPLY[*]}"' \
        bash "$top_srcdir/share/completions/bash/eventspace" "$@" \
        >"$folder/out" 2>"$folder/err"
    is_empty err
    [ "$(cat "$folder/out")" = "$wanted" ] ||
        fault "bash: '$*' becomes '$(cat "$folder/out")', not '$wanted'"
}
bash_becomes "heartbeat help" he
bash_becomes "indexed" search --engine = i
bash_becomes "indexed rewrite closure" search --engine =
bash_becomes "--engine" search --eng

# On a terminal, each shell that is here evaluates nothing of the line.
for shell in bash zsh fish; do
    if command -v "$shell" >/dev/null; then
        mkdir "$folder/$shell"
        (cd "$folder/$shell" &&
            "${PYTHON:-python3}" "$top_srcdir/tests/cli/complete_typing.py" "$shell" \
                "$eventspace" "$top_srcdir/share/completions") >"$folder/out" 2>&1 ||
            fault "$(cat "$folder/out")"
    else
        echo "not checked: $shell is not here"
    fi
done
finish
