/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_search.c - searches patterns or a text in the kept events. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "cli/interrupt.h"
#include "cli/page/page_asked.h"
#include "cli/search/search_file.h"
#include "eventspace/pattern.h"
#include "monitors/search/search.h"

#define TIME_LIMIT_NS (UINT64_C(10) * 1000000000)

enum { REPLAY_CHECKS = 4096 };

/* A search in progress. */
struct page_search {
    const struct esi_page_asked *asked;
    struct esi_row *row;          /* of the reply */
    struct esi_diagram_row *rows; /* owned: the rows at its start */
    struct es_pattern_file *file; /* owned */
    struct esi_domains *domains;  /* owned */
    uint64_t from_ns;             /* time of the first event examined */
    uint64_t deadline_ns;
    uint64_t events;
    uint64_t matches;
    bool is_complete;
    struct es_error error;
};

static bool is_searched(const struct page_search *search,
                        const struct esi_diagram_event *event)
{
    return event->row < search->asked->extent.rows && event->ns >= search->from_ns;
}

static bool is_late(struct page_search *search)
{
    if (++search->events % REPLAY_CHECKS == 0 &&
        (esi_interrupt_came() || esi_now_ns(CLOCK_MONOTONIC) > search->deadline_ns))
        search->is_complete = false;
    return !search->is_complete;
}

/* --- Matches ---------------------------------------------------------------------- */

static int put_match(void *data, const struct es_event_id *events, size_t count)
{
    struct page_search *search = data;

    esi_row_begin_array(search->row, NULL);
    for (size_t i = 0; i < count; i++)
        esi_page_put_event(search->asked, search->row, NULL, events[i]);
    esi_row_end(search->row);
    search->matches++;
    return 0;
}

static bool has_text(const char *text, const char *part)
{
    return text && strcasestr(text, part);
}

/* A call matches with its first event. */
static int match_text(void *data, const struct esi_diagram_event *event)
{
    struct page_search *search = data;
    const char *name = search->asked->query->name;

    if (is_late(search))
        return 1;
    if (!is_searched(search, event) || event->id.index != event->call.event)
        return 0;
    if (!has_text(event->type, name) && !has_text(event->call.site, name) &&
        !has_text(event->call.communicator, name) &&
        !has_text(search->rows[event->row].name, name))
        return 0;
    if (search->matches == search->asked->query->limit) {
        search->is_complete = false;
        return 1;
    }
    return put_match(search, &event->id, 1);
}

/* --- Patterns --------------------------------------------------------------------- */

static int read_patterns(struct page_search *search)
{
    const struct esi_page_query *query = search->asked->query;
    char *path;
    int result;

    if (query->given & ESI_PAGE_PATTERN)
        return es_pattern_file_parse(query->pattern, strlen(query->pattern), "pattern",
                                     &search->file, &search->error);
    if (asprintf(&path, "%s/mpi.pattern", esi_search_pattern_folder()) < 0)
        return -ENOMEM;
    result = es_pattern_file_read(path, &search->file, &search->error);
    free(path);
    return result;
}

/* The named predicate, or else the last one that no other uses. */
static int choose_predicate(struct page_search *search, uint32_t *ret_number)
{
    const char *name = search->asked->query->predicate;
    uint32_t count = es_pattern_predicates(search->file);

    if (*name) {
        *ret_number = es_pattern_find(search->file, name);
        return *ret_number == ES_PATTERN_NONE
                   ? es_error_set(&search->error, -EINVAL, "there is no predicate %s",
                                  name)
                   : 0;
    }
    while (count > 0)
        if (!esi_pattern_is_used(search->file, --count))
            return *ret_number = count, 0;
    return es_error_set(&search->error, -EINVAL,
                        "expected a predicate, such as M := (A -> B);");
}

static int is_wanted(void *data, const struct esi_diagram_event *event)
{
    struct page_search *search = data;

    return is_late(search) ? -ECANCELED : is_searched(search, event);
}

static int fill_domains(struct page_search *search, uint32_t predicate)
{
    bool *is_needed =
        calloc(es_pattern_predicates(search->file) + 1u, sizeof *is_needed);
    bool *is_class = calloc(esi_pattern_classes(search->file) + 1u, sizeof *is_class);
    int result = is_needed && is_class ? 0 : -ENOMEM;

    if (result == 0) {
        esi_pattern_reach(search->file, predicate, is_needed, is_class);
        result = esi_domains_create(search->file, is_needed, NULL, &search->domains,
                                    &search->error);
    }
    if (result == 0) {
        struct esi_page_replay replay = {.rows = search->rows,
                                         .sink = esi_domains_sink(search->domains),
                                         .is_wanted = is_wanted,
                                         .data = search};

        result = esi_page_replay(search->asked, &replay);
    }
    if (result == 0 || result == -ECANCELED)
        result = esi_domains_finish(search->domains);
    free(is_needed);
    free(is_class);
    return result;
}

static int search_patterns(struct page_search *search)
{
    const struct esi_match_sink sink = {.match = put_match, .data = search};
    struct esi_search_statistics statistics = {.is_complete = true};
    struct esi_search_config config;
    uint32_t predicate = ES_PATTERN_NONE;
    int result = read_patterns(search);

    if (result == 0)
        result = choose_predicate(search, &predicate);
    if (result == 0)
        result = fill_domains(search, predicate);
    if (result < 0)
        return result;
    esi_search_config_init(&config);
    config.limit = search->asked->query->limit;
    config.deadline_ns = search->deadline_ns;
    config.is_cancelled = esi_interrupt_flag();
    result = esi_search_run(search->file, predicate, search->domains,
                            esi_diagram_order(search->asked->diagram), &config, &sink,
                            &statistics, &search->error);
    search->is_complete &= statistics.is_complete;
    return result;
}

/* --- Searching -------------------------------------------------------------------- */

static int run_search(struct page_search *search)
{
    struct esi_diagram *diagram = search->asked->diagram;
    int result;

    search->rows = esi_page_copy_rows(search->asked);
    if (!search->rows)
        return -ENOMEM;
    if (search->asked->query->given & ESI_PAGE_NAME)
        result = esi_diagram_replay(diagram, match_text, search);
    else
        result = search_patterns(search);
    return result > 0 ? 0 : result;
}

void esi_page_make_search(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct page_search search = {.asked = asked,
                                 .row = row,
                                 .deadline_ns =
                                     esi_now_ns(CLOCK_MONOTONIC) + TIME_LIMIT_NS,
                                 .is_complete = true};
    int result;

    if (asked->query->given & ESI_PAGE_FROM)
        search.from_ns = esi_page_place_of(asked, ESI_DIAGRAM_TIME, asked->query->from);
    esi_row_begin_array(row, "matches");
    result = run_search(&search);
    esi_row_end(row);
    esi_row_bool(row, "complete", NULL, search.is_complete);
    if (result == -ENOMEM)
        esi_page_reply_fail(asked->reply, 503, "no memory");
    else if (result < 0)
        esi_page_reply_fail(asked->reply, 400, "pattern: %s",
                            search.error.text[0] ? search.error.text
                                                 : strerror(-result));
    esi_domains_destroy(search.domains);
    es_pattern_file_destroy(search.file);
    free(search.rows);
}
