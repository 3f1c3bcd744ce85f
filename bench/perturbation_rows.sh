# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# perturbation_rows.sh - the rows of perturbation.sh: the observers and their views;
# sourced.
# shellcheck shell=sh disable=SC2034

rows_goals="all-100 host-100"
rows_paper="collected e1-paper e14-paper e266-paper all-58 all-106 all-25"
rows_full="e1 e14 e266 all-views all-flat all-few all-server four four-100"
rows_collective="again-checks checks trees collectives collectives-few four-all"

# Expands names of groups to their rows.
expand_rows() {
    for word in $1; do
        case $word in
        goals) echo "$rows_goals" ;;
        paper) echo "$rows_paper" ;;
        full) echo "$rows_full" ;;
        collective) echo "$rows_collective" ;;
        *) echo "$word" ;;
        esac
    done
}

# The observers of a row, one per line; nothing if there are none. Lines that begin with
# "eventspace" are monitors, those with "set" are changes of their scopes once these
# exist, others are options of bench/observe. Rows all-* have the view of 1,948
# elements; $2 is the folder of write_maps().
observers_of() {
    flat="--elements 1948 --set shape=flat --set threads=4"
    views="--elements 1948 --set shape=views --set threads=4"
    few="--elements 1948 --set shape=views --set threads=0 --set mode=sequential"
    e1="--elements 1 --name 0.0/completion"
    case $1 in
    again | collected) ;;
    e1) echo "$e1" ;;
    e1-paper) echo "$e1 --rate 2500" ;;
    e14) echo "--elements 14 --ranks 0-2" ;;
    e14-paper) echo "--elements 14 --ranks 0-2 --rate 1500" ;;
    e266) echo "--elements 266 --ranks 0-3" ;;
    e266-paper) echo "--elements 266 --ranks 0-3 --rate 200" ;;
    all-views) echo "$views" ;;
    all-flat) echo "$flat" ;;
    all-few) echo "$few" ;;
    all-server) echo "--elements 1948 --set shape=views --set through-server=yes" ;;
    all-58) echo "$views --rate 58" ;;
    all-106) echo "$flat --rate 106" ;;
    all-25) echo "$few --rate 25" ;;
    all-100) echo "--elements 1948 --set shape=flat --rate 100" ;;
    host-100) echo "--elements 162 --ranks 4 --set through-server=yes --rate 100" ;;
    four | four-100)
        rate=
        [ "$1" = four ] || rate="--rate 100"
        echo "--elements 1948 $rate"
        echo "--elements 1948 --take thread $rate"
        echo "--elements 1948 --take new --set reduce=histogram $rate"
        echo "--elements 266 --ranks 0-3 --take new $rate"
        ;;
    again-checks | checks | trees) ;;
    collectives) whole_monitor "$2" ;;
    collectives-few)
        whole_monitor "$2"
        echo "set collectives --rate 4"
        echo "set collectives-nodes node-threads=0 batch=65536 batch-wait=1s"
        ;;
    four-all)
        whole_monitor "$2"
        echo "eventspace heartbeat --format json -i 1"
        echo "eventspace events --follow --format json --rank 0-2"
        echo "--elements 1948 --rate 100"
        ;;
    *) fail "no row $1 (--list)" ;;
    esac
}

# The complete collective-operation monitor: contributions as they arrive, a thread for
# each internal node, an analysis every second.
whole_monitor() {
    echo "eventspace collectives --follow --format json -i 1 --map $1/whole.json"
}

# The tunnel's options in a row: with a check in each iteration, it has three collective
# operations per iteration, otherwise almost none.
check_every_of() {
    case $1 in
    again-checks | checks | trees | collectives* | four-all) echo 1 ;;
    *) echo 1000000 ;;
    esac
}

# The pathmap of a row; nothing if the tunnel is alone.
map_of() {
    case $1 in
    none | again | again-checks) ;;
    trees | collectives* | four-all) echo trees.json ;;
    *) echo map.json ;;
    esac
}

# Each thread and partner has its own elements; all exist after one iteration. Those of
# collective operations keep some seconds if there are collectives in each iteration.
write_maps() {
    message_collectors='
  {"name": "send", "classes": ["send"], "split": "peer", "threshold": 200},
  {"name": "receive", "classes": ["receive"], "split": "peer", "threshold": 200},
  {"name": "completion", "classes": ["completion", "collective", "communicator"],'
    cat >"$1/map.json" <<END
{"version": 1, "application": {"ranks": 2}, "collectors": [$message_collectors
   "threshold": 200}
]}
END
    cat >"$1/trees.json" <<END
{"version": 1, "application": {"ranks": 2}, "collectors": [$message_collectors
   "threshold": 16383},
  {"name": "contribute", "classes": ["contribute"], "threshold": 8191},
  {"name": "arrival", "classes": ["arrival"], "threshold": 8191},
  {"name": "departure", "classes": ["departure"], "threshold": 8191}
], "collectives": [{"name": "all", "shape": "kary", "fan_out": 2}]}
END
    write_monitor_map >"$1/whole.json"
}

# The monitor's own map, as printed by `eventspace collectives --print-map`: a thread
# for each of two internal nodes.
write_monitor_map() {
    host=$(hostname)
    cat <<END
{"version": 1, "name": "collective-operation monitor",
 "application": {"ranks": 4},
 "cluster": {"hosts": [{"name": "$host"}]},
 "mapping": {"ranks": [{"ranks": "0-3", "host": "$host"}]},
 "scopes": [
  {"name": "contributions", "view": {"classes": ["collective"]},
   "tree": {"type": "gather", "per": "scope", "children": [
    {"type": "gather", "per": "host", "children": [{"type": "element", "per": "element"}]}]}},
  {"name": "nodes", "view": {"classes": ["collective", "contribute", "arrival", "departure"]},
   "tree": {"type": "gather", "per": "scope", "children": [
    {"type": "threads", "per": "host", "children": [
     {"type": "tree-node", "per": "rank", "children": [
      {"type": "gather", "per": "rank", "children": [
       {"type": "element", "per": "element"}]}]}]}]}}
 ]}
END
}
