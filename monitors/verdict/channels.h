/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Messages: how many each channel has sent and how many receives were posted for them,
 * by the ledgers of both ends and the operations under way.  Pure logic.
 *
 * A channel is a communicator, two world ranks and a tag.  Those that have sent more
 * than is received are also found by their destination: what a receive from anybody,
 * with any tag or without a number could get.
 */
#ifndef ES_MONITORS_VERDICT_CHANNELS_H
#define ES_MONITORS_VERDICT_CHANNELS_H

#include "monitors/verdict/facts.h"

#define ESI_CHANNEL_NONE UINT32_MAX

struct esi_channel_state {
    uint32_t group;
    int source; /* world ranks; ES_PEER_ANY of receives */
    int destination;
    int tag; /* ES_TAG_ANY of receives */
    uint32_t sent;
    uint32_t received; /* receives with a number that were posted; from anybody with any
                          tag: complete ones that no channel counts yet */
    bool doubtful;     /* a cancellation is under way */
    uint32_t sending;  /* sends under way, as operations show them */
    uint32_t posted;   /* receives outstanding of which no number is known */
    bool has_kept; /* a message was matched by a probe, and nobody has received it: */
    uint32_t kept; /* its number, the first of several */
    uint32_t next; /* that has sent more to this destination than it received */
};

struct esi_channels_table {
    struct esi_channel_state *items; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers;
    uint32_t *surplus; /* owned; per process: the first of its channels */
};

/* A message as an end of it knows it. */
struct esi_channel_message {
    uint32_t group;
    int source;
    int destination;
    int tag;
    uint32_t number; /* ES_SEQUENCE_UNKNOWN */
};

/* Reads ledgers and operations under way.  0 or -ENOMEM; free with
 * esi_channels_fini(). */
int esi_channels_init(struct esi_channels_table *channels,
                      const struct esi_facts *facts);
void esi_channels_fini(struct esi_channels_table *channels);

/* NULL: nothing is known of it. */
const struct esi_channel_state *esi_channels_find(
    const struct esi_channels_table *channels,
    const struct esi_channel_message *message);

/* The most and the least messages to the process that this receive could get, and that
 * no receive with a number is posted for: receives that are complete, and are not
 * counted yet, may have taken some. */
void esi_channels_count_free(const struct esi_channels_table *channels,
                             size_t process,
                             const struct esi_channel_message *wanted,
                             uint32_t *ret_most,
                             uint32_t *ret_least);

/* How many receives without a number are outstanding that could get this message. */
uint32_t esi_channels_count_posted(const struct esi_channels_table *channels,
                                   const struct esi_channel_message *message);

/* World rank of a member as the process sees it (of the remote group in an
 * intercommunicator); ES_PEER_NONE and ES_PEER_ANY stay, else ES_PEER_UNKNOWN. */
int esi_fact_world_rank(const struct esi_facts *facts,
                        const struct esi_fact_process *process,
                        uint16_t communicator,
                        int peer);

#endif
