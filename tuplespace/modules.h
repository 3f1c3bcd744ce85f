/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The modules of a process that call MPI: the program and its shared objects, where
 * they lie in memory and which files they are.  With them the address of a call, which
 * stands in the second column of a ring, becomes a line of source later on.
 *
 *   first table (header: modules_offset) -> next table -> ...
 *
 * Tables only grow.  A module that was unloaded stays; where another one came into its
 * place, the newest that has an address is meant.
 *
 *   may run at the same time: everything
 */
#ifndef ES_TUPLESPACE_MODULES_H
#define ES_TUPLESPACE_MODULES_H

#include <stdatomic.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/segment.h"

enum { ES_MODULE_TABLE_ENTRIES = 15, ES_MODULE_TABLES_MAX = 64 };

/* One module; constant once the count has it. */
struct esi_module_layout {
    uint64_t begin;
    uint64_t end;
    uint64_t bias;
    uint32_t build_id_bytes;
    uint32_t reserved; /* 0 */
    uint8_t build_id[ES_BUILD_ID_BYTES];
    char path[ES_MODULE_PATH_BYTES];
};

struct esi_module_table_layout {
    _Atomic uint32_t count; /* (release) */
    uint32_t capacity;
    uint32_t entry_bytes;
    uint32_t reserved;     /* 0 */
    _Atomic uint64_t next; /* offset of the next table, once this one is full; 0 = none
                              (release) */
};

/* Tells readers of a module.  -ENOSPC. */
int esi_segment_add_module(struct es_segment *segment, const struct es_module *module);

#endif
