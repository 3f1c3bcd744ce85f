/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domains.c - sorts the events of a stream into classes. */
#include "config.h"

#include "monitors/search/domains/domains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/eventset/trace_names.h"
#include "monitors/search/domains/class_match.h"
#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/domains/domains_ask.h"
#include "monitors/search/domains/partner_classes.h"

struct domain_class {
    struct esi_ask ask;
    struct esi_domain *domain;  /* NULL: no occurrence uses its events */
    struct esi_domain *waiting; /* for a class with partners: events whose own
                                   conditions hold */
};

struct esi_domains {
    const struct es_pattern_file *file; /* borrowed */
    struct esi_domains_listener listener;
    struct domain_class *classes;
    uint32_t class_count;
    uint64_t *plain;   /* classes with a domain and no partners */
    uint64_t *waiting; /* classes with a domain and with partners */
    uint64_t *met;     /* [class][word]: plain classes that share an event with it */
    uint64_t meetings; /* number of changes */
    struct esi_class_match *match;
    struct esi_partner_classes *partners; /* NULL if no class has any */
    struct esi_trace_names names;
    struct esi_texts texts;           /* of values */
    struct esi_value *values;         /* scratch: of one event for one class */
    const struct es_set_event *event; /* the event being sorted */
    bool is_finished;
    uint64_t missed; /* events that would have joined late */
};

/* --- Creation --------------------------------------------------------------------- */

/* Determines the classes that the needed predicates reach, and the data they use. */
static int ask_classes(struct esi_domains *domains,
                       const bool *is_predicate_needed,
                       bool *is_class_needed,
                       struct es_error *error)
{
    uint32_t predicates = es_pattern_predicates(domains->file);
    bool *needed = calloc(predicates + 1, sizeof *needed);
    struct esi_ask *asks = calloc((size_t)domains->class_count + 1, sizeof *asks);
    int result = needed && asks ? 0 : -ENOMEM;

    for (uint32_t p = 0; result == 0 && p < predicates; p++)
        if (!is_predicate_needed || is_predicate_needed[p])
            esi_pattern_reach(domains->file, p, needed, is_class_needed);
    for (uint32_t p = 0; result == 0 && p < predicates; p++)
        if (needed[p])
            result = esi_ask_predicate(domains->file, p, asks, error);
    for (uint32_t c = 0; asks && c < domains->class_count; c++)
        domains->classes[c].ask = asks[c];
    free(asks);
    free(needed);
    return result;
}

static int create_domain(struct esi_domains *domains, uint32_t c, size_t *most_values)
{
    struct domain_class *class = &domains->classes[c];
    struct esi_keeps *keeps = &class->ask.keeps;
    bool has_partners = esi_pattern_class(domains->file, c)->partner_count > 0;
    uint64_t *set = has_partners ? domains->waiting : domains->plain;

    if (!class->ask.is_value)
        return 0;
    keeps->types = esi_class_match_types(domains->match);
    keeps->texts = &domains->texts;
    if (keeps->asked_count > *most_values)
        *most_values = keeps->asked_count;
    set[c / 64] |= UINT64_C(1) << c % 64;
    if (esi_domain_create(keeps, &class->domain) < 0 ||
        (has_partners && esi_domain_create(keeps, &class->waiting) < 0))
        return -ENOMEM;
    return 0;
}

static int create_domains(struct esi_domains *domains)
{
    size_t words = esi_class_match_words(domains->match);
    size_t most_values = 0;
    int result = 0;

    domains->plain = calloc(2 * words, sizeof *domains->plain);
    if (!domains->plain)
        return -ENOMEM;
    domains->waiting = domains->plain + words;
    for (uint32_t c = 0; result == 0 && c < domains->class_count; c++)
        result = create_domain(domains, c, &most_values);
    domains->values = calloc(most_values + 1, sizeof *domains->values);
    domains->met = calloc(domains->class_count * words + 1, sizeof *domains->met);
    return domains->values && domains->met ? result : -ENOMEM;
}

static int joined_late(void *data, uint32_t class_number, struct es_event_id id);

static int fill_columns(struct esi_domains *domains,
                        const bool *is_predicate_needed,
                        struct es_error *error)
{
    bool *needed = calloc((size_t)domains->class_count + 1, sizeof *needed);
    int result;

