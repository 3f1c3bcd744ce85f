/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * causes.c - reads a recorded run, tells how two of its events stand to each other, and
 * lists the matches of a pattern.
 *
 *     cc -std=gnu17 -o causes causes.c `pkg-config --cflags --libs eventspace-order`
 *     causes ARCHIVE|SET TRACE:INDEX TRACE:INDEX PATTERNS PREDICATE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eventspace/event_set.h>
#include <eventspace/search.h>

static void fail(const char *what, const struct es_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    exit(EXIT_FAILURE);
}

static struct es_event_id find_event(const struct es_event_set *set, const char *text)
{
    struct es_event_id id = {.index = 0};
    char name[256] = "";
    int64_t trace = -1;

    if (sscanf(text, "%255[^:]:%u", name, &id.index) == 2)
        trace = es_event_set_find_trace(set, name);
    if (trace < 0)
        fail(text, &(struct es_error){.text = "no such event"});
    id.trace = (uint32_t)trace;
    return id;
}

static int print_match(void *data, const struct es_event_id *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%s:%u", i ? " " : "", es_event_set_trace_name(data, events[i].trace),
               events[i].index);
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *patterns;
    struct es_event_set *set;
    struct es_search *search;
    struct es_order *order;
    struct es_event_id a, b;
    int relation;

    if (argc != 6)
        fail("usage", &(struct es_error){.text = "causes SET A B PATTERNS PREDICATE"});
    if (es_event_set_open(argv[1], &error, &set) < 0)
        fail(argv[1], &error);
    if (es_pattern_file_read(argv[4], &patterns, &error) < 0)
        fail(argv[4], &error);
    if (es_order_open(NULL, 0, NULL, &error, &order) < 0 ||
        es_search_create(patterns, order, &error, &search) < 0)
        fail("search", &error);

    /* One reading fills the order and the search. */
    const bool attributes = es_search_needs_attributes(search);
    const struct es_set_sink sinks[] = {es_order_sink(order), es_search_sink(search)};
    if (es_event_set_read(set, sinks, 2, attributes, &error) < 0)
        fail(argv[1], &error);
    if (es_event_set_losses(set, NULL))
        puts("tuples or messages are missing: concurrent events may be ordered");

    a = find_event(set, argv[2]), b = find_event(set, argv[3]);
    relation = es_order_relation(order, a, b);
    printf("%s %s %s\n", argv[2],
           relation < 0 ? strerror(-relation) : es_relation_name(relation), argv[3]);

    if (es_search_find(search, es_pattern_find(patterns, argv[5]), print_match, set,
                       &error) < 0)
        fail(argv[5], &error);
    es_search_destroy(search);
    es_order_destroy(order);
    es_pattern_file_destroy(patterns);
    es_event_set_close(set);
    return EXIT_SUCCESS;
}
