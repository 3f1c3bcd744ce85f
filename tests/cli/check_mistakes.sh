#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_mistakes.sh - typical mistakes of a first day, and what each is answered.

. "${0%/*}/functions.sh"
need_mpi
apps=$top_builddir/apps
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns

# mistake STATUS TEXT ARGUMENT... : one line on standard error has TEXT; nothing else is
# said on standard output.
mistake()
{
    local status=$1 text=$2
    shift 2
    expect "$status" "$eventspace" "$@"
    contains err "$text"
    is_empty out
}

tour=$prefix-tour
archive=$folder/tour.archive
expect 0 "$eventspace" run -n 2 --keep --name "$tour" -- "$apps/ring"
expect 0 "$eventspace" record -o "$archive" "$tour"
cat >"$folder/attribute.pattern" <<'END'
Sent := [ clas = "send" ];
END
cat >"$folder/value.pattern" <<'END'
Sent := [ class = "sned" ];
END
cat >"$folder/bad.json" <<'END'
{"version": [1,}
END

# Names of commands, options and runs.
mistake 2 "no command 'evnts'; did you mean 'events'?" evnts "$tour"
mistake 2 "no option '--rnak'; did you mean '--rank'?" events --rnak 1 "$tour"
mistake 2 "run '${tour}r': not found on this host; did you mean '$tour'?" heartbeat "${tour}r"
mistake 2 "run '${tour}r': not found on this host; did you mean '$tour'?" events "${tour}r"
mistake 2 "run '${tour}r': not found on this host; did you mean '$tour'?" clean "${tour}r"
mistake 2 "run '${tour}r': not found on this host; did you mean '$tour'?" list "${tour}r"

# Values.
mistake 2 "there is no rank 9; the run has ranks 0 to 1" events --rank 9 "$tour"
mistake 2 "MPI_COMM_WORLD" events --comm nocomm "$tour"
mistake 2 "did you mean 'MPI_Recv'?" events --operation MPI_Recvv "$tour"
mistake 2 "did you mean 'send'?" events --class sned "$tour"
mistake 2 "'yesterday'" events --since yesterday "$tour"
mistake 2 "'xml' is not one of" events --format xml "$tour"
mistake 2 "'-5' is not a whole number" events --last -5 "$tour"
mistake 2 "'0' is not a whole number" run -n 0 -- "$apps/ring"
mistake 2 "'two' is not a whole number" run -n two -- "$apps/ring"
mistake 2 "--interval" heartbeat --interval 0 "$tour"
mistake 2 "--stalled-after" heartbeat --stalled-after soon "$tour"
mistake 2 "threshold" collect threshold 99999999 "$tour"

# Words in the wrong place, and those that are missing.
mistake 2 "no PROGRAM given" run
mistake 2 "no archive given: -o DIR" record
mistake 2 "'of' is not an action; give on, off" collect of "$tour"
mistake 2 "'lst' is not an action; give list" scope lst "$tour"
mistake 2 "--to FORMAT is needed" export "$archive"
mistake 2 "-o SET is needed" import "$folder/bad.json"
mistake 2 "no patterns given: -p FILE" search "$archive"

# Words behind options.
mistake 2 "did you mean 'allreduce'?" collect tree kary:4 --operation alreduce "$tour"
mistake 2 "did you mean 'kary'?" collect tree karry:4 "$tour"
mistake 2 "did you mean 'me" events --reduce "meen of=duration" "$tour"
mistake 2 "did you mean 'hosts'?" events --shape hots "$tour"

# Files and archives.
mistake 127 "no-such-program" run -- ./no-such-program
mistake 2 "nosuch" order nosuch.archive
mistake 2 "nosuch: no such file, archive or run" search -p mpi nosuch
mistake 2 "nosuch.pattern" search -p nosuch.pattern "$archive"
mistake 2 "already exists and is not empty" record -o "$archive" "$tour"
mistake 2 "did you mean 'chrome'?" export --to chrom "$archive"
mistake 2 "bad.json:1:16: JSON" check "$folder/bad.json"

# Patterns.
mistake 2 "attribute.pattern:1:11" search -p "$folder/attribute.pattern" "$archive"
contains err "did you mean 'class'?"
mistake 2 "value.pattern:1:19" search -p "$folder/value.pattern" --check
contains err "did you mean 'send'?"
expect 1 "$eventspace" search -p mpi "$archive" LostMessage
contains err "no match of LostMessage"

expect 0 "$eventspace" clean "$tour"
finish
