/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_world.h - the processes and communicators of an archive being read. */
#ifndef ES_MONITORS_OTF2_OTF2_WORLD_H
#define ES_MONITORS_OTF2_OTF2_WORLD_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/causality/causality.h"
#include "monitors/otf2/otf2_tables.h"

/* The destination of a location's events. */
struct esi_otf2_place {
    bool is_used;     /* it is a thread of a rank, with events */
    uint32_t process; /* its row */
    uint32_t element;
};

/* The caller sets the first part and zeroes the second. */
struct esi_otf2_world {
    const struct esi_otf2_tables *tables; /* borrowed, like all of the first part */
    struct esi_causality *causality;      /* NULL: only find places */
    const char *path;                     /* for errors */
    struct es_error *error;

    struct esi_otf2_place *places;      /* by row of locations; owned, like the next */
    int32_t *ranks;                     /* by row of processes; -1 = none */
    struct esi_run_process **processes; /* in `causality`, by row */
};

/* Adds them to `causality`. Returns 0, -ENOMEM, or -EINVAL with `error` filled. */
int esi_otf2_world_make(struct esi_otf2_world *world);
void esi_otf2_world_fini(struct esi_otf2_world *world);

#endif
