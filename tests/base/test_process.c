/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Processes and the host: which processes are alive, and the name of the host. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host.h"
#include "base/process.h"
#include "tests/suites.h"

static pid_t fork_sleeper(void)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void this_process_lives(void **state)
{
    uint64_t start = 0;

    (void)state;
    assert_int_equal(esi_process_start_time(getpid(), &start), 0);
    assert_true(start > 0);
    assert_true(esi_process_is_alive(getpid(), start));
    assert_true(esi_process_is_alive(getpid(), 0));
}

static void a_recycled_pid_is_another_process(void **state)
{
    uint64_t start;

    (void)state;
    assert_int_equal(esi_process_start_time(getpid(), &start), 0);
    assert_false(esi_process_is_alive(getpid(), start + 1));
}

static void a_zombie_is_dead(void **state)
{
    pid_t pid = fork_sleeper();
    uint64_t start;
    siginfo_t info;

    (void)state;
    assert_int_equal(esi_process_start_time(pid, &start), 0);
    assert_true(esi_process_is_alive(pid, start));
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(esi_process_is_alive(pid, start));
    waitpid(pid, NULL, 0);
    assert_false(esi_process_is_alive(pid, start));
    assert_int_equal(esi_process_start_time(pid, &start), -ESRCH);
}

static void no_process_has_no_start_time(void **state)
{
    static const int pids[] = {0, -1, 2147483647};
    uint64_t start = 77;

    (void)state;
    for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
        assert_int_equal(esi_process_start_time(pids[i], &start), -ESRCH);
        assert_false(esi_process_is_alive(pids[i], 0));
    }
    assert_int_equal(start, 77);
}

/* /proc/PID/stat contains the program's name, which may look like other fields. */
static void a_confusing_name_confuses_nobody(void **state)
{
    uint64_t before, after;

    (void)state;
    assert_int_equal(esi_process_start_time(getpid(), &before), 0);
    assert_int_equal(prctl(PR_SET_NAME, ") Z 1 2 (x) 3"), 0);
    assert_int_equal(esi_process_start_time(getpid(), &after), 0);
    assert_int_equal(before, after);
    assert_true(esi_process_is_alive(getpid(), before));
}

static void the_host_name_is_the_name_space_s(void **state)
{
    char name[ES_HOST_NAME_BYTES];
    int status;
    pid_t pid;

    (void)state;
    assert_ptr_equal(esi_host_name(name), name);
    assert_true(strlen(name) > 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        static const char strange[] = "node/7 x.example-1_";

        if (unshare(CLONE_NEWUTS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWUTS) != 0)
            _exit(77);
        if (sethostname(strange, sizeof strange - 1) != 0)
            _exit(77);
        _exit(strcmp(esi_host_name(name), "node_7_x.example-1_") == 0 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("# no name space with a host name of its own can be made here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

SUITE(test_process)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_lives),
        cmocka_unit_test(a_recycled_pid_is_another_process),
        cmocka_unit_test(a_zombie_is_dead),
        cmocka_unit_test(no_process_has_no_start_time),
        cmocka_unit_test(a_confusing_name_confuses_nobody),
        cmocka_unit_test(the_host_name_is_the_name_space_s),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
