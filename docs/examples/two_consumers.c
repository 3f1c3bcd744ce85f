/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * two_consumers.c - two consumers of a run exchange results of their own through an
 * element that a tuple server holds.
 *
 *     cc -std=gnu17 -o two_consumers two_consumers.c `pkg-config --cflags --libs eventspace`
 *     two_consumers RUN give HOST COUNT     appends COUNT results to an element on HOST
 *     two_consumers RUN take HOST COUNT     waits for them, prints and removes them
 *
 * The two may run on different hosts; RUN's tuple servers know each other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <eventspace/server_element.h>

#define NAME "slowest ranks"
#define WAIT_NS UINT64_C(10000000000)

/* What one consumer leaves for the other: its size is a multiple of 4. */
struct result {
    uint32_t number;
    int32_t rank;
    uint64_t delay_ns;
};

enum { KEPT = 1000, CHUNK = 100 };

static int fail(const char *what, int code, const struct es_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text[0] ? error->text : strerror(-code));
    return EXIT_FAILURE;
}

static int give(struct es_servers *servers, const char *host, uint32_t count)
{
    struct es_error error = {.text = ""};
    struct es_server_element *element;
    int code = es_server_element_create(servers, host, NAME, sizeof(struct result),
                                        KEPT, &error, &element);

    if (code < 0)
        return fail("create", code, &error);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        struct result result = {.number = i, .rank = (int)i % 8, .delay_ns = 1000 * i};

        code = es_server_element_append(element, &result, 1);
    }
    es_server_element_close(element);
    return code < 0 ? fail("append", code, &error) : EXIT_SUCCESS;
}

/* Waits until the other consumer has made the element. */
static int open_soon(struct es_servers *servers,
                     const char *host,
                     struct es_error *error,
                     struct es_server_element **ret_element)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    int code = -ENOENT;

    for (int i = 0; i < 100 && code == -ENOENT; i++) {
        es_servers_refresh(servers);
        code = es_server_element_open(servers, host, NAME, error, ret_element);
        if (code == -ENOENT)
            nanosleep(&pause, NULL);
    }
    return code;
}

static int take(struct es_servers *servers, const char *host, uint32_t count)
{
    struct es_error error = {.text = ""};
    struct es_cursor cursor = {.position = 0};
    struct es_server_element *element;
    struct result results[CHUNK];
    int got = open_soon(servers, host, &error, &element);

    if (got < 0)
        return fail("open", got, &error);
    do {
        got = es_server_element_read(element, &cursor, results, CHUNK, WAIT_NS);
        for (int i = 0; i < got; i++)
            printf("%u: rank %d was late by %llu ns\n", results[i].number,
                   results[i].rank, (unsigned long long)results[i].delay_ns);
    } while (got > 0 && cursor.position < count);
    es_server_element_close(element);
    /* What was overwritten before it was read: keep more, or read more often. */
    printf("%llu lost\n", (unsigned long long)cursor.lost);
    if (got > 0)
        got = es_server_element_remove(servers, host, NAME, &error);
    return got < 0 ? fail("take", got, &error) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct es_error error = {.text = ""};
    struct es_servers *servers;
    uint32_t count;
    int status, code;

    if (argc != 5) {
        fprintf(stderr, "usage: two_consumers RUN give|take HOST COUNT\n");
        return 2;
    }
    count = (uint32_t)strtoul(argv[4], NULL, 10);
    code = es_servers_open(argv[1], NULL, &error, &servers);
    if (code < 0)
        return fail(argv[1], code, &error);
    status = strcmp(argv[2], "give") == 0 ? give(servers, argv[3], count)
                                          : take(servers, argv[3], count);
    es_servers_close(servers);
    return status;
}
