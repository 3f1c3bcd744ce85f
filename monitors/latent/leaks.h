/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * leaks.h - what is left over at the end of a run: messages that nobody received,
 * requests that did not complete, objects that nobody freed.
 *
 *   esi_leaks_find(processes, count, &sites, &leaks);
 *   esi_leaks_print_text(&leaks, stdout);
 *   esi_leaks_fini(&leaks);
 *
 * Only of processes that came to MPI_Finalize: what others left was not theirs to
 * clear.  What is not known is no leak, and makes the answer a lower bound.
 *
 * Pure logic.
 */
#ifndef ES_MONITORS_LATENT_LEAKS_H
#define ES_MONITORS_LATENT_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_out.h"
#include "tuplespace/ledger.h"

/* --- What is known; all is borrowed ----------------------------------------------- */

struct esi_leak_communicator {
    uint64_t key[2];      /* alike in all members; both 0 = not known */
    const char *name;     /* NULL = none */
    int rank;             /* own */
    const int32_t *peers; /* world ranks of those that peers are; NULL = not known */
    size_t peer_count;
};

struct esi_leak_process {
    int rank; /* in the world */
    bool finalized;
    const struct esi_ledger *ledger;                   /* NULL = not known */
    const struct esi_leak_communicator *communicators; /* by index */
    size_t communicator_count;
};

/* --- What is found ---------------------------------------------------------------- */

enum esi_leak_kind {
    ESI_LEAK_MESSAGES,    /* were sent, and nobody received them */
    ESI_LEAK_REQUESTS,    /* did not complete: `operation` */
    ESI_LEAK_MATCHED,     /* messages of a matched probe that were not received */
    ESI_LEAK_PERSISTENT,  /* requests that were not freed */
    ESI_LEAK_COLLECTIVES, /* others entered it, this rank did not: `operation` */
    ESI_LEAK_EPOCHS,      /* of a window, that are open: `epoch` */
    ESI_LEAK_OBJECTS,     /* were not freed: `object` */
};

struct esi_leak {
    enum esi_leak_kind kind;
    int rank;                 /* the first that has it */
    size_t ranks;             /* so many have it alike */
    uint64_t count;           /* of each rank */
    int peer;                 /* world rank; -1 = none, any, or not known */
    int32_t tag;              /* ES_TAG_ANY = any; -1 = none */
    const char *communicator; /* borrowed from the process; NULL = none */
    uint16_t operation;
    enum esi_ledger_epoch_kind epoch;
    enum esi_ledger_object object;
    const char *site; /* where a request was posted; borrowed; NULL = not known */
};

/* Owned. */
struct esi_leaks {
    struct esi_leak *items; /* by kind, then rank */
    size_t count, capacity;
    size_t unknown; /* finalized processes whose ledger is not known, or not in full */
    size_t unended; /* processes that did not come to MPI_Finalize */
};

/* Names where requests were posted; "" = not known.  Texts outlive the leaks. */
struct esi_leak_sites {
    const char *(*name)(void *data, size_t process, uint64_t address);
    void *data; /* borrowed */
};

/* `sites` NULL: where requests were posted is not known.  0 or -ENOMEM. */
int esi_leaks_find(const struct esi_leak_process *processes,
                   size_t count,
                   const struct esi_leak_sites *sites,
                   struct esi_leaks *ret_leaks);
/* All zero is allowed. */
void esi_leaks_fini(struct esi_leaks *leaks);

/* A line for each; nothing where nothing is left over. */
void esi_leaks_print_text(const struct esi_leaks *leaks, FILE *stream);
/* An object a line for each: "type" is "leak". */
void esi_leaks_print_json(const struct esi_leaks *leaks, struct esi_json_out *out);

#endif
