# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# top_terminal.sh - a terminal of tmux for drivers; to be sourced behind functions.sh.
# shellcheck shell=bash

# A server of our own, without anybody's settings; a word has no key of its own.
in_tmux()
{
    TMUX='' LC_ALL=C.UTF-8 tmux -u -L "$prefix" -f /dev/null "$@"
}

# Its server ends with the last session: this one stays.
in_tmux new-session -d -s base "exec sleep 600"

# open_terminal COLUMNS ROWS COMMAND... : says "ended STATUS" behind the command.
open_terminal()
{
    local columns=$1 rows=$2
    shift 2
    rm -f "$folder/before" "$folder/after"
    in_tmux new-session -d -s top -x "$columns" -y "$rows" \
        "stty -g >'$folder/before'; $(printf '%q ' "$@"); echo ended \$?
         stty -g >'$folder/after'; exec sleep 600"
}

open_shell()
{
    in_tmux new-session -d -s top -x "$1" -y "$2" "exec bash --norc --noprofile -i"
}

close_terminal()
{
    in_tmux kill-session -t top
}

keys()
{
    in_tmux send-keys -t top "$@"
}

resize()
{
    in_tmux resize-window -t top -x "$1" -y "$2"
}

screen()
{
    in_tmux capture-pane -p -t top
}

has_text()
{
    screen | grep -qF -- "$1"
}

lacks_text()
{
    ! has_text "$1"
}

# shows TEXT: within ten seconds.
shows()
{
    await 10 has_text "$1" || fault "no \"$1\" on the screen: $(screen)"
}

hides()
{
    await 10 lacks_text "$1" || fault "\"$1\" on the screen: $(screen)"
}

is_on_alternate()
{
    [ "$(in_tmux display-message -p -t top '#{alternate_on}')" = "$1" ]
}

# The lines of the terminal, once the command has ended.
is_as_before()
{
    await 10 test -s "$folder/after"
    cmp -s "$folder/before" "$folder/after"
}

# Colours, not only bold or reverse.
has_colours()
{
    in_tmux capture-pane -p -e -t top | grep -q "$(printf '\033')\[[0-9;]*3[0-7]m"
}

# pid_of COMMAND: of what runs in the terminal.
pid_of()
{
    pgrep -P "$(in_tmux display-message -p -t top '#{pane_pid}')" -f "$1"
}
