/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_case.c - a pattern text and a small event set, searched by every engine. */
#include "config.h"

#include "tests/search/search_case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/indexed/indexed.h"
#include "monitors/search/engine.h"
#include "monitors/search/thesis/tuning.h"

struct search_case {
    const struct small_set *set;
    struct es_pattern_file *file;
    struct es_order *order;
    struct esi_domains *domains;
};

/* --- From text and events to a search --------------------------------------------- */

/* A sink that passes everything to two sinks. */
struct both {
    struct es_set_sink order;
    struct es_set_sink domains;
};

static int both_trace(void *data, uint32_t trace, const char *name)
{
    struct both *both = data;
    int code = both->order.trace(both->order.data, trace, name);

    return code < 0 ? code : both->domains.trace(both->domains.data, trace, name);
}

static int both_event(void *data, const struct es_set_event *event)
{
    struct both *both = data;
    int code = both->order.event(both->order.data, event);

    return code < 0 ? code : both->domains.event(both->domains.data, event);
}

static int stream(struct search_case *search, const uint32_t *order)
{
    struct both both = {es_order_sink(search->order),
                        esi_domains_sink(search->domains)};
    struct es_set_sink sink = {both_trace, both_event, &both};
    int code = small_set_stream(search->set, order, &sink);

    if (code < 0)
        return code;
    code = es_order_sink_end(search->order);
    return code < 0 ? code : esi_domains_finish(search->domains);
}

static int fill(struct search_case *search,
                const char *text,
                const uint32_t *order,
                struct es_error *error)
{
    struct esi_order_config config = {.store = NULL};
    int code = es_pattern_file_parse(text, strlen(text), "case", &search->file, error);

    if (code < 0)
        return code;
    code = esi_order_create(&config, error, &search->order);
    if (code < 0)
        return code;
    code = esi_domains_create(search->file, NULL, NULL, &search->domains, error);
    return code < 0 ? code : stream(search, order);
}

int search_case_create(const char *text,
                       const struct small_set *set,
                       const uint32_t *order,
                       struct search_case **ret_search,
                       struct es_error *error)
{
    struct search_case *search = calloc(1, sizeof *search);
    int code;

    if (!search)
        return -ENOMEM;
    search->set = set;
    code = fill(search, text, order, error);
    if (code < 0) {
        search_case_destroy(search);
        return code;
    }
    *ret_search = search;
    return 0;
}

void search_case_destroy(struct search_case *search)
{
    if (!search)
        return;
    esi_domains_destroy(search->domains);
    es_order_destroy(search->order);
    es_pattern_file_destroy(search->file);
    free(search);
}

const struct es_pattern_file *search_case_file(const struct search_case *search)
{
    return search->file;
}

/* --- Searching -------------------------------------------------------------------- */

struct collector {
    const struct small_set *set;
    struct search_answer answer;
};

static void insert(struct search_answer *answer, uint64_t events)
{
    uint32_t at = answer->count;

    while (at > 0 && answer->matches[at - 1] > events)
        at--;
    answer->has_repeats |= at > 0 && answer->matches[at - 1] == events;
    memmove(&answer->matches[at + 1], &answer->matches[at],
            (answer->count - at) * sizeof *answer->matches);
    answer->matches[at] = events;
    answer->count++;
}

static bool is_less(struct es_event_id a, struct es_event_id b)
{
    return a.trace < b.trace || (a.trace == b.trace && a.index < b.index);
}

static int collect(void *data, const struct es_event_id *events, size_t count)
{
    struct collector *collector = data;
    struct search_answer *answer = &collector->answer;
    uint64_t *matches =
        reallocarray(answer->matches, answer->count + 1, sizeof *matches);
    uint64_t set = 0;

    if (!matches)
        return -ENOMEM;
    answer->matches = matches;
    for (size_t i = 0; i < count; i++) {
        answer->is_sorted &= i == 0 || is_less(events[i - 1], events[i]);
        set |= SMALL_BIT(small_set_find(collector->set, events[i]));
    }
    insert(answer, set);
    return 0;
}

int search_case_give(const struct search_case *search,
                     const char *predicate,
                     const struct esi_search_config *config,
                     const struct esi_match_sink *sink,
                     struct esi_search_statistics *ret_statistics,
                     struct es_error *error)
{
    uint32_t number = es_pattern_find(search->file, predicate);

    if (number == ES_PATTERN_NONE)
        return -ENOENT;
    return esi_search_run(search->file, number, search->domains, search->order, config,
                          sink, ret_statistics, error);
}

int search_case_explain(const struct search_case *search,
                        const char *predicate,
                        const struct esi_search_config *config,
                        FILE *out,
                        struct es_error *error)
{
    uint32_t number = es_pattern_find(search->file, predicate);

    if (number == ES_PATTERN_NONE)
        return -ENOENT;
    return esi_search_explain(search->file, number, search->domains, search->order,
                              config, out, error);
}

