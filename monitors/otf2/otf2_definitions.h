/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_definitions.h - the definitions that the events of an archive refer to:
 * locations, regions, communicators and windows.  Collected with the events and written
 * last.
 */
#ifndef ES_MONITORS_OTF2_OTF2_DEFINITIONS_H
#define ES_MONITORS_OTF2_OTF2_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <otf2/otf2.h>

#include "base/hash.h"
#include "eventspace/error.h"
#include "monitors/causality/causality.h"
#include "monitors/otf2/otf2_groups.h"

/* Fixed numbers. */
enum {
    ESI_OTF2_STATE = 0,       /* attribute: of operations in progress at the end */
    ESI_OTF2_TEXT_OPEN = 1,   /* string: its value */
    ESI_OTF2_FIRST_TEXT = 16, /* other strings are numbered from here */
    ESI_OTF2_ALL_RANKS = 0,   /* group of all locations; those of epochs follow */
    ESI_OTF2_FIRST_GROUP = 1,
};

/* A thread.  Location groups are processes: ranks first, then others. */
struct esi_otf2_thread {
    bool used;
    int rank;
    int number;
    char *name; /* as in event sets; owned */
    char *host; /* owned; NULL = no events */
    uint32_t group;
    uint32_t node;   /* of its host, while definitions are written */
    uint64_t events; /* number written */
    uint64_t lost;   /* tuples */
    uint64_t open;   /* operations in progress at the end */
};

struct esi_otf2_communicator {
    struct esi_run_communicator of; /* a copy that owns its name and world ranks */
    bool written;
};

struct esi_otf2_window {
    uint32_t communicator;
    int32_t number;
    bool is_made; /* a record has the time of its creation */
};

/* The writers of events read its members. */
struct esi_otf2_definitions {
    struct esi_otf2_thread *threads; /* by trace; owned, like all below */
    size_t thread_count, thread_capacity;
    struct esi_otf2_communicator *communicators; /* by number */
    size_t communicator_count;
    struct esi_otf2_window *windows;
    size_t window_count, window_capacity;
    struct esi_hash window_table;
    struct esi_otf2_groups epoch_groups;
    uint32_t *regions;      /* by operation code; UINT32_MAX = not used */
    uint16_t *region_codes; /* operation codes, by region */
    uint32_t region_count;
    uint32_t rank_count; /* in MPI_COMM_WORLD; valid, like group_count, when all
                            traces are known */
    uint32_t group_count;
    uint32_t *first_threads; /* per group: index of a thread; UINT32_MAX = none */
    bool has_times;
    uint64_t begin_ns; /* of the first event */
    uint64_t end_ns;   /* of the last */
};

/* Returns 0 or -ENOMEM. */
int esi_otf2_definitions_init(struct esi_otf2_definitions *definitions);
void esi_otf2_definitions_fini(struct esi_otf2_definitions *definitions);

/* Adds a trace of an event set.  Returns 0 or -ENOMEM. */
int esi_otf2_add_trace(struct esi_otf2_definitions *definitions, const char *name);
/* Records the trace and times of a call.  Returns 0 or -ENOMEM. */
int esi_otf2_note_call(struct esi_otf2_definitions *definitions,
                       uint32_t trace,
                       const struct esi_causal_call *call);
/* Copies the communicators, as they are known at the end.  Returns 0 or -ENOMEM. */
int esi_otf2_add_communicators(struct esi_otf2_definitions *definitions,
                               const struct esi_run_model *run);
/* Numbers the processes; call after all traces were used.  Returns 0 or -ENOMEM. */
int esi_otf2_number_groups(struct esi_otf2_definitions *definitions);
OTF2_LocationRef esi_otf2_location_of(const struct esi_otf2_thread *thread);
/* The first thread of a process; NULL if nothing was recorded of it. */
const struct esi_otf2_thread *esi_otf2_first_thread(
    const struct esi_otf2_definitions *definitions,
    uint32_t group);

/* The region of an operation. */
OTF2_RegionRef esi_otf2_region(struct esi_otf2_definitions *definitions, uint16_t code);
/* UINT32_MAX if out of memory. */
OTF2_RmaWinRef esi_otf2_window(struct esi_otf2_definitions *definitions,
                               uint32_t communicator,
                               int32_t number);
/* Finds or adds the group of some members of a communicator, by their ranks in it.
 * UINT32_MAX if out of memory. */
OTF2_GroupRef esi_otf2_epoch_group(struct esi_otf2_definitions *definitions,
                                   uint32_t communicator,
                                   const int32_t *ranks,
                                   uint32_t count);

/* Returns 0 or -errno with `error` filled. */
int esi_otf2_write_definitions(struct esi_otf2_definitions *definitions,
                               OTF2_Archive *archive,
                               const char *path,
                               struct es_error *error);

#endif
