#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_run.sh - eventspace run: what it lays out, how it ends, what it leaves.

. "${0%/*}/functions.sh"
use_marker
launcher=$top_srcdir/tests/cli/local_launcher.sh
run=("$eventspace" run --launcher "$launcher")

# Ends as the launcher does, and leaves nothing.
expect 0 "${run[@]}" -n 2 true
nothing_recorded="eventspace run: nothing was recorded on this host: no call of MPI was seen"
contains err "$nothing_recorded ('eventspace doctor true' says what can hide calls)"

# A program into which nothing can be preloaded.
printf 'int main(void){return 0;}\n' >"$folder/static.c"
if $CC -static -o "$folder/static" "$folder/static.c" 2>/dev/null &&
    grep -q '^#define HAVE_LIBELF 1' "$top_builddir/config.h"; then
    expect 0 "${run[@]}" -n 1 "$folder/static"
    contains err "$folder/static is linked statically, nothing can be preloaded ('eventspace"
fi

# Several ranks would each start a run; one that is alone, and a batch script, may.
for rank in "PMI_RANK=1 PMI_SIZE=4" "PMIX_RANK=0" "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2" \
    "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2"; do
    # shellcheck disable=SC2086 # several variables
    expect 2 env $rank "${run[@]}" -n 2 true
    contains err "one of several ranks (${rank%%=*} is set)"
    contains err "'eventspace exec -- true'"
done
for rank in "PMI_RANK=0 PMI_SIZE=1" "SLURM_PROCID=0 SLURM_JOB_ID=7"; do
    # shellcheck disable=SC2086
    expect 0 env $rank "${run[@]}" -n 1 true
done
expect 1 "${run[@]}" -n 2 false
expect 42 "${run[@]}" -n 2 -- sh -c 'exit $((PMI_RANK * 42))'
expect 137 "${run[@]}" -n 1 --launcher "sh -c 'kill -9 \$\$'" -- true
[ -z "$(ls -A "$EVENTSPACE_DIR")" ] || fault "left behind: $(ls -A "$EVENTSPACE_DIR")"

# What the ranks find.
expect 0 "${run[@]}" -n 2 --name "$prefix-facts" --threshold 77 -- sh -c '
    [ "$PMI_RANK" = 1 ] || exit 0
    echo "run=$EVENTSPACE_RUN dir=$EVENTSPACE_RUN_DIR marker=$MARKER_WAS_LOADED"
    ls "$EVENTSPACE_RUN_DIR"
    cat "$EVENTSPACE_PLAN"
    cat "$EVENTSPACE_RUN_DIR/run.json" >"$0.facts"
    "$1" check "$EVENTSPACE_RUN_DIR/map.json"' "$folder/run" "$eventspace"
contains out "run=$prefix-facts dir=$EVENTSPACE_DIR/$prefix-facts marker=yes"
contains out "threshold=77"
for file in map.json collect.plan run.json; do
    contains out $file
done
cp "$folder/run.facts" "$folder/out"
json_lines_hold "o['run'] == '$prefix-facts' and o['ranks'] == 2 and o['command'][0] == 'sh'"

# The launcher itself is not preloaded.
expect 0 "${run[@]}" -n 1 --launcher "sh -c 'echo \"launcher <\$MARKER_WAS_LOADED>\"; shift 2; \"\$@\"' sh" -- \
    sh -c 'echo "rank <$MARKER_WAS_LOADED>"'
contains out 'launcher <>'
contains out 'rank <yes>'

# Words are split as a shell does; the hosts' file is passed on.
expect 0 "${run[@]}" -n 1 --launcher "env A='b c' $launcher" -- sh -c 'echo "A=$A"'
contains out 'A=b c'
expect 0 env EVENTSPACE_LAUNCHER="$launcher" "$eventspace" run -n 3 -- sh -c 'echo $PMI_SIZE'
[ "$(cat "$folder/out")" = "$(printf '3\n3\n3')" ] || fault "not three ranks of three"
echo "$(uname -n):2" >"$folder/hosts"
expect 0 "${run[@]}" --hostfile "$folder/hosts" -- sh -c 'echo rank'
[ "$(grep -c rank "$folder/out")" = 2 ] || fault "not as many ranks as slots"

# A map says how many ranks, and what is collected.
expect 0 "$eventspace" map -n 2 -o "$folder/map.json"
expect 0 "${run[@]}" --map "$folder/map.json" -- sh -c 'echo rank'
[ "$(grep -c rank "$folder/out")" = 2 ] || fault "not as many ranks as the map has"
expect 2 "${run[@]}" --map "$folder/map.json" -n 3 true
contains err "it is for 2 ranks, but -n asks for 3"

# What the user gives and cannot be used.
echo '{' >"$folder/bad.json"
expect 2 "${run[@]}" --map "$folder/bad.json" true
contains err "eventspace run: --map: $folder/bad.json:"
expect 2 "${run[@]}" --map /no/such/map true
expect 2 "${run[@]}" --hostfile /no/such/file true
expect 2 "${run[@]}" -n 0 true
expect 2 "${run[@]}" -n two true
expect 2 "${run[@]}" --name 'a b' true
expect 2 "${run[@]}" -n 1 --launcher "'" true
contains err "is not closed"
# shellcheck disable=SC2016 # it must not be run
expect 2 "${run[@]}" -n 1 --launcher '$(ls)' true
contains err "it has a command substitution, which is not supported"
expect 2 "${run[@]}" -n 1
expect 127 "${run[@]}" -n 1 --launcher /no/such/launcher true
# Said once, not by each rank, where no launcher may know better.
expect 127 env -u EVENTSPACE_LAUNCHER "$eventspace" run -n 2 "$folder/no-such-program"
contains err "eventspace run: $folder/no-such-program: no such program on this host"
[ "$(wc -l <"$folder/err")" = 1 ] || fault "more is said: $(cat "$folder/err")"
[ -z "$(ls -A "$EVENTSPACE_DIR")" ] || fault "left behind: $(ls -A "$EVENTSPACE_DIR")"

