/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Matches the two ends of messages: messages sent by programs, those in instrumented
 * trees, and the synchronization of the epochs of one-sided operations.
 *
 * A message exists from the first of its ends that is read until the last one is
 * emitted. The communicator in its key is that of esi_channel_key(); the tag may be
 * the number of a window.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_MESSAGE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_MESSAGE_H

#include "monitors/causality/causal_thread.h"
#include "monitors/follow/ends.h"

/* Kinds of keys. */
enum esi_message_kind {
    ESI_MESSAGE = 1,
    ESI_EDGE_UP, /* of a collective tree */
    ESI_EDGE_DOWN,
    ESI_EPOCH_POST,
    ESI_EPOCH_COMPLETE,
};

struct esi_messages {
    struct esi_matching *matching;
    struct esi_ends ends;     /* the waiting ones were sent and not received */
    struct esi_ends channels; /* channels with unmatched ends */
    struct esi_ends doubts;   /* channels on which a send may have been cancelled */
};

/* The kind of the message that an operation sends or receives. */
enum esi_message_kind esi_message_kind_of(const struct es_operation *operation);
/* Fills in the key of messages from this member to a peer (`sends`), or from the peer
 * to it.  Returns false if the slot of one of them is not known. */
bool esi_channel_key(const struct esi_run_member *member,
                     int32_t peer,
                     bool sends,
                     struct esi_ends_key *ret_key);

/* Initializes the tables.  At most `max` unreceived sends are kept. */
void esi_messages_init(struct esi_messages *messages,
                       struct esi_matching *matching,
                       size_t max);
void esi_messages_fini(struct esi_messages *messages);
/* Visits the channels with unmatched ends, like esi_causality_foreach_unmatched(). */
void esi_messages_foreach_unmatched(
    const struct esi_messages *messages,
    void (*visit)(void *data, const struct esi_causal_channel *channel),
    void *data);
/* Counts the sends that were never received. */
void esi_messages_finish(struct esi_messages *messages);

/* --- Reading: return 0 or -ENOMEM ------------------------------------------------- */

int esi_message_add_send(struct esi_messages *messages,
                         struct esi_item *item,
                         const struct esi_ends_key *key);
int esi_message_add_receive(struct esi_messages *messages,
                            struct esi_item *item,
                            const struct esi_ends_key *key,
                            bool blocking);
/* Adds a send that was emitted before its message was known. */
int esi_message_add_given(struct esi_messages *messages,
                          const struct esi_emitted *sent,
                          const struct esi_ends_key *key);
/* Records that a send with the number of the key, or a later number, may have been
 * cancelled before `ticks`: `count` numbers are unreliable for sends that began
 * earlier. */
int esi_message_doubt(struct esi_messages *messages,
                      const struct esi_ends_key *key,
                      uint32_t count,
                      uint64_t ticks);
/* Returns whether the number of a send that began at `ticks` is unreliable. */
bool esi_message_is_doubtful(const struct esi_messages *messages,
                             const struct esi_ends_key *key,
                             uint64_t ticks);

/* --- Emitting --------------------------------------------------------------------- */

/* Whether the send can be emitted.  If it is one event together with a receive,
 * *ret_receiver is the thread whose next event that is, else NULL. */
enum esi_outcome esi_message_await_receive(struct esi_messages *messages,
                                           struct esi_item *send,
                                           struct esi_causal_thread **ret_receiver);
/* Called when both were emitted, instead of the next ones. */
void esi_message_synchronize(struct esi_messages *messages,
                             struct esi_item *send,
                             struct esi_item *receive);
/* Called when the send was emitted. */
void esi_message_sent(struct esi_messages *messages,
                      struct esi_item *send,
                      const struct esi_emitted *sent);

/* Returns enum esi_outcome for a receive, or -ENOMEM. */
int esi_message_await_sends(struct esi_messages *messages,
                            const struct esi_item *receive);
/* Called when the receive was emitted. */
void esi_message_received(struct esi_messages *messages,
                          struct esi_item *receive,
                          const struct esi_emitted *received);

/* Records which call has completed the send with this event.  The message may have been
 * forgotten since it was sent. */
void esi_message_completed(struct esi_message *message,
                           const struct es_event_id *send,
                           uint64_t call);

#endif
