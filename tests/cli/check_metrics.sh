#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_metrics.sh - metrics of a ring and of a hang, as files and over HTTP: what
# promtool, Python's strict parser and a Prometheus make of them; and whether the
# dashboard and the document name what is there.

. "${0%/*}/functions.sh"
need_mpi
here=$(cd "${0%/*}" && pwd)
textfiles=$folder/textfiles
mkdir "$textfiles" "$folder/a\"b"

# A Python that has the parser; none: what it would check is left out.
parser=
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    "$python" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null && parser=$python
done
[ -n "$parser" ] || echo "no python3-prometheus-client: the strict parser is left out"
command -v promtool >/dev/null || echo "no promtool: its checks are left out"

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    wait
    clear_up
}
trap end_all EXIT

# has FILE SERIES [CONDITION of `v`] : the file has this series, with such a number.
has()
{
    awk -v series="$2" 'index($0, series " ") == 1 { v = substr($0, length(series) + 2)
        if ('"${3:-1}"') found = 1 } END { exit !found }' "$1"
}

# are_openmetrics FILE... : the parser takes them, and no run has more than 80 series.
are_openmetrics()
{
    [ -z "$parser" ] || "$parser" "$here/metrics_names.py" series "$@" ||
        fault "not OpenMetrics: $(cat "$@")"
    [ "$(cat "$@" | grep -c '^# EOF$')" = $# ] || fault "no ends: $*"
}

# Without a run there are heads, and a name that is no run's is an error.
expect 0 "$eventspace" metrics
lacks out "{"
cp "$folder/out" "$folder/heads"
expect 2 "$eventspace" metrics "$prefix-nowhere"
for wrong in "--interval 5s" "--textfile $folder/nowhere" "--interval 1ms" "a b"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" metrics $wrong
done

# A ring and a hang at the same time; one in a batch job. The name of a program may have
# quotes.
ring=$prefix-ring hang=$prefix-hang
cp "$top_builddir/apps/hang" "$folder/a\"b"
LSB_JOBID=4711 "$eventspace" run -n 3 --name "$ring" -- "$top_builddir/apps/ring" --rounds 100000000 \
    >"$folder/ring" 2>&1 </dev/null &
"$eventspace" run -n 3 --name "$hang" -- "$folder/a\"b/hang" receive-cycle --seconds 0 \
    >"$folder/hang" 2>&1 </dev/null &
are_known()
{
    "$eventspace" metrics --waits >"$folder/metrics" 2>"$folder/err" &&
        has "$folder/metrics" "eventspace_deadlocked_ranks{run=\"$hang\"}" 'v == 3' &&
        has "$folder/metrics" "eventspace_operations_total{run=\"$ring\",class=\"send\"}" 'v > 1000'
}
await 30 are_known || cat "$folder/metrics" "$folder/err" "$folder/ring" "$folder/hang"
has "$folder/metrics" "eventspace_deadlocked_ranks{run=\"$ring\"}" 'v == 0' ||
    fault "a ring is no deadlock"
launcher=hydra
[ "$ES_MPI" = openmpi ] && launcher=openmpi
# says_origin RUN PROGRAM JOB
says_origin()
{
    grep -qF "eventspace_run_info{run=\"$1\",program=\"$2\",job=\"$3\",launcher=\"$launcher\"} 1" \
        "$folder/metrics" || fault "not of $2: $(grep run_info "$folder/metrics")"
}
says_origin "$hang" "$folder/a\\\"b/hang" ""
says_origin "$ring" "$(realpath "$top_builddir/apps/ring")" 4711

# The same as files: beside each other, for all to read, and gone with the run.
expect 0 "$eventspace" metrics --textfile "$textfiles"
[ "$(ls "$textfiles")" = "$(printf 'eventspace-%s.prom\n' "$hang" "$ring")" ] ||
    fault "not two files: $(ls "$textfiles")"
[ "$(stat -c %a "$textfiles"/* | sort -u)" = 644 ] || fault "not for all to read"
if command -v promtool >/dev/null; then
    for file in "$textfiles"/*.prom; do
        promtool check metrics <"$file" >"$folder/said" 2>&1 || fault "promtool: $(cat "$folder/said")"
        [ -s "$folder/said" ] && fault "promtool: $(cat "$folder/said")"
    done
fi

# The name can be foreseen: what others put there is neither followed, waited for, nor
# replaced, and stays when the run's own file goes.
planted=$folder/planted
mkdir -m 1777 "$planted"
file=$planted/eventspace-$ring.prom
echo precious >"$folder/victim"
stays()
{
    expect 2 "$eventspace" metrics --textfile "$planted" "$ring"
    contains err "eventspace-$ring.prom: $1"
    [ "$(ls "$planted")" = "${file##*/}" ] || fault "left there: $(ls "$planted")"
    [ "$(cat "$folder/victim")" = precious ] || fault "written through a link"
}
ln -s "$folder/victim" "$file"
stays "is a link"
rm "$file"
mkfifo "$file"
stays "is a pipe"
rm "$file"
if [ "$(id -u)" = 0 ]; then
    echo theirs >"$file"
    chown 54321 "$file"
    stays "is a regular file and belongs to user 54321"
    [ "$(cat "$file")" = theirs ] || fault "another user's file was replaced"
fi

# Again and again, until the run ends; a run that is named has one file.
"$eventspace" metrics --textfile "$folder" --interval 1s --waits "$hang" 2>"$folder/err" &
follows=$!
await 20 has "$folder/eventspace-$hang.prom" "eventspace_scope_pulls_total{run=\"$hang\",scope=\"causality\"}" 'v > 3'
expect 0 "$eventspace" clean --force "$hang"
wait $follows || fault "--interval ended with $?: $(cat "$folder/err")"
[ ! -e "$folder/eventspace-$hang.prom" ] || fault "the file outlives the command"
[ "$(ls "$textfiles")" = "eventspace-$ring.prom" ] ||
    fault "the file outlives the run: $(ls "$textfiles")"

# An interrupt removes it, too, though the run goes on.
"$eventspace" metrics --textfile "$folder" --interval 20s "$ring" &
follows=$!
await 20 [ -s "$folder/eventspace-$ring.prom" ]
kill $follows
wait $follows || fault "ended with $? by a signal"
[ ! -e "$folder/eventspace-$ring.prom" ] || fault "the file outlives the signal"

# The dashboard and the document.
"${PYTHON:-python3}" "$here/metrics_names.py" names "$folder/metrics" \
    "$top_srcdir/share/grafana/eventspace.json" "$top_srcdir/docs/metrics.md" ||
    fault "names differ"

# The page has the same, and a Prometheus reads it.
grep -q 'define HAVE_MICROHTTPD 1' "$top_builddir/config.h" || {
    echo "built without libmicrohttpd: the page is left out"
    are_openmetrics "$folder/heads" "$folder/metrics"
    finish
}
"${PYTHON:-python3}" "$here/../page/check_metrics.py" "$ring" "$folder" || fault "the page"
are_openmetrics "$folder/heads" "$folder/metrics" "$folder/page"
finish
