/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Membership in classes with partners (D12), updated as partners arrive.
 *
 * Each event is stored as bits: for each class with partners, whether the event's own
 * conditions hold and which partners were found; for each class after a dot, whether
 * the event is in it.  Only if classes with partners are used after dots, the partners
 * of each event are stored, because then a late partner affects further events.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_PARTNER_CLASSES_H
#define ES_MONITORS_SEARCH_DOMAINS_PARTNER_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

struct esi_partner_classes;

/* Called once for each event that joins a class with partners.  A negative result is
 * passed on. */
typedef int (*esi_partner_joined_fn)(void *data,
                                     uint32_t class_number,
                                     struct es_event_id id);

/* *ret_partners is NULL if no needed class has partners.  Returns 0 or -ENOMEM. */
int esi_partner_classes_create(const struct es_pattern_file *file,
                               const bool *is_class_needed,
                               esi_partner_joined_fn joined,
                               void *data,
                               struct esi_partner_classes **ret_partners);
/* Accepts NULL. */
void esi_partner_classes_destroy(struct esi_partner_classes *partners);

/* Adds the next event of an ordered stream.  `classes` are those whose conditions hold
 * (class_match.h).  Returns 0, -ENOMEM, or the result of `joined`. */
int esi_partner_classes_event(struct esi_partner_classes *partners,
                              const struct es_set_event *event,
                              const uint64_t *classes);

/* Forgets the bits of events before `index`.  Partners of these events that arrive
 * later have no effect. */
void esi_partner_classes_forget(struct esi_partner_classes *partners,
                                uint32_t trace,
                                uint32_t index);

/* How often a partner of a forgotten event arrived, and one of the two might have
 * joined a class. */
uint64_t esi_partner_classes_missed(const struct esi_partner_classes *partners);

uint64_t esi_partner_classes_bytes(const struct esi_partner_classes *partners);

#endif
