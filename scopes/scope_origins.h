/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where the tuples of a scope come from: its elements, here and on other hosts, how far
 * each has been read, and whether its writer waits.
 *
 * All functions are for the thread of the scope.
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
    const struct es_scope_config *config; /* the scope's; borrowed */
    esi_scope_choose_fn choose;           /* NULL = the view's selection */
    void *choose_data;

    struct esi_catalog *catalog;   /* of the other hosts; NULL = there are no servers */
    size_t catalogued;             /* elements of it that were looked at */
    char here[ES_HOST_NAME_BYTES]; /* the consumer's host */
    struct es_origins origins;     /* owned */
    struct es_places places;       /* owned; as many as origins */
    const struct esi_catalog_process *
        *processes;           /* of each origin; NULL = mapped here */
    size_t capacity;          /* of origins, places and processes */
    struct es_origin *global; /* what origins look like with global times; or NULL */
    char communicator[64];    /* last name that was asked for */
};

/* Makes the catalog of the other hosts, if there are servers.  -errno. */
int esi_origins_find_servers(struct esi_scope_origins *from);
/* No writer waits for this scope any more. */
void esi_origins_unregister(struct esi_scope_origins *from);
void esi_origins_fini(struct esi_scope_origins *from);

/* Adds the elements that are selected and not yet known.  Returns their number or
 * -errno. */
int esi_origins_find(struct esi_scope_origins *from, bool joining);
/* Removes the origins from `count` on; no writer waits for them any more.  `catalogued`
 * is the value that it had before they were found. */
void esi_origins_drop(struct esi_scope_origins *from, size_t count, size_t catalogued);

/* Makes writers wait, or no longer, as `lossless` says now. */
void esi_origins_update_registration(struct esi_scope_origins *from);
/* Whether the element is read in this process. */
bool esi_origins_read_here(const struct esi_scope_origins *from, size_t index);
/* Where the consumer stands; NULL: all stages stand in its process. */
const char *esi_origins_consumer_host(const struct esi_scope_origins *from);

/* Converts the times of the batch's tuples, from `first` on, to ns since 1970. */
void esi_origins_make_global(const struct esi_scope_origins *from,
                             struct es_batch *batch,
                             size_t first);

/* The function of a stage context whose `data` is the scope. */
const char *esi_scope_communicator_name(void *data,
                                        uint32_t origin,
                                        uint16_t communicator);

#endif
