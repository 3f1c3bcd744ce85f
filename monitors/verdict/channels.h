/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Messages: how many each channel has sent, and how many receives were posted for them,
 * according to the ledgers of both ends and the operations in progress.  Pure logic.
 *
 * A channel is a communicator, two world ranks and a tag.  Channels that have sent more
 * messages than were received are also indexed by destination: a receive from any
 * source, with any tag or without a number may match these messages.
 */
#ifndef ES_MONITORS_VERDICT_CHANNELS_H
#define ES_MONITORS_VERDICT_CHANNELS_H

#include "monitors/verdict/facts.h"

#define ESI_CHANNEL_NONE UINT32_MAX

struct esi_channel_state {
    uint32_t group;
    int source; /* world ranks; ES_PEER_ANY for wildcard receives */
    int destination;
    int tag; /* ES_TAG_ANY for wildcard receives */
    uint32_t sent;
    uint32_t received; /* posted receives with a number; of wildcard channels:
                          completed receives that no channel counts yet */
    bool doubtful;     /* a cancellation is in progress */
    uint32_t sending;  /* sends in progress, according to operations */
    uint32_t posted;   /* outstanding receives without a number */
    bool has_kept;     /* a probe matched a message that was not received yet */
    uint32_t kept;     /* number of the first such message */
    uint32_t next;     /* next channel of this destination with a surplus */
};

struct esi_channels_table {
    struct esi_channel_state *items; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers;
    uint32_t *surplus; /* owned; per process: its first channel with a surplus */
};

/* A message as one of its ends describes it. */
struct esi_channel_message {
    uint32_t group;
    int source;
    int destination;
    int tag;
    uint32_t number; /* or ES_SEQUENCE_UNKNOWN */
};

/* Reads ledgers and operations in progress.  Returns 0 or -ENOMEM; free with
 * esi_channels_fini(). */
int esi_channels_init(struct esi_channels_table *channels,
                      const struct esi_facts *facts);
void esi_channels_fini(struct esi_channels_table *channels);

/* NULL if nothing is known about the channel. */
const struct esi_channel_state *esi_channels_find(
    const struct esi_channels_table *channels,
    const struct esi_channel_message *message);

/* Returns the largest and the smallest number of messages that this receive may match
 * and for which no receive with a number is posted.  They differ because completed
 * receives that are not counted yet may have taken some. */
void esi_channels_count_free(const struct esi_channels_table *channels,
                             size_t process,
                             const struct esi_channel_message *wanted,
                             uint32_t *ret_most,
                             uint32_t *ret_least);

/* Number of outstanding receives without a number that may match this message. */
uint32_t esi_channels_count_posted(const struct esi_channels_table *channels,
                                   const struct esi_channel_message *message);

/* World rank of a member as the process sees it (of the remote group if the
 * communicator is an intercommunicator). ES_PEER_NONE and ES_PEER_ANY are returned
 * unchanged; ES_PEER_UNKNOWN if the rank is not known. */
int esi_fact_world_rank(const struct esi_fact_process *process,
                        uint16_t communicator,
                        int peer);

#endif