    domains->classes =
        calloc((size_t)domains->class_count + 1, sizeof *domains->classes);
    if (!needed || !domains->classes) {
        free(needed);
        return -ENOMEM;
    }
    result = ask_classes(domains, is_predicate_needed, needed, error);
    if (result == 0)
        result = esi_class_match_create(domains->file, needed, &domains->match, error);
    if (result == 0)
        result = esi_partner_classes_create(domains->file, needed, joined_late, domains,
                                            &domains->partners);
    if (result == 0)
        result = create_domains(domains);
    free(needed);
    return result;
}

int esi_domains_create(const struct es_pattern_file *file,
                       const bool *is_predicate_needed,
                       const struct esi_domains_listener *listener,
                       struct esi_domains **ret_domains,
                       struct es_error *error)
{
    struct esi_domains *domains = calloc(1, sizeof *domains);
    int result;

    if (!domains)
        return -ENOMEM;
    domains->file = file;
    domains->class_count = esi_pattern_classes(file);
    esi_texts_init(&domains->texts);
    if (listener)
        domains->listener = *listener;
    result = fill_columns(domains, is_predicate_needed, error);
    if (result < 0) {
        esi_domains_destroy(domains);
        return result;
    }
    *ret_domains = domains;
    return 0;
}

void esi_domains_destroy(struct esi_domains *domains)
{
    if (!domains)
        return;
    for (uint32_t c = 0; domains->classes && c < domains->class_count; c++) {
        esi_domain_destroy(domains->classes[c].domain);
        esi_domain_destroy(domains->classes[c].waiting);
        esi_ask_fini(&domains->classes[c].ask);
    }
    esi_partner_classes_destroy(domains->partners);
    esi_class_match_destroy(domains->match);
    esi_trace_names_fini(&domains->names);
    esi_texts_fini(&domains->texts);
    free(domains->plain);
    free(domains->met);
    free(domains->values);
    free(domains->classes);
    free(domains);
}

/* --- Joining ---------------------------------------------------------------------- */

static int keep_value(struct esi_domains *domains,
                      const struct esi_asked *asked,
                      struct esi_value *ret_value)
{
    const struct es_set_event *event = domains->event;
    const char *name = asked->field == ES_FIELD_ATTRIBUTE
                           ? esi_pattern_attribute(domains->file, asked->attribute)
                           : NULL;
    struct esi_event_value value;
    char room[ESI_NUMBER_TEXT];

    *ret_value = (struct esi_value){.form = ESI_VALUE_ABSENT};
    if (!esi_event_value(event, esi_domains_trace_name(domains, event->id.trace),
                         asked->field, name, &value))
        return 0;
    ret_value->form = ESI_VALUE_NUMBER;
    if (asked->expression) {
        ret_value->number = esi_expression_matches(asked->expression,
                                                   esi_event_value_text(&value, room));
        return 0;
    }
    if (esi_event_value_number(&value, &ret_value->number))
        return 0;
    ret_value->form = ESI_VALUE_TEXT;
    return esi_texts_add(&domains->texts, value.text, strlen(value.text),
                         &ret_value->text);
}

/* Collects the data of the event that a class keeps. */
static int make_row(struct esi_domains *domains,
                    const struct esi_keeps *keeps,
                    uint32_t type,
                    struct esi_domain_row *ret_row)
{
    const struct es_set_event *event = domains->event;
    struct esi_domain_row row = {.index = event->id.index,
                                 .type = type,
                                 .time = ESI_NO_TIME,
                                 .values = domains->values,
                                 .is_sync = event->kind == ES_EVENT_SYNC};
    int result = 0;

    if (keeps->times)
        esi_event_time(event, &row.time);
    if (keeps->partners && event->kind != ES_EVENT_SEND) {
        row.partners = event->partners;
        row.partner_count = event->partner_count;
    }
    for (uint32_t i = 0; result == 0 && i < keeps->asked_count; i++)
        result = keep_value(domains, &keeps->asked[i], &domains->values[i]);
    if (result == 0)
        *ret_row = row;
    return result;
}

static int report_partners(struct esi_domains *domains,
                           uint32_t class_number,
                           struct es_event_id id)
{
    if (!domains->listener.joined)
        return 0;
    return domains->listener.joined(domains->listener.data, class_number, id);
}

/* Stores an event that waits for its partners. */
static int wait_for_partners(struct esi_domains *domains, uint32_t c, uint32_t type)
{
    struct domain_class *class = &domains->classes[c];
    struct esi_domain_row row;
    int result = make_row(domains, &class->ask.keeps, type, &row);

    if (result < 0)
        return result;
    return esi_domain_add(class->waiting, domains->event->id.trace, &row, false);
}