# Two runs of one name would be one.
expect 0 "${run[@]}" -n 1 --keep --name "$prefix-twice" true
expect 2 "${run[@]}" -n 1 --name "$prefix-twice" true
contains err "eventspace clean $prefix-twice"
expect 0 "$eventspace" clean "$prefix-twice"
expect 0 "${run[@]}" -n 1 --name "$prefix-twice" true

# A name is free again as soon as the run is over.
for ((i = 0; i < 20; i++)); do
    expect 0 "${run[@]}" -n 2 --name "$prefix-again" true
    contains err "$nothing_recorded"
    [ "$(wc -l <"$folder/err")" = 1 ] || fault "more than a line: $(cat "$folder/err")"
done

# is_not_started REASON OPTION... : what cannot be recorded is not started, and nothing of
# the run stays.
is_not_started()
{
    local reason=$1
    shift
    expect 2 "$@" -- sh -c 'echo started'
    is_empty out
    contains err "eventspace run: cannot record: $reason"
    [ -z "$(ls -A "$EVENTSPACE_DIR")" ] || fault "left behind: $(ls -A "$EVENTSPACE_DIR")"
}
recorded=("${run[@]}" -n 1 --name "$prefix-unrecorded" --record)

# A recorded run has larger elements, unless the user or a map says how large.
thresholds()
{
    sed -n 's/.* threshold=\([0-9]*\).*/\1/p' "$folder/out" | sort -un
}
# shellcheck disable=SC2016 # the rank's own
show=(-- sh -c 'cat "$EVENTSPACE_PLAN"')
room=$(($(stat -f -c '%a * %S / 1048576' /dev/shm)))
expect 0 "${run[@]}" -n 1 --record "$folder/larger" "${show[@]}"
[ "$room" -lt 64 ] || [ "$(thresholds)" -gt 4095 ] || fault "elements of $(thresholds) tuples"
expect 0 "${run[@]}" -n 1 --record "$folder/chosen" --threshold 77 "${show[@]}"
[ "$(thresholds)" = 77 ] || fault "--threshold does not count: $(thresholds)"
expect 0 "$eventspace" map -n 1 -o "$folder/map1.json"
expect 0 "${run[@]}" --map "$folder/map1.json" --record "$folder/mapped" "${show[@]}"
[ "$(thresholds)" = 4095 ] || fault "the map does not count: $(thresholds)"
expect 0 "${run[@]}" -n 1 "${show[@]}"
[ "$(thresholds)" = 4095 ] || fault "elements of a run that is not recorded: $(thresholds)"

mkdir "$folder/full" && touch "$folder/full/file"
is_not_started "$folder/full already exists and is not empty" "${recorded[@]}" "$folder/full"
is_not_started "cannot make $folder/none/archive" "${recorded[@]}" "$folder/none/archive"
is_not_started "cannot make /dev/null" "${recorded[@]}" /dev/null
is_not_started "nothing is collected" env EVENTSPACE_DIR=/proc/nothing "${recorded[@]}" \
    "$folder/archive"
is_not_started "EVENTSPACE_PRELOAD" env EVENTSPACE_PRELOAD=/no/such "${recorded[@]}" \
    "$folder/archive"
[ ! -e "$folder/archive" ] || fault "an archive of nothing"
if unshare -rm mount -t tmpfs none "$folder/full" 2>/dev/null; then
    # shellcheck disable=SC2016
    is_not_started "cannot write" unshare -rm sh -c '
        mount -t tmpfs -o size=8k,nr_inodes=9 none "$0" && cd "$0" || exit 99
        dd if=/dev/zero of=fill bs=4k 2>/dev/null
        "$@"
        status=$?
        [ -e archive ] && echo "an archive is left"
        exit $status' "$folder/full" "${recorded[@]}" archive
else
    echo "not checked: no mount namespace to be had, so no full disk"
fi

# Without a place for the run directory the program runs all the same.
expect 3 env EVENTSPACE_DIR=/proc/nothing "${run[@]}" -n 1 -- sh -c 'echo "<$MARKER_WAS_LOADED>"; exit 3'
contains out '<>'
contains err "eventspace run: not collecting"

# The same holds if too few descriptors are free, wherever the preparations end.
# shellcheck disable=SC2016
few=(sh -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n "$0"; exec "$@"')
# shellcheck disable=SC2016
alone="sh -c 'shift 2; exec \"\$@\"' sh"
for limit in {4..16}; do
    expect 3 "${few[@]}" "$limit" "$eventspace" run -n 1 --launcher "$alone" -- sh -c 'exit 3'
    [ "$(wc -l <"$folder/err")" -le 1 ] || fault "limit $limit: $(cat "$folder/err")"
    [ -z "$(ls -A "$EVENTSPACE_DIR")" ] ||
        fault "limit $limit leaves $(ls -A "$EVENTSPACE_DIR"): $(cat "$folder/err")"
done
lacks err "not collecting"

# A rank that died keeps what it recorded; one line says how to look.
expect 0 "${run[@]}" -n 1 --name "$prefix-good" -- "$helpers/make_segments" "$prefix-good" 1 5
contains err "kept"
expect 0 "$eventspace" list "$prefix-good"
expect 0 "$eventspace" clean "$prefix-good"
finish
