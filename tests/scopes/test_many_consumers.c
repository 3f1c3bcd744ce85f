/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Many consumers of many ranks on one host, through a tuple server with the usual limit
 * of open files.
 *
 * The load generator creates the ranks, a child is the server, and this process runs
 * the consumers.  MANY_RANKS, MANY_CONSUMERS and MANY_FILES in the environment set the
 * numbers, for measurements.
 */
#include "config.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/scopes/made_server.h"
#include "tests/suites.h"

#define HOST "many-0"

enum { RANKS = 1024, CONSUMERS = 64, FILES = 1024, TUPLES = 10, PULLS = 1000 };

struct scene {
    struct made_servers servers;
    struct made_server *server; /* in the child */
    pid_t load;
    pid_t child;
    int ranks;
    int consumer_count;
    struct made_consumer *consumers;
};

static int number(const char *name, int fallback)
{
    const char *text = getenv(name);

    return text ? atoi(text) : fallback;
}

/* --- The processes ---------------------------------------------------------------- */

/* Waits until the child has written `count` lines. */
static void await_lines(int descriptor, int count)
{
    char byte;

    while (count > 0) {
        assert_int_equal(read(descriptor, &byte, 1), 1);
        count -= byte == '\n';
    }
}

static void find_load(char *program, size_t size)
{
    const char *top = getenv("top_builddir");

    snprintf(program, size, "%s/bench/load", top ? top : "..");
}

static void run_load(struct scene *scene, int output)
{
    char ranks[16], tuples[16], program[4096];

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    snprintf(ranks, sizeof ranks, "%d", scene->ranks);
    snprintf(tuples, sizeof tuples, "%d", TUPLES);
    find_load(program, sizeof program);
    dup2(output, STDOUT_FILENO);
    execl(program, "load", "--run", scene->servers.run, "--host-prefix", "many",
          "--ranks", ranks, "--elements", "1", "--threshold", "15", "--count", tuples,
          "--rate", "100", "--seconds", "0", "--linger", "600", "--quiet", NULL);
    _exit(127);
}

static void run_server(struct scene *scene, int output)
{
    rlim_t files = (rlim_t)number("MANY_FILES", FILES);
    const struct rlimit limit = {.rlim_cur = files, .rlim_max = files};

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    made_server_start(&scene->servers, scene->server);
    dprintf(output, "ready\n");
    pause();
    _exit(0);
}

static pid_t start(struct scene *scene,
                   void (*run)(struct scene *scene, int output),
                   int lines)
{
    int ends[2];
    pid_t child;

    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        run(scene, ends[1]);
    }
    close(ends[1]);
    await_lines(ends[0], lines);
    close(ends[0]);
    return child;
}

static void begin(struct scene *scene)
{
    char run[64];

    *scene = (struct scene){.ranks = number("MANY_RANKS", RANKS),
                            .consumer_count = number("MANY_CONSUMERS", CONSUMERS)};
    snprintf(run, sizeof run, "many-%d", (int)getpid());
    made_servers_begin(&scene->servers, run);
    scene->server = made_server_name(&scene->servers, HOST);
    /* The first line says that the segments exist, the second that all is written. */
    scene->load = start(scene, run_load, 2);
    scene->child = start(scene, run_server, 1);
    scene->consumers = calloc((size_t)scene->consumer_count, sizeof *scene->consumers);
    assert_non_null(scene->consumers);
}

static void end(struct scene *scene)
{
    char path[128];

    kill(scene->child, SIGKILL);
    kill(scene->load, SIGTERM);
    waitpid(scene->child, NULL, 0);
    waitpid(scene->load, NULL, 0);
    free(scene->consumers);
    snprintf(path, sizeof path, "%s/%s", scene->servers.directory, HOST);
    unlink(path);
    rmdir(scene->servers.directory);
}

/* --- Resources of the server ------------------------------------------------------ */

static int count_descriptors(pid_t pid)
{
    char path[64];
    DIR *directory;
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void show_memory(pid_t pid, const char *when)
{
    char path[64], line[128];
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    assert_non_null(status);
    printf("# %s: %d descriptors", when, count_descriptors(pid));
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "RssAnon", 7) == 0 || strncmp(line, "VmPTE", 5) == 0 ||
            strncmp(line, "VmSize", 6) == 0)
            printf(", %.*s", (int)strcspn(line, "\n"), line);
    printf("\n");
    fclose(status);
}

/* --- Consumers -------------------------------------------------------------------- */

/* Another consumer, which uses the elements of the first one: a process cannot have as
 * many mappings as separate consumers would need. */
static void join(struct made_consumer *consumer, const struct made_consumer *first)
{
    size_t count = first->origins.count;

    *consumer = *first;
    consumer->run = NULL;
    consumer->origins.items = calloc(count, sizeof *consumer->origins.items);
    consumer->places.items = calloc(count, sizeof *consumer->places.items);
    assert_true(consumer->origins.items && consumer->places.items);
    memcpy(consumer->origins.items, first->origins.items,
           count * sizeof *consumer->origins.items);
    consumer->context.origins = &consumer->origins;
    consumer->context.places = &consumer->places;
    consumer->context.data = consumer;
}

/* Pulls until all tuples have been delivered. */
static void read_all(struct made_consumer *consumer, size_t expected)
{
    size_t count = 0;

    for (int i = 0; i < PULLS && count < expected; i++) {
        assert_int_equal(made_consumer_pull(consumer, expected, false, true), 0);
        count += consumer->batch.count;
        if (consumer->batch.notice_count > 0)
            fail_msg("%s is silent: %s", consumer->batch.notices[0].part,
                     strerror(-consumer->batch.notices[0].code));
    }
    assert_int_equal(count, expected);
}

static void many_consumers_read_many_ranks(void **state)
{
    struct scene scene;
    char program[4096];

    (void)state;
    find_load(program, sizeof program);
    if (access(program, X_OK) != 0) {
        printf("# skipped: %s is not built\n", program);
        skip();
    }
    begin(&scene);
    show_memory(scene.child, "before the first consumer");
    made_consumer_begin(&scene.consumers[0], &scene.servers);
    assert_int_equal(scene.consumers[0].origins.count, scene.ranks);
    for (int i = 1; i < scene.consumer_count; i++)
        join(&scene.consumers[i], &scene.consumers[0]);
    for (int i = 0; i < scene.consumer_count; i++) {
        made_consumer_open(
            &scene.consumers[i],
            made_consumer_node(&scene.consumers[i], "gather", HOST, HOST, "every"));
        read_all(&scene.consumers[i], (size_t)scene.ranks * TUPLES);
        if (i == 0)
            show_memory(scene.child, "with one consumer");
    }
    show_memory(scene.child, "with all consumers");
    assert_true(count_descriptors(scene.child) < scene.consumer_count + 32);
    for (int i = scene.consumer_count - 1; i >= 0; i--)
        made_consumer_end(&scene.consumers[i]);
    end(&scene);
}

SUITE(test_many_consumers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_consumers_read_many_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
