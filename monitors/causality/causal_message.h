/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The two ends of messages: of those that programs send, and of what joins the epochs
 * of one-sided operations.
 *
 * A message is there from the first of its ends that is read to the last that is given.
 * Its key's communicator is that of esi_view_channel(), its tag may be the number of a
 * window.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_MESSAGE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_MESSAGE_H

#include "monitors/causality/causal_thread.h"
#include "monitors/follow/ends.h"

/* Kinds of keys. */
enum esi_message_kind { ESI_MESSAGE = 1, ESI_EPOCH_POST, ESI_EPOCH_COMPLETE };

struct esi_messages {
    struct esi_ends ends;     /* those that wait were sent, and not received */
    struct esi_ends channels; /* with unmatched ends */
    struct esi_ends doubts;   /* channels on which a send was to be cancelled */
};

/* At most `max` sends are kept that nobody has received. */
void esi_messages_init(struct esi_messages *messages, size_t max);
void esi_messages_fini(struct esi_messages *messages);
/* Counts what was never received. */
void esi_messages_finish(struct esi_causality *causality);

/* --- Reading: 0 or -ENOMEM -------------------------------------------------------- */

int esi_message_add_send(struct esi_causality *causality,
                         struct esi_item *item,
                         const struct esi_ends_key *key);
int esi_message_add_receive(struct esi_causality *causality,
                            struct esi_item *item,
                            const struct esi_ends_key *key,
                            bool blocking);
/* A send that was given before its message was known. */
int esi_message_add_given(struct esi_causality *causality,
                          const struct es_event_id *id,
                          const struct esi_ends_key *key);
/* A send with the number of the key, or one behind it, may have been cancelled before
 * `ticks`: `count` numbers say nothing of sends that began earlier. */
int esi_message_doubt(struct esi_causality *causality,
                      const struct esi_ends_key *key,
                      uint32_t count,
                      uint64_t ticks);
/* Whether the number of a send that began at `ticks` is one of these. */
bool esi_message_is_doubtful(const struct esi_messages *messages,
                             const struct esi_ends_key *key,
                             uint64_t ticks);

/* --- Giving: enum esi_outcome, or what the sink returned -------------------------- */

int esi_message_give_send(struct esi_causality *causality,
                          const struct esi_placed *placed);
int esi_message_give_receive(struct esi_causality *causality,
                             const struct esi_placed *placed);

#endif
