/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One event against the conditions of all classes of a file, partners left aside.
 *
 * A process is looked at once for each trace, a type and a text once for each text that
 * is new, an attribute only if a class asks for it whose other conditions hold.
 * Verdicts are sets of classes: bit c % 64 of word c / 64 is class c.
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

/* Only classes with their flag set are looked at.  -EINVAL with words, -ENOMEM. */
int esi_class_match_create(const struct es_pattern_file *file,
                           const bool *is_class_needed,
                           struct esi_class_match **ret_match,
                           struct es_error *error);
/* Accepts NULL. */
void esi_class_match_destroy(struct esi_class_match *match);

/* Words of a set of classes. */
size_t esi_class_match_words(const struct esi_class_match *match);
/* Whether any class asks for an attribute. */
bool esi_class_match_needs_attributes(const struct esi_class_match *match);

/* The next trace.  `name` is borrowed.  0 or -ENOMEM. */
int esi_class_match_add_trace(struct esi_class_match *match, const char *name);

/* *ret_classes: classes whose conditions hold, good until the next call; *ret_type: the
 * type's number.  1: some, 0: none, -ENOMEM. */
int esi_class_match_event(struct esi_class_match *match,
                          const struct es_set_event *event,
                          const uint64_t **ret_classes,
                          uint32_t *ret_type);

/* Types by their numbers. */
const struct esi_texts *esi_class_match_types(const struct esi_class_match *match);

uint64_t esi_class_match_bytes(const struct esi_class_match *match);

#endif
