/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The sources of a scope's tuples: its elements, here and on other hosts, the position
 * up to which each was read, and whether its writer waits.
 *
 * All functions are called by the thread of the scope.
 */
#ifndef ES_SCOPES_SCOPE_ORIGINS_H
#define ES_SCOPES_SCOPE_ORIGINS_H

#include "base/host.h"
#include "eventspace/scope.h"
#include "scopes/chosen_scope.h"
#include "wrappers/stages/stage.h"

struct esi_catalog;
struct esi_catalog_process;

/* The owner sets the first four members. */
struct esi_scope_origins {
    struct es_run *run;                   /* borrowed */
    const struct es_scope_config *config; /* of the scope; borrowed */
    esi_scope_choose_fn choose;           /* NULL for the view's selection */
    void *choose_data;

    struct esi_catalog *catalog;   /* of the other hosts; NULL without servers */
    size_t catalogued;             /* number of its elements that were examined */
    char here[ES_HOST_NAME_BYTES]; /* the consumer's host */
    struct es_origins origins;     /* owned */
    struct es_places places;       /* owned; one per origin */
    const struct esi_catalog_process **processes; /* by origin; NULL if mapped here */
    size_t capacity;                              /* of origins, places and processes */
    struct es_origin *global; /* the origins with global times, or NULL */
    char communicator[64];    /* last name looked up */
};

/* Creates the catalog of the other hosts if there are servers.  Returns 0 or -errno. */
int esi_origins_find_servers(struct esi_scope_origins *from);
/* Unregisters the scope: no writer waits for it any more. */
void esi_origins_unregister(struct esi_scope_origins *from);
void esi_origins_fini(struct esi_scope_origins *from);

/* Adds selected elements that are not known yet.  Returns their number or -errno. */
int esi_origins_find(struct esi_scope_origins *from, bool joining);
/* Removes the origins from `count` on, and unregisters from them.  `catalogued` is its
 * value before they were found. */
void esi_origins_drop(struct esi_scope_origins *from, size_t count, size_t catalogued);

/* Registers or unregisters the scope as a reader, as required by the current
 * `lossless`. */
void esi_origins_update_registration(struct esi_scope_origins *from);
/* Returns true if the element is read in this process. */
bool esi_origins_read_here(const struct esi_scope_origins *from, size_t index);
/* The consumer's host; NULL if all stages are in its process. */
const char *esi_origins_consumer_host(const struct esi_scope_origins *from);

/* Converts the times of the batch's tuples, from `first` on, to ns since 1970. */
void esi_origins_make_global(const struct esi_scope_origins *from,
                             struct es_batch *batch,
                             size_t first);

/* Callback of a stage context whose `data` is the scope. */
const char *esi_scope_communicator_name(void *data,
                                        uint32_t origin,
                                        uint16_t communicator);

#endif
