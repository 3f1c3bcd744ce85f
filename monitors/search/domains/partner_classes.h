/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Classes with partners (D12): which events are in them, as partners come.
 *
 * Of each event only bits are kept: for each class with partners whether the event's
 * own conditions hold and which partners were found, and for each class behind a dot
 * whether the event is in it.  Only where such classes stand behind dots themselves it
 * is kept who are partners of whom, for then one that comes late changes others.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_PARTNER_CLASSES_H
#define ES_MONITORS_SEARCH_DOMAINS_PARTNER_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

struct esi_partner_classes;

/* Told once of each event that is in a class with partners; a negative result ends it.
 */
typedef int (*esi_partner_joined_fn)(void *data,
                                     uint32_t class_number,
                                     struct es_event_id id);

/* *ret_partners: NULL, if no class needed has partners.  0 or -ENOMEM. */
int esi_partner_classes_create(const struct es_pattern_file *file,
                               const bool *is_class_needed,
                               esi_partner_joined_fn joined,
                               void *data,
                               struct esi_partner_classes **ret_partners);
/* Accepts NULL. */
void esi_partner_classes_destroy(struct esi_partner_classes *partners);

/* The next event of an ordered stream; `classes` are those whose conditions hold
 * (class_match.h).  0, -ENOMEM, or what `joined` gave. */
int esi_partner_classes_event(struct esi_partner_classes *partners,
                              const struct es_set_event *event,
                              const uint64_t *classes);

/* Forgets the bits of events before `index`: if they get partners still, nobody joins
 * for it. */
void esi_partner_classes_forget(struct esi_partner_classes *partners,
                                uint32_t trace,
                                uint32_t index);

/* How often a partner came of an event that was forgotten, one of which might be in a
 * class for the other. */
uint64_t esi_partner_classes_missed(const struct esi_partner_classes *partners);

uint64_t esi_partner_classes_bytes(const struct esi_partner_classes *partners);

#endif