int search_case_run(const struct search_case *search,
                    const char *predicate,
                    const struct esi_search_config *config,
                    struct search_answer *ret_answer,
                    struct es_error *error)
{
    struct collector collector = {.set = search->set, .answer = {.is_sorted = true}};
    struct esi_match_sink sink = {collect, &collector};
    int code = search_case_give(search, predicate, config, &sink,
                                &collector.answer.statistics, error);

    if (code < 0) {
        free(collector.answer.matches);
        return code;
    }
    *ret_answer = collector.answer;
    return 0;
}

void search_answer_clear(struct search_answer *answer)
{
    free(answer->matches);
    *answer = (struct search_answer){.count = 0};
}

/* --- Comparison ------------------------------------------------------------------- */

static const char *form_fault(const struct search_answer *answer)
{
    if (answer->has_repeats)
        return "a match is given twice";
    if (!answer->is_sorted)
        return "the events of a match are not sorted";
    if (answer->statistics.matches != answer->count)
        return "as many matches are told as were not given";
    return NULL;
}

const char *search_answer_fault(const struct search_answer *answer,
                                const struct reference_answer *expected)
{
    const char *fault = form_fault(answer);

    if (fault)
        return fault;
    if (answer->count != expected->count ||
        (answer->count > 0 && memcmp(answer->matches, expected->matches,
                                     answer->count * sizeof *answer->matches) != 0))
        return "other matches";
    if (answer->statistics.assignments != expected->assignments)
        return "another count of assignments";
    return answer->statistics.is_complete ? NULL : "it says that it is not complete";
}

static bool is_expected(const struct reference_answer *expected, uint64_t match)
{
    for (uint32_t i = 0; i < expected->count; i++)
        if (expected->matches[i] == match)
            return true;
    return false;
}

const char *search_answer_limited_fault(const struct search_answer *answer,
                                        const struct reference_answer *expected,
                                        uint64_t limit)
{
    const char *fault = form_fault(answer);

    if (fault)
        return fault;
    if (answer->count != (expected->count < limit ? expected->count : limit))
        return "not as many matches as the limit allows";
    for (uint32_t i = 0; i < answer->count; i++)
        if (!is_expected(expected, answer->matches[i]))
            return "a match that is none";
    return NULL;
}

/* --- Engines and their options ---------------------------------------------------- */

static struct search_case_config configs[64];
static size_t config_count;

static struct esi_search_config *add_config(const char *engine, const char *name)
{
    struct search_case_config *config = &configs[config_count++];

    snprintf(config->name, sizeof config->name, "%s %s", engine, name);
    esi_search_config_init(&config->config);
    config->config.engine = engine;
    return &config->config;
}

static void add_closures(void)
{
    static const char *const methods[] = {"existing", "step", "binary", "jump"};
    static struct esi_closure_tuning tunings[8];
    char name[40];

    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%s%s", methods[i / 2], i % 2 ? ", combining" : "");
        tunings[i].method = (enum esi_closure_method)(i / 2);
        tunings[i].combining = i % 2;
        add_config("closure", name)->tuning = &tunings[i];
    }
}

static void add_rewrites(void)
{
    static const char *const orders[] = {"as written", "brute", "success", "cluster"};
    static struct esi_rewrite_tuning tunings[16];
    char name[40];

    for (unsigned i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "%s%s%s", orders[i / 4], i % 2 ? ", pruned" : "",
                 i / 2 % 2 ? ", failed first" : "");
        tunings[i].reordering = (enum esi_reordering)(i / 4);
        tunings[i].prune = i % 2;
        tunings[i].failed_first = i / 2 % 2;
        add_config("rewrite", name)->tuning = &tunings[i];
    }
}

static void add_indexed(void)
{
    static const struct esi_indexed_tuning eager = {.listed_share = 1,
                                                    .sorted_share = 1};
    struct esi_search_config *at_once;

    add_config("indexed", "1 thread")->threads = 1;
    add_config("indexed", "2 threads")->threads = 2;
    /* Otherwise small searches end before other threads start or an index is made. */
    at_once = add_config("indexed", "4 threads at once");
    at_once->threads = 4;
    at_once->tuning = &eager;
}

static void add_configs(void)
{
    if (config_count > 0)
        return;
    for (unsigned i = 0; esi_engines[i]; i++)
        if (esi_engines[i] == &esi_engine_indexed)
            add_indexed();
        else if (esi_engines[i] == &esi_engine_closure)
            add_closures();
        else if (esi_engines[i] == &esi_engine_rewrite)
            add_rewrites();
        else
            add_config(esi_engines[i]->name, "as it is");
}

size_t search_case_config_count(void)
{
    add_configs();
    return config_count;
}

const struct search_case_config *search_case_config(size_t number)
{
    add_configs();
    return &configs[number];
}
