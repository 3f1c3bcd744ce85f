/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * races.h - wildcard receives that could have matched another message, and whether the
 * difference is visible.
 *
 * A wildcard receive races if a message from another process, to the same receiver, on
 * the same communicator and with the same tag, was received later, and its send does
 * not follow from that receive in the order of the run.  The race is benign if no
 * recorded data would differ:
 *
 *   - that message was received by a wildcard receive, too: in both orders the two
 *     receives get the two messages;
 *   - both have the same size;
 *   - between the two receives the receiver's thread sends nothing to either sender,
 *     and receives from neither by its rank.
 *
 * The content of messages is not known: a sum of floating-point numbers in the order of
 * arrival, or data stored in this order, counts as benign here.  A wildcard tag is not
 * recorded: messages with other tags do not race.
 *
 * Pure logic; one thread at a time.
 */
#ifndef ES_MONITORS_LATENT_RACES_H
#define ES_MONITORS_LATENT_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "eventspace/order.h"

struct esi_races;

/* Returns 0 or -ENOMEM. */
int esi_races_create(struct esi_races **ret_races);
/* Accepts NULL. */
void esi_races_destroy(struct esi_races *races);

/* Takes an ordered stream of events with their attributes. */
struct es_set_sink esi_races_sink(struct esi_races *races);
/* Call at the end of the stream, with the complete `order`. Returns 0, -ENOMEM or
 * -ESTALE. */
int esi_races_finish(struct esi_races *races, const struct es_order *order);

/* --- Results ---------------------------------------------------------------------- */

enum esi_race_reason {
    ESI_RACE_BENIGN,
    ESI_RACE_DIRECTED, /* the other message was received by its sender's rank */
    ESI_RACE_SIZES,    /* they have different sizes */
    ESI_RACE_PEER,     /* between them, the receiver sends to, or receives from, one of
                      the senders */
};

/* Racing receives of one thread, on one communicator, with one tag and for one reason.
 * Texts are borrowed. */
struct esi_race {
    const char *receiver; /* trace: RANK.THREAD */
    const char *communicator;
    int64_t tag;
    enum esi_race_reason reason;
    uint64_t times; /* number of pairs of a receive and another message */
    /* The first pair. */
    struct es_event_id receive;
    struct es_event_id other; /* the receive that got the other message */
    const char *sender;
    const char *other_sender;
    int64_t stop_ns; /* of the receive */
};

size_t esi_races_count(const struct esi_races *races);
/* Races that are not benign come first. */
const struct esi_race *esi_races_at(const struct esi_races *races, size_t index);
/* Number of wildcard receives. */
uint64_t esi_races_wildcards(const struct esi_races *races);

#endif
