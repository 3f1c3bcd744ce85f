/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Whether events can have the attributes that patterns ask for, and the texts that
 * these are compared with: what is misspelt would find nothing, and never say why.
 *
 *   esi_vocabulary_check_create(file, is_predicate_needed, is_class_needed,
 *                               &esi_event_vocabulary, &check);
 *   esi_vocabulary_check_words(check, true, &error);      of a run or an archive
 *   stream events into esi_vocabulary_check_sink(check);  of a file, then
 *   esi_vocabulary_check_events(check, &error);
 *   esi_vocabulary_check_destroy(check);
 *
 * Checked are the attributes' names, and texts without wildcards that are compared by =
 * or !=.  One thread.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_VOCABULARY_CHECK_H
#define ES_MONITORS_SEARCH_DOMAINS_VOCABULARY_CHECK_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/eventset/vocabulary.h"
#include "monitors/search/language/pattern.h"

struct esi_vocabulary_check;

/* Of what the needed predicates and classes ask for; flags as esi_pattern_reach() sets
 * them.  `file` and `vocabulary` are borrowed.  0 or -ENOMEM. */
int esi_vocabulary_check_create(const struct es_pattern_file *file,
                                const bool *is_predicate_needed,
                                const bool *is_class_needed,
                                const struct esi_vocabulary *vocabulary,
                                struct esi_vocabulary_check **ret_check);
/* Accepts NULL. */
void esi_vocabulary_check_destroy(struct esi_vocabulary_check *check);

/* Of events that can have no words but the vocabulary's.  `all_types` false: types may
 * be of other sets, unless they begin as the vocabulary's do.  -EINVAL with words: the
 * first one of the file that no event has. */
int esi_vocabulary_check_words(const struct esi_vocabulary_check *check,
                               bool all_types,
                               struct es_error *error);

/* Of a set of any origin: what its events have is right, and if one of them has the
 * vocabulary's mark, so are the vocabulary's words.  The sink borrows `check`; events
 * must come with their attributes. */
struct es_set_sink esi_vocabulary_check_sink(struct esi_vocabulary_check *check);
/* After all events: as above, but types may be any.  Nothing is wrong of a set without
 * events. */
int esi_vocabulary_check_events(const struct esi_vocabulary_check *check,
                                struct es_error *error);

#endif
