/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * leaks.h - leaks at the end of a run: messages not received, requests not completed,
 * objects not freed.
 *
 *   esi_leaks_find(facts, &leaks);
 *   esi_leaks_print_text(&leaks, stdout);
 *   esi_leaks_fini(&leaks);
 *
 * Only for processes that reached MPI_Finalize: the others had no chance to clean up.
 * Unknown data is not reported as a leak, which makes the result a lower bound.
 *
 * Pure logic.
 */
#ifndef ES_MONITORS_LATENT_LEAKS_H
#define ES_MONITORS_LATENT_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitors/verdict/facts.h"
#include "tuplespace/ledger.h"

enum esi_leak_kind {
    ESI_LEAK_MESSAGES,    /* sent but not received */
    ESI_LEAK_REQUESTS,    /* not completed: `operation` */
    ESI_LEAK_MATCHED,     /* messages of a matched probe that were not received */
    ESI_LEAK_PERSISTENT,  /* requests not freed */
    ESI_LEAK_COLLECTIVES, /* entered by others, but not by this rank: `operation` */
    ESI_LEAK_EPOCHS,      /* open epochs of a window: `epoch` */
    ESI_LEAK_OBJECTS,     /* not freed: `object` */
};

struct esi_leak {
    enum esi_leak_kind kind;
    int rank;                 /* the first one with this leak */
    size_t ranks;             /* number of ranks with the same leak */
    uint64_t count;           /* per rank */
    int peer;                 /* world rank; -1 = none, any, or not known */
    int32_t tag;              /* ES_TAG_ANY = any; -1 = none */
    const char *communicator; /* borrowed from the facts; NULL = none */
    uint16_t operation;
    enum esi_ledger_epoch_kind epoch;
    enum esi_ledger_object object;
    const char *site; /* where the request was posted; borrowed; NULL = not known */
};

/* Owned. */
struct esi_leaks {
    struct esi_leak *items; /* by kind, then rank */
    size_t count, capacity;
    size_t unknown; /* finalized processes whose ledger is unknown or incomplete */
    size_t unended; /* processes that did not reach MPI_Finalize */
};

/* `facts` must outlive the leaks: the texts are theirs.  Returns 0 or -ENOMEM. */
int esi_leaks_find(const struct esi_facts *facts, struct esi_leaks *ret_leaks);
/* Accepts a zeroed struct. */
void esi_leaks_fini(struct esi_leaks *leaks);

/* Prints one line per leak; nothing if there are none. */
void esi_leaks_print_text(const struct esi_leaks *leaks, FILE *stream);
/* Prints one object per line and leak: "type" is "leak". */
void esi_leaks_print_json(const struct esi_leaks *leaks, FILE *stream);

#endif
