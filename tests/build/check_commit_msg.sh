#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_commit_msg.sh - tools/check-commit-msg accepts good messages and finds each
# fault.

set -u
. "$top_srcdir/tests/checks.sh"

check_msg="$top_srcdir/tools/check-commit-msg"
body='Something was wrong.

It is right now: the change is small.'

judge() { # TEXT - writes the output of the check to $said
    said=$(printf '%s\n' "$1" | "$PYTHON" "$check_msg" - 2>&1)
}

takes() { # WHAT TEXT
    judge "$2"
    expect 0 "takes $1${said:+: $said}"
}

finds() { # LINE FAULT TEXT
    judge "$3"
    expect 1 "a message is refused"
    [[ $said == *"message:$1: "*"$2"* ]]
    expect 0 "line $1 $2, said is: $said"
}

wide=$(printf 'w%.0s' {1..70})
takes "subject and body" "scopes: close what was opened

$body"
takes "several areas, and comments of git" "scopes, tests/scopes: close it
# Please enter the commit message

$body
# ------------------------ >8 ------------------------
diff --git a/x b/x"
takes "a wide address" "docs: name the source

$body
https://$wide.org"
takes "a merge" "Merge branch 'x'"
takes "a revert" 'Revert "scopes: x"'
takes "a fixup" 'fixup! scopes: x'

finds 1 "area: what" "close what was opened

$body"
finds 1 "area: what" "scopes:close

$body"
finds 1 "columns wide" "scopes: $wide

$body"
finds 1 "full stop" "scopes: close what was opened.

$body"
finds 1 "no body" "scopes: close what was opened"
finds 2 "has to be empty" "scopes: close
$body"
finds 3 "columns wide" "scopes: close

It is $wide. It was not."
finds 3 "two sentences" "scopes: close

It is closed."
finds 3 "two sentences" "scopes: close

It is closed.
Signed-off-by: A. U. Thor."
judge ''
expect 1 "an empty message is a fault"
"$PYTHON" "$check_msg" 2>/dev/null
expect 2 "without arguments it says how it is used"

# The messages of a range of commits.
command -v git >/dev/null || finish
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
git init -q .
commit() {
    printf '%s\n' "$1" | git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -F -
}
commit "base: begin

$body"
commit "base: go on

$body"
check "a good range passes" "$PYTHON" "$check_msg" --range HEAD~1..HEAD
commit "no area"
"$PYTHON" "$check_msg" --range HEAD~2..HEAD >found
expect 1 "a range with a bad message fails"
check "the bad message is named" grep -q "^$(git rev-parse --short HEAD):1: does not" found
check "good ones are not" grep -q '^2 messages, 2 faults' found
"$PYTHON" "$check_msg" --range nothing..HEAD >found 2>&1
expect 128 "an unknown range is git's error"

finish
