/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Checks whether events can have the attributes that patterns use, and the texts that
 * these are compared with.  A misspelt name would otherwise silently match nothing.
 *
 *   esi_vocabulary_check_create(file, is_predicate_needed, is_class_needed,
 *                               &esi_event_vocabulary, &check);
 *   esi_vocabulary_check_words(check, true, &error);      of a run or an archive
 *   stream events into esi_vocabulary_check_sink(check);  of a file, then
 *   esi_vocabulary_check_events(check, &error);
 *   esi_vocabulary_check_destroy(check);
 *
 * Checks names of attributes, and texts without wildcards compared by = or !=.  One
 * thread.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_VOCABULARY_CHECK_H
#define ES_MONITORS_SEARCH_DOMAINS_VOCABULARY_CHECK_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/eventset/vocabulary.h"
#include "monitors/search/language/pattern.h"

struct esi_vocabulary_check;

/* Checks the needed predicates and classes; the flags are those of esi_pattern_reach().
 * `file` and `vocabulary` are borrowed.  Returns 0 or -ENOMEM. */
int esi_vocabulary_check_create(const struct es_pattern_file *file,
                                const bool *is_predicate_needed,
                                const bool *is_class_needed,
                                const struct esi_vocabulary *vocabulary,
                                struct esi_vocabulary_check **ret_check);
/* Accepts NULL. */
void esi_vocabulary_check_destroy(struct esi_vocabulary_check *check);

/* Check for events that only use words of the vocabulary.  If `all_types` is false,
 * types may come from other event sets, unless they begin like types of the vocabulary.
 * Returns 0, or -EINVAL with a message for the first word in the file that no event can
 * have. */
int esi_vocabulary_check_words(const struct esi_vocabulary_check *check,
                               bool all_types,
                               struct es_error *error);

/* Check for an event set of any origin: all words of its events are valid, and if an
 * event has the mark of the vocabulary, so are the words of the vocabulary.  The sink
 * borrows `check`; the events must have their attributes. */
struct es_set_sink esi_vocabulary_check_sink(struct esi_vocabulary_check *check);
/* Call after all events: like esi_vocabulary_check_words(), but any type is valid.  A
 * set without events has no faults. */
int esi_vocabulary_check_events(const struct esi_vocabulary_check *check,
                                struct es_error *error);

#endif
