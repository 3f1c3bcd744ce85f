# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# windtunnel_is_deterministic.sh - the result of apps/windtunnel is the same, bit for
# bit, for each number of ranks, slices and threads.

. "${top_srcdir:?not set}/tests/apps/functions.sh"

picture=$(mktemp -d) || exit 99
trap 'rm -rf "$picture"' EXIT

# With 41 rows the slices of the last shape below have only two or three rows.
tunnel='--rows 41 --iterations 60 --check-every 7 --matrices 3'

# hash_of RANKS OPTIONS... - the hash that the wind tunnel prints.
hash_of() {
    local ranks=$1
    shift
    run "$ranks" windtunnel $tunnel "$@" | sed -n 's/^hash: //p'
}

reference=$(hash_of 1 --density "$picture/1.pgm")
check 'there is a hash' [ "${#reference}" -eq 16 ]

while read -r ranks slices threads; do
    what="$ranks ranks, $slices slices and $threads threads each"
    found=$(hash_of "$ranks" --slices "$slices" --threads "$threads")
    check "$what: $found" [ "$found" = "$reference" ]
done <<'SHAPES'
1 1 1
1 41 1
1 5 3
2 1 1
2 3 1
2 2 2
2 5 4
3 2 1
4 1 1
4 5 2
SHAPES

check 'the hash can be demanded' \
    run 2 windtunnel $tunnel --expect "$reference"
run 2 windtunnel $tunnel --expect 0123456789abcdef
expect 1 'another hash is refused'
for change in '--seed 2' '--obstacle plate' '--obstacle none' '--iterations 61'; do
    found=$(hash_of 1 $change)
    check "another hash with $change" [ "$found" != "$reference" ]
done

hash_of 3 --slices 2 --density "$picture/3.pgm" >"$picture/hash"
check 'the density is the same' cmp "$picture/1.pgm" "$picture/3.pgm"
check 'the density is a graymap of 20 x 10 blocks' \
    [ "$(head -c 13 "$picture/1.pgm" | tr '\n' ' ')" = 'P5 20 10 255 ' ]
check 'and complete' [ "$(wc -c <"$picture/1.pgm")" -eq $((13 + 200)) ]

run 2 windtunnel $tunnel --density "$picture/none/picture.pgm"
expect 1 'a picture that cannot be written is an error'

run 1 windtunnel --rows 32 --iterations 1000000000 --seconds 0.3 >"$picture/timed"
expect 0 'a time limit ends the run'

finish
