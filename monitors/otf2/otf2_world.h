/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_world.h - the processes and communicators of an archive that is read. */
#ifndef ES_MONITORS_OTF2_OTF2_WORLD_H
#define ES_MONITORS_OTF2_OTF2_WORLD_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/causality/causality.h"
#include "monitors/otf2/otf2_tables.h"

/* Where a location's events go. */
struct esi_otf2_place {
    bool is_used;     /* a thread of a rank that has events */
    uint32_t process; /* its row */
    uint32_t element;
};

/* The caller sets the first part, zeros the second. */
struct esi_otf2_world {
    const struct esi_otf2_tables *tables; /* borrowed, as all of the first part */
    struct esi_causality *causality;      /* NULL: only places are found */
    const char *path;                     /* for errors */
    struct es_error *error;

    struct esi_otf2_place *places; /* by row of locations; owned, as the next */
    int32_t *ranks;                /* by row of processes; -1 = none */
    uint32_t *processes;           /* numbers in `causality`, by row */
};

/* Adds them to `causality`.  0; -ENOMEM; -EINVAL with words. */
int esi_otf2_world_make(struct esi_otf2_world *world);
void esi_otf2_world_fini(struct esi_otf2_world *world);

#endif
