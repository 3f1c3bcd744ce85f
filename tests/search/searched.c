/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* searched.c - a pattern text and a small set of events, ready to be searched. */
#include "config.h"

#include "tests/search/searched.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void searched_example(struct small_set *ret_set)
{
    uint32_t p;
    uint32_t q;
    uint32_t r;
    uint32_t first;

    small_set_init(ret_set);
    p = small_set_trace(ret_set, "P");
    q = small_set_trace(ret_set, "Q");
    r = small_set_trace(ret_set, "R");
    first = small_set_event(ret_set, p, ES_EVENT_SEND, "A", "", 0);
    small_set_event(ret_set, p, ES_EVENT_UNARY, "B", "", 0);
    small_set_event(ret_set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(first));
    small_set_event(ret_set, q, ES_EVENT_UNARY, "C", "", 0);
    small_set_event(ret_set, r, ES_EVENT_UNARY, "C", "", 0);
    small_set_close(ret_set);
}

void searched_init(struct searched *searched,
                   const char *text,
                   const struct small_set *set)
{
    struct esi_order_config config = {.store = NULL};
    struct es_set_sink sink;

    *searched = (struct searched){.set = set};
    if (es_pattern_file_parse(text, strlen(text), "test", &searched->file,
                              &searched->error) < 0)
        fail_msg("%s\n%s", searched->error.text, text);
    assert_int_equal(esi_order_create(&config, NULL, &searched->order), 0);
    sink = es_order_sink(searched->order);
    assert_int_equal(small_set_stream(set, NULL, &sink), 0);
    assert_int_equal(
        esi_domains_create(searched->file, NULL, NULL, &searched->domains, NULL), 0);
    sink = esi_domains_sink(searched->domains);
    assert_int_equal(small_set_stream(set, NULL, &sink), 0);
    assert_int_equal(esi_domains_finish(searched->domains), 0);
    esi_search_config_init(&searched->config);
}

void searched_fini(struct searched *searched)
{
    free(searched->matches);
    esi_domains_destroy(searched->domains);
    es_order_destroy(searched->order);
    es_pattern_file_destroy(searched->file);
}

/* --- Searching -------------------------------------------------------------------- */

static int take(void *data, const struct es_event_id *events, size_t count)
{
    struct searched *searched = data;
    uint64_t *matches =
        realloc(searched->matches, (searched->count + 1) * sizeof *searched->matches);
    uint64_t match = 0;

    if (!matches)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        match |= SMALL_BIT(small_set_find(searched->set, events[i]));
    searched->matches = matches;
    searched->matches[searched->count++] = match;
    return 0;
}

int searched_run(struct searched *searched,
                 const struct esi_engine_ops *engine,
                 const char *predicate)
{
    struct esi_match_sink sink = {.match = take, .data = searched};
    struct esi_search_task task = {
        .file = searched->file,
        .predicate = es_pattern_find(searched->file, predicate),
        .domains = searched->domains,
        .order = searched->order,
        .config = &searched->config,
    };

    searched->count = 0;
    es_error_clear(&searched->error);
    return esi_search_run_by(engine, &task, &sink, &searched->statistics,
                             &searched->error);
}

/* --- Comparing -------------------------------------------------------------------- */

static uint64_t parse(const struct small_set *set, const char *text)
{
    uint64_t match = 0;

    while (*text) {
        struct es_event_id id = {.trace = 0};

        while (set->names[id.trace][0] != toupper((unsigned char)*text))
            id.trace++;
        id.index = (uint32_t)strtoul(text + 1, NULL, 10);
        match |= SMALL_BIT(small_set_find(set, id));
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return match;
}

bool searched_are(const struct searched *searched, const char *const *matches)
{
    uint32_t wanted = 0;
    bool is_same = true;

    for (; matches[wanted]; wanted++) {
        uint64_t match = parse(searched->set, matches[wanted]);
        uint32_t found = 0;

        for (uint32_t i = 0; i < searched->count; i++)
            found += searched->matches[i] == match;
        if (found != 1) {
            print_message("# {%s} came %u times\n", matches[wanted], (unsigned)found);
            is_same = false;
        }
    }
    if (wanted != searched->count)
        print_message("# %u matches, not %u\n", (unsigned)searched->count,
                      (unsigned)wanted);
    return is_same && wanted == searched->count;
}
