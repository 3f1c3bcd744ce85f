# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# collective_rules.sh - parts of pathmaps for bench/collective; sourced.
# shellcheck shell=sh

# Collectors of operations; those at edges of trees are off on communicators whose name
# ends with ".quiet".
tree_collectors() {
    cat <<'END'
  {"name": "operations", "classes": ["collective", "communicator"]},
  {"name": "quiet", "classes": ["contribute", "arrival", "departure"],
   "communicator": "*.quiet", "enabled": false, "threshold": 64},
  {"name": "contribute", "classes": ["contribute"]},
  {"name": "arrival", "classes": ["arrival"]},
  {"name": "departure", "classes": ["departure"]}
END
}

# members_of TREE: the members of a rule for a tree in short form, such as kary:4.
members_of() {
    fan_out=
    case $1 in
    linear | binomial | exchange | library) printf '"shape": "%s"' "$1" ;;
    kary:*) printf '"shape": "kary", "fan_out": %s' "${1#kary:}" ;;
    levels:*)
        levels=${1#levels:}
        case $levels in
        *:*) fan_out=${levels#*:} levels=${levels%%:*} ;;
        esac
        printf '"shape": "levels", "levels": ["%s"]' "$(echo "$levels" | sed 's/,/", "/g')"
        [ -z "$fan_out" ] || printf ', "fan_out": %s' "$fan_out"
        ;;
    *)
        echo "no tree $1: expected linear, binomial, exchange, kary:N or levels:LEVEL,..." >&2
        return 2
        ;;
    esac
}

# tree_rules "TREE..": a rule for each tree, for communicators of its name, with and
# without ".quiet".
tree_rules() {
    number=0
    for tree in $1; do
        number=$((number + 1))
        [ $number -eq 1 ] || echo ','
        printf '  {"name": "tree%d", "communicator": "%s", ' "$number" "$tree"
        members_of "${tree%.quiet}"
        printf '}'
    done
    echo
}
