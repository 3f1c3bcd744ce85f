/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * races.h - receives from any source that could have got another message, and whether
 * that matters.
 *
 * A receive from any source races where a message from another process, to the same
 * receiver, on the same communicator and with the same tag, was received later, and its
 * send does not follow from that receive in the run's order.  The race is benign where
 * nothing that is recorded shows a difference:
 *
 *   - that message was received from any source, too: both orders give both messages
 *     to the same two receives;
 *   - both are of the same size;
 *   - between the two receives the receiver's thread sends nothing to either sender,
 *     and receives from neither by its rank.
 *
 * Contents are not seen: a sum of floating-point numbers in the order of receives, or
 * data that are stored by the order of their coming, are benign here.  A tag that was
 * any is not known: messages with other tags do not race.
 *
 * Pure logic but for esi_races_archive(); one object is one thread's at a time.
 */
#ifndef ES_MONITORS_LATENT_RACES_H
#define ES_MONITORS_LATENT_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "eventspace/order.h"

struct esi_races;

/* 0 or -ENOMEM. */
int esi_races_create(struct esi_races **ret_races);
/* Accepts NULL. */
void esi_races_destroy(struct esi_races *races);

/* Takes an ordered stream of events with their attributes. */
struct es_set_sink esi_races_sink(struct esi_races *races);
/* The stream is over, and `order` has all of it.  0, -ENOMEM, -ESTALE. */
int esi_races_finish(struct esi_races *races, const struct es_order *order);

/* Both, of an archive or an event set.  Errors have words where people can help. */
int esi_races_archive(const char *path,
                      struct es_error *error,
                      struct esi_races **ret_races);

/* --- What is found ---------------------------------------------------------------- */

enum esi_race_reason {
    ESI_RACE_BENIGN,
    ESI_RACE_DIRECTED, /* the other message was received by its sender's rank */
    ESI_RACE_SIZES,    /* they are of different sizes */
    ESI_RACE_PEER, /* in between the receiver writes to, or hears from, one of them */
};

/* Receives of one thread, on one communicator, with one tag, that race for one reason.
 * Texts are borrowed. */
struct esi_race {
    const char *receiver; /* trace: RANK.THREAD */
    const char *communicator;
    int64_t tag;
    enum esi_race_reason reason;
    uint64_t times; /* pairs of a receive and another message */
    /* The first of them. */
    struct es_event_id receive;
    struct es_event_id other; /* the receive that got the other message */
    const char *sender;
    const char *other_sender;
    int64_t stop_ns; /* of the receive */
};

size_t esi_races_count(const struct esi_races *races);
/* Those that matter first. */
const struct esi_race *esi_races_at(const struct esi_races *races, size_t index);
/* Receives from any source. */
uint64_t esi_races_wildcards(const struct esi_races *races);

#endif
