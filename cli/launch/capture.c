/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Runs another program and captures its output, with a time limit. */
#include "config.h"

#include "cli/launch/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int start_program(char *const argv[], int output, pid_t *ret_child)
{
    posix_spawn_file_actions_t actions;

    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return -failure;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    failure = posix_spawnp(ret_child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -failure;
}

/* Reads to the end of the output and drops what does not fit, so that the program can
 * end. */
static bool read_all(int input, int64_t deadline, char *out, size_t size)
{
    size_t length = 0;
    char rest[512];

    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        int64_t left = deadline - now_ms();
        out[length] = '\0';
        if (left <= 0 || poll(&ready, 1, (int)left) == 0)
            return false;
        bool full = length + 1 >= size;
        ssize_t count = full ? read(input, rest, sizeof rest)
                             : read(input, out + length, size - 1 - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return true;
        if (!full)
            length += (size_t)count;
    }
}

int esi_capture(char *const argv[], int limit_ms, char *out, size_t size)
{
    int64_t deadline = now_ms() + limit_ms;
    int ends[2], status;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    int code = start_program(argv, ends[1], &child);
    close(ends[1]);
    if (code < 0) {
        close(ends[0]);
        return code;
    }
    bool complete = read_all(ends[0], deadline, out, size);
    close(ends[0]);
    if (!complete)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    if (!complete)
        return -ETIMEDOUT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}