/* `may_wait` is that of esi_domain_add(). */
static int add_to_class(struct esi_domains *domains,
                        uint32_t c,
                        uint32_t trace,
                        const struct esi_domain_row *row,
                        bool may_wait)
{
    struct esi_domain *domain = domains->classes[c].domain;

    domains->meetings += row->is_sync && !esi_domain_has_syncs(domain);
    return esi_domain_add(domain, trace, row, may_wait);
}

static int join_partners(struct esi_domains *domains, uint32_t c, uint32_t type)
{
    struct esi_domain_row row;
    int result = make_row(domains, &domains->classes[c].ask.keeps, type, &row);

    if (result == 0)
        result = add_to_class(domains, c, domains->event->id.trace, &row, false);
    return result < 0 ? result : report_partners(domains, c, domains->event->id);
}

/* The partners of an event, either the one being sorted or an older one, are complete.
 * Without a listener the columns are only read at the end, when they are sorted. */
static int joined_late(void *data, uint32_t class_number, struct es_event_id id)
{
    struct esi_domains *domains = data;
    struct domain_class *class = &domains->classes[class_number];
    struct esi_domain_row row;
    int result;

    if (!class->domain)
        return 0;
    if (!esi_domain_row(class->waiting, id, &row)) {
        domains->missed++;
        return 0;
    }
    result =
        add_to_class(domains, class_number, id.trace, &row, !domains->listener.joined);
    return result < 0 ? result : report_partners(domains, class_number, id);
}

static int each_class(struct esi_domains *domains,
                      const uint64_t *classes,
                      const uint64_t *of,
                      int (*take)(struct esi_domains *, uint32_t, uint32_t),
                      uint32_t type)
{
    size_t words = esi_class_match_words(domains->match);
    int result = 0;

    for (size_t word = 0; word < words; word++)
        for (uint64_t left = classes[word] & of[word]; left && result == 0;
             left &= left - 1)
            result = take(
                domains, (uint32_t)(word * 64) + (unsigned)__builtin_ctzll(left), type);
    return result;
}

/* Whether one of the event's classes has a domain. */
static bool is_kept(const struct esi_domains *domains, const uint64_t *classes)
{
    bool has_partners = domains->event->kind != ES_EVENT_UNARY;

    for (size_t word = 0; word < esi_class_match_words(domains->match); word++)
        if (classes[word] &
            (domains->plain[word] | (has_partners ? domains->waiting[word] : 0)))
            return true;
    return false;
}

/* Notes that the plain classes of an event share it. */
static void note_met(struct esi_domains *domains, const uint64_t *classes)
{
    size_t words = esi_class_match_words(domains->match);

    for (size_t at = 0; at < words; at++)
        for (uint64_t left = classes[at] & domains->plain[at]; left; left &= left - 1) {
            size_t class_number = at * 64 + (unsigned)__builtin_ctzll(left);
            uint64_t *met = &domains->met[class_number * words];

            for (size_t word = 0; word < words; word++) {
                uint64_t others = classes[word] & domains->plain[word];

                domains->meetings += (others & ~met[word]) != 0;
                met[word] |= others;
            }
        }
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_domains *domains = data;
    const uint64_t *classes;
    uint32_t type;
    int result = domains->is_finished
                     ? -EINVAL
                     : esi_class_match_event(domains->match, event, &classes, &type);

    if (result < 0)
        return result;
    domains->event = event;
    if (result > 0) {
        note_met(domains, classes);
        result = each_class(domains, classes, domains->plain, join_partners, type);
        if (result == 0 && event->kind != ES_EVENT_UNARY)
            result =
                each_class(domains, classes, domains->waiting, wait_for_partners, type);
        if (result == 0 && domains->listener.kept && is_kept(domains, classes))
            result = domains->listener.kept(domains->listener.data, event);
    }
    if (result == 0 && domains->partners)
        result = esi_partner_classes_event(domains->partners, event, classes);
    domains->event = NULL;
    return result;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_domains *domains = data;

    if (domains->is_finished)
        return -EINVAL;
    if (esi_trace_names_add(&domains->names, name) < 0)
        return -ENOMEM;
    return esi_class_match_add_trace(domains->match, domains->names.names[trace]);
}

struct es_set_sink esi_domains_sink(struct esi_domains *domains)
{
    return (struct es_set_sink){take_trace, take_event, domains};
}

