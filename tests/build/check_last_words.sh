#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_last_words.sh - if a thread ends a test program, the program reports the reason
# and the backtraces of that thread and of the test.

set -eu

echo '#include <cmocka.h>' | $CC -E -x c - >/dev/null 2>&1 || {
    echo "skipped: no cmocka"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/fall.c" <<'EOF'
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"

static int *volatile nowhere;

static void *crash(void *data)
{
    *nowhere = 1;
    return data;
}

static void *check(void *data)
{
    assert_null(data);
    return data;
}

static void run(void *(*of_thread)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, of_thread, &thread), 0);
    pthread_join(thread, NULL);
}

static void a_thread_crashes(void **state)
{
    (void)state;
    run(crash);
}

static void a_thread_checks(void **state)
{
    (void)state;
    run(check);
}

SUITE(test_fall)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_crashes),
        cmocka_unit_test(a_thread_checks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
EOF
$CC -g -pthread -DHAVE_CONFIG_H -I"$top_builddir" -I"$top_srcdir" -o "$work/fall" \
    "$work/fall.c" "$top_srcdir/tests/suites.c" "$top_srcdir/tests/last_words.c" -lcmocka

# falls PATTERN SIGN... : the tests that match PATTERN end as by exit(-1), and print
# each SIGN.
falls()
{
    local pattern=$1 sign status=0
    shift
    CMOCKA_MESSAGE_OUTPUT=TAP "$work/fall" test_fall "$pattern" >"$work/output" 2>&1 ||
        status=$?
    for sign in "$@"; do
        grep -q "$sign" "$work/output" || {
            cat "$work/output"
            echo "$pattern: no '$sign'"
            exit 1
        }
    done
    [ $status -eq 255 ] || {
        echo "$pattern: ends with $status"
        exit 1
    }
}

lines=()
command -v addr2line >/dev/null && lines=('at fall\.c:')
falls '*crashes' '^Bail out! test_fall: .*: Segmentation fault' 'the thread of the test:' \
    "${lines[@]/#/^crash }" "${lines[@]/#/a_thread_crashes }"
falls '*checks' '^Bail out! test_fall: .*: a failed assertion' "${lines[@]/#/^check }"
