/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tests an event against the conditions of all classes of a file, ignoring partners.
 *
 * A process is tested once per trace, a type or text once per distinct text, and an
 * attribute only if the other conditions of the class hold.  Results are bit sets of
 * classes: bit c % 64 of word c / 64 is class c.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_CLASS_MATCH_H
#define ES_MONITORS_SEARCH_DOMAINS_CLASS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/search/domains/event_value.h"
#include "monitors/search/domains/expression.h"
#include "monitors/search/language/pattern.h"

struct esi_class_match;

/* Only classes whose flag is set are tested.  Returns 0, -EINVAL with a message, or
 * -ENOMEM. */
int esi_class_match_create(const struct es_pattern_file *file,
                           const bool *is_class_needed,
                           struct esi_class_match **ret_match,
                           struct es_error *error);
/* Accepts NULL. */
void esi_class_match_destroy(struct esi_class_match *match);

/* Number of words in a set of classes. */
size_t esi_class_match_words(const struct esi_class_match *match);
/* Whether any class tests an attribute. */
bool esi_class_match_needs_attributes(const struct esi_class_match *match);

/* Adds the next trace.  `name` is borrowed.  Returns 0 or -ENOMEM. */
int esi_class_match_add_trace(struct esi_class_match *match, const char *name);

/* Finds the classes whose conditions hold.  *ret_classes is valid until the next call;
 * *ret_type is the number of the type.  Returns 1 if there are any, 0 if there are
 * none, or -ENOMEM. */
int esi_class_match_event(struct esi_class_match *match,
                          const struct es_set_event *event,
                          const uint64_t **ret_classes,
                          uint32_t *ret_type);

/* The types, indexed by number. */
const struct esi_texts *esi_class_match_types(const struct esi_class_match *match);

uint64_t esi_class_match_bytes(const struct esi_class_match *match);

#endif
