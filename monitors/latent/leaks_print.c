/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_print.c - leaks for people and for programs. */
#include "config.h"

#include "monitors/latent/leaks.h"

#include <inttypes.h>

#include "base/plain.h"
#include "base/rows.h"
#include "eventspace/operation.h"

static const char *const kind_names[] = {
    [ESI_LEAK_MESSAGES] = "messages",       [ESI_LEAK_REQUESTS] = "requests",
    [ESI_LEAK_MATCHED] = "matched",         [ESI_LEAK_PERSISTENT] = "persistent",
    [ESI_LEAK_COLLECTIVES] = "collectives", [ESI_LEAK_EPOCHS] = "epochs",
    [ESI_LEAK_OBJECTS] = "objects",
};

static const char *const object_names[ESI_LEDGER_OBJECTS] = {
    [ESI_LEDGER_COMMUNICATORS] = "communicator",
    [ESI_LEDGER_WINDOWS] = "window",
    [ESI_LEDGER_FILES] = "file",
    [ESI_LEDGER_TYPES] = "datatype",
    [ESI_LEDGER_GROUPS] = "group",
    [ESI_LEDGER_OPERATORS] = "operator",
};

static const char *epoch_name(enum esi_ledger_epoch_kind kind)
{
    switch (kind) {
    case ESI_LEDGER_LOCK_SHARED:
    case ESI_LEDGER_LOCK_EXCLUSIVE:
        return "MPI_Win_lock";
    case ESI_LEDGER_LOCK_ALL:
        return "MPI_Win_lock_all";
    case ESI_LEDGER_FENCE:
        return "MPI_Win_fence";
    case ESI_LEDGER_START:
        return "MPI_Win_start";
    case ESI_LEDGER_POST:
        return "MPI_Win_post";
    }
    return "?";
}

static const char *plural_end(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *object_name(const struct esi_leak *leak)
{
    return leak->kind == ESI_LEAK_OBJECTS ? object_names[leak->object] : NULL;
}

/* Whose message it is, or would have been. */
static void print_channel(const struct esi_leak *leak, const char *way, FILE *stream)
{
    if (leak->peer >= 0)
        esi_plain_print(stream, " %s rank %d", way, leak->peer);
    if (leak->tag >= 0)
        esi_plain_print(stream, ", tag %" PRId32, leak->tag);
}

static void print_what(const struct esi_leak *leak, FILE *stream)
{
    const char *name = es_operation_name(leak->operation);

    switch (leak->kind) {
    case ESI_LEAK_MESSAGES:
        esi_plain_print(stream, "%" PRIu64 " message%s", leak->count,
                        plural_end(leak->count));
        print_channel(leak, "to", stream);
        break;
    case ESI_LEAK_REQUESTS:
        esi_plain_print(stream, "%" PRIu64 " request%s of %s", leak->count,
                        plural_end(leak->count), name);
        print_channel(leak, "with", stream);
        break;
    case ESI_LEAK_MATCHED:
        esi_plain_print(stream, "%" PRIu64 " message%s", leak->count,
                        plural_end(leak->count));
        print_channel(leak, "of", stream);
        break;
    case ESI_LEAK_PERSISTENT:
        esi_plain_print(stream, "%" PRIu64 " persistent request%s of %s", leak->count,
                        plural_end(leak->count), name);
        print_channel(leak, "with", stream);
        break;
    case ESI_LEAK_COLLECTIVES:
        esi_plain_print(stream, "%s and operations before it", name);
        break;
    case ESI_LEAK_EPOCHS:
        esi_plain_print(stream, "%" PRIu64 " epoch%s of %s", leak->count,
                        plural_end(leak->count), epoch_name(leak->epoch));
        print_channel(leak, "with", stream);
        break;
    case ESI_LEAK_OBJECTS:
        esi_plain_print(stream, "%" PRIu64 " %s%s", leak->count, object_name(leak),
                        plural_end(leak->count));
        break;
    }
    if (leak->communicator)
        esi_plain_print(stream, ", on %s", leak->communicator);
    if (leak->site)
        esi_plain_print(stream, ", posted at %s", leak->site);
}

static void print_why(const struct esi_leak *leak, FILE *stream)
{
    static const char *const reasons[] = {
        [ESI_LEAK_MESSAGES] = "never received",
        [ESI_LEAK_REQUESTS] = "never completed",
        [ESI_LEAK_MATCHED] = "found by a matched probe and never received",
        [ESI_LEAK_PERSISTENT] = "not freed",
        [ESI_LEAK_EPOCHS] = "still open",
        [ESI_LEAK_OBJECTS] = "not freed",
    };

    if (leak->kind == ESI_LEAK_COLLECTIVES)
        esi_plain_print(stream, ": entered by rank %d, not here (%" PRIu64 " missed)",
                        leak->peer, leak->count);
    else
        esi_plain_print(stream, ": %s", reasons[leak->kind]);
}

void esi_leaks_print_text(const struct esi_leaks *leaks, FILE *stream)
{
    for (size_t i = 0; i < leaks->count; i++) {
        const struct esi_leak *leak = &leaks->items[i];

        esi_plain_print(stream, "LEAK: rank %d", leak->rank);
        if (leak->ranks > 1)
            esi_plain_print(stream, " and %zu other%s, each", leak->ranks - 1,
                            plural_end(leak->ranks - 1));
        esi_plain_print(stream, ": ");
        print_what(leak, stream);
        print_why(leak, stream);
        esi_plain_print(stream, "\n");
    }
    if (leaks->unknown > 0)
        esi_plain_print(stream, "The leaks of %zu rank%s are not fully known.\n",
                        leaks->unknown, plural_end(leaks->unknown));
}

static void describe_leak(struct esi_row *row, const void *record)
{
    const struct esi_leak *leak = record;

    esi_row_text(row, "type", NULL, "leak");
    esi_row_text(row, "what", NULL, kind_names[leak->kind]);
    esi_row_signed(row, "rank", NULL, leak->rank);
    esi_row_unsigned(row, "ranks", NULL, leak->ranks);
    esi_row_unsigned(row, "count", NULL, leak->count);
    esi_row_signed(esi_row_if(row, leak->peer >= 0), "peer", NULL, leak->peer);
    esi_row_signed(esi_row_if(row, leak->tag >= 0), "tag", NULL, leak->tag);
    esi_row_text(row, "communicator", NULL, leak->communicator);
    esi_row_text(row, "operation", NULL,
                 leak->operation ? es_operation_name(leak->operation) : NULL);
    esi_row_text(esi_row_if(row, leak->kind == ESI_LEAK_EPOCHS), "epoch", NULL,
                 epoch_name(leak->epoch));
    esi_row_text(row, "object", NULL, object_name(leak));
    esi_row_text(row, "site", NULL, leak->site);
}

void esi_leaks_print_json(const struct esi_leaks *leaks, FILE *stream)
{
    for (size_t i = 0; i < leaks->count; i++)
        esi_rows_print_json(stream, describe_leak, &leaks->items[i]);
}
