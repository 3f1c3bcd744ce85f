/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The modules of a process that call MPI, that is the program and its shared objects:
 * their addresses in memory and their files.  They allow readers to translate the call
 * sites in the second column of a ring to source lines.
 *
 *   first table (header: modules_offset) -> next table -> ...
 *
 * Tables only grow.  Entries of unloaded modules remain; if modules overlap, the newest
 * one is meant.
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

/* One module; constant once counted. */
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
    _Atomic uint64_t next; /* offset of the next table once this
                              one is full; 0 if none (release) */
};

/* Adds a module to the table.  Returns 0 or -ENOSPC. */
int esi_segment_add_module(struct es_segment *segment, const struct es_module *module);

#endif
