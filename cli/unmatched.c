/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The channels on which messages were left without their other end. */
#include "config.h"

#include "cli/unmatched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/plain.h"

enum { SHOWN = 10 }; /* of those that are there, to people */

void esi_unmatched_fini(struct esi_unmatched *unmatched)
{
    for (size_t i = 0; i < unmatched->count; i++)
        free((char *)unmatched->items[i].communicator);
    free(unmatched->items);
    *unmatched = (struct esi_unmatched){.count = 0};
}

/* --- Taking ----------------------------------------------------------------------- */

struct taking {
    struct esi_unmatched *unmatched;
    size_t room;
    bool out_of_memory;
};

static void add_channel(void *data, const struct esi_causal_channel *channel)
{
    struct taking *taking = data;
    struct esi_unmatched *unmatched = taking->unmatched;
    struct esi_causal_channel *item;

    if (unmatched->count == taking->room) {
        size_t room = taking->room ? 2 * taking->room : 16;
        struct esi_causal_channel *grown =
            reallocarray(unmatched->items, room, sizeof *grown);

        taking->out_of_memory |= !grown;
        if (!grown)
            return;
        unmatched->items = grown;
        taking->room = room;
    }
    item = &unmatched->items[unmatched->count];
    *item = *channel;
    item->communicator = strdup(channel->communicator ? channel->communicator : "?");
    taking->out_of_memory |= !item->communicator;
    unmatched->count += item->communicator != NULL;
}

static uint64_t missing_ends(const struct esi_causal_channel *channel)
{
    return channel->sends + channel->receives;
}

static int compare_channels(const void *a, const void *b)
{
    const struct esi_causal_channel *x = a, *y = b;

    if (missing_ends(x) != missing_ends(y))
        return missing_ends(x) > missing_ends(y) ? -1 : 1;
    if (strcmp(x->communicator, y->communicator) != 0)
        return strcmp(x->communicator, y->communicator);
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

int esi_unmatched_take(struct esi_unmatched *unmatched,
                       const struct esi_causality *causality)
{
    struct taking taking = {.unmatched = unmatched};

    esi_unmatched_fini(unmatched);
    esi_causality_foreach_unmatched(causality, add_channel, &taking);
    if (taking.out_of_memory) {
        esi_unmatched_fini(unmatched);
        return -ENOMEM;
    }
    if (unmatched->count > 0)
        qsort(unmatched->items, unmatched->count, sizeof *unmatched->items,
              compare_channels);
    return 0;
}

/* --- Showing ---------------------------------------------------------------------- */

void esi_unmatched_print(const struct esi_unmatched *unmatched)
{
    for (size_t i = 0; i < unmatched->count && i < SHOWN; i++) {
        const struct esi_causal_channel *channel = &unmatched->items[i];

        esi_plain_print(
            stdout, "  %s, %d to %d, tag %d: %" PRIu64 " sends, %" PRIu64 " receives\n",
            channel->communicator, channel->source, channel->destination, channel->tag,
            channel->sends, channel->receives);
    }
    if (unmatched->count > SHOWN)
        printf("  and on %zu more channels\n", unmatched->count - SHOWN);
}

void esi_unmatched_json(const struct esi_unmatched *unmatched, struct esi_json_out *out)
{
    esi_json_out_begin_array(out, "unmatched");
    for (size_t i = 0; i < unmatched->count; i++) {
        const struct esi_causal_channel *channel = &unmatched->items[i];

        esi_json_out_begin_object(out, NULL);
        esi_json_out_string(out, "communicator", channel->communicator);
        esi_json_out_signed(out, "source", channel->source);
        esi_json_out_signed(out, "destination", channel->destination);
        esi_json_out_signed(out, "tag", channel->tag);
        esi_json_out_unsigned(out, "sends", channel->sends);
        esi_json_out_unsigned(out, "receives", channel->receives);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}
