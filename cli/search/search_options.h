/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_options.h - the options of `eventspace search`. */
#ifndef ES_CLI_SEARCH_OPTIONS_H
#define ES_CLI_SEARCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/event_source.h"
#include "cli/search/search_sum.h"
#include "monitors/order/order.h"
#include "monitors/search/engine.h"

/* Texts are borrowed from the command line. */
struct esi_search_options {
    struct esi_event_source source;
    const char *patterns; /* -p */
    const char **names;   /* owned: selected predicates */
    unsigned name_count;
    const char *store; /* of the order; NULL = its default */
    struct esi_search_config config;
    void *tuning;           /* owned: of the engine, for `config`; or NULL */
    uint64_t memory_bytes;  /* of the order, when following; 0 = default */
    uint64_t kept_events;   /* when following; 0 = default */
    uint64_t time_limit_ns; /* for the whole search; 0 = none */
    bool is_list;
    bool is_all; /* the list includes predicates used by others */
    bool is_check;
    bool is_explain;
    bool is_count;
    bool is_sorted;
    bool is_brief;
    enum esi_search_by by; /* how matches are summed */
    bool statistics;
    enum esi_format format;
};

/* Ends the process on invalid options. */
void esi_search_options_parse(int argc,
                              char **argv,
                              struct esi_search_options *ret_options);
/* Creates the order of the events.  Returns 0, or the exit status after a message. */
int esi_search_options_create_order(const struct esi_search_options *given,
                                    struct es_order **ret_order);
/* Whether matches are printed with the details of their events. */
bool esi_search_options_show_details(const struct esi_search_options *given);
void esi_search_options_fini(struct esi_search_options *given);

#endif