int esi_domains_finish(struct esi_domains *domains)
{
    if (domains->is_finished)
        return 0;
    domains->is_finished = true;
    for (uint32_t c = 0; c < domains->class_count; c++) {
        struct domain_class *class = &domains->classes[c];
        esi_domain_destroy(class->waiting);
        class->waiting = NULL;
        if (class->domain && esi_domain_sort(class->domain) < 0)
            return -ENOMEM;
    }
    esi_partner_classes_destroy(domains->partners);
    domains->partners = NULL;
    return 0;
}

/* --- Queries ---------------------------------------------------------------------- */

const struct esi_domain *esi_domains_class(const struct esi_domains *domains,
                                           uint32_t class_number)
{
    return domains->classes[class_number].domain;
}

bool esi_domains_have_met(const struct esi_domains *domains, uint32_t a, uint32_t b)
{
    size_t words = esi_class_match_words(domains->match);

    return domains->met[a * words + b / 64] >> b % 64 & 1;
}

uint64_t esi_domains_meetings(const struct esi_domains *domains)
{
    return domains->meetings;
}

bool esi_domains_need_attributes(const struct esi_domains *domains)
{
    for (uint32_t c = 0; c < domains->class_count; c++) {
        const struct esi_keeps *keeps = &domains->classes[c].ask.keeps;
        if (keeps->times)
            return true;
        for (uint32_t i = 0; i < keeps->asked_count; i++)
            if (keeps->asked[i].field == ES_FIELD_ATTRIBUTE)
                return true;
    }
    return esi_class_match_needs_attributes(domains->match);
}

const char *esi_domains_trace_name(const struct esi_domains *domains, uint32_t trace)
{
    return trace < domains->names.count ? domains->names.names[trace] : NULL;
}

/* Finds the row of an event in some class that keeps the requested data. */
static bool find_row(const struct esi_domains *domains,
                     struct es_event_id id,
                     bool of_times,
                     struct esi_domain_row *ret_row)
{
    for (uint32_t c = 0; c < domains->class_count; c++) {
        const struct domain_class *class = &domains->classes[c];
        const struct esi_keeps *keeps = &class->ask.keeps;
        if (class->domain && (of_times ? keeps->times : keeps->partners) &&
            esi_domain_row(class->domain, id, ret_row))
            return true;
    }
    return false;
}

bool esi_domains_time(const struct esi_domains *domains,
                      struct es_event_id id,
                      int64_t *ret_time)
{
    struct esi_domain_row row;

    if (!find_row(domains, id, true, &row) || row.time == ESI_NO_TIME)
        return false;
    *ret_time = row.time;
    return true;
}

size_t esi_domains_partners(const struct esi_domains *domains,
                            struct es_event_id id,
                            const struct es_event_id **ret_partners)
{
    struct esi_domain_row row;

    if (!find_row(domains, id, false, &row))
        return 0;
    *ret_partners = row.partners;
    return row.partner_count;
}

/* --- Dropping --------------------------------------------------------------------- */

void esi_domains_drop(struct esi_domains *domains,
                      uint32_t class_number,
                      uint32_t trace,
                      uint32_t index)
{
    if (domains->classes[class_number].domain)
        esi_domain_drop(domains->classes[class_number].domain, trace, index);
}

bool esi_domains_have_partners(const struct esi_domains *domains)
{
    return domains->partners != NULL;
}

void esi_domains_forget(struct esi_domains *domains, uint32_t trace, uint32_t index)
{
    for (uint32_t c = 0; c < domains->class_count; c++)
        if (domains->classes[c].waiting)
            esi_domain_drop(domains->classes[c].waiting, trace, index);
    if (domains->partners)
        esi_partner_classes_forget(domains->partners, trace, index);
}

uint64_t esi_domains_missed(const struct esi_domains *domains)
{
    return domains->missed +
           (domains->partners ? esi_partner_classes_missed(domains->partners) : 0);
}

/* --- Size ------------------------------------------------------------------------- */

uint64_t esi_domains_bytes(const struct esi_domains *domains)
{
    uint64_t bytes = sizeof *domains + domains->class_count * sizeof *domains->classes +
                     domains->names.capacity * sizeof *domains->names.names +
                     esi_texts_bytes(&domains->texts) +
                     esi_class_match_bytes(domains->match);

    for (uint32_t c = 0; c < domains->class_count; c++) {
        const struct domain_class *class = &domains->classes[c];
        bytes += class->domain ? esi_domain_bytes(class->domain) : 0;
        bytes += class->waiting ? esi_domain_bytes(class->waiting) : 0;
    }
    return domains->partners ? bytes + esi_partner_classes_bytes(domains->partners)
                             : bytes;
}
