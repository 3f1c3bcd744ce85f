/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The tables of an archive: the run, its hosts, processes, elements and communicators,
 * and the operations that were under way at the end.
 *
 * Writers fill the tables during the run; readers load them from the file
 * (docs/archive.md).  Hosts, processes and elements are numbered from 0 in the order in
 * which they were added; numbers never change.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_TABLES_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hash.h"
#include "eventspace/clock.h"
#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/tuple.h"

/* Times are nanoseconds of run time, since 1970 (eventspace/stage_batch.h). */
struct esi_archive_facts {
    char run[64];
    uint64_t begun_ns; /* start of recording */
    uint64_t ended_ns; /* end of recording; 0 = it continues or was killed */
    uint64_t tuples;   /* as of the last writing of the tables, like `lost` */
    uint64_t lost;     /* while recording */
    uint64_t missed;   /* tuples that were gone before recording began */
    char error[256];   /* why recording ended early; "" = it did not */
};

struct esi_archive_host {
    char name[256];
    uint8_t uuid[16]; /* of its trace */
    /* The relation of its CLOCK_MONOTONIC to the home server's, as of the last
     * measurement. */
    bool clock_known;
    uint64_t clock_monotonic_ns;
    int64_t clock_offset_ns; /* home - host */
    double clock_drift_ppb;
    uint64_t clock_error_ns;
};

/* Strings are owned in the tables, and borrowed elsewhere. */
struct esi_archive_communicator {
    uint64_t key[2]; /* equal in all members */
    char name[64];
    int rank; /* its own rank */
    int size; /* of the local group */
    int remote_size;
    int first; /* world rank of the member with rank 0; -1 = not known */
    int remote_first;
    uint16_t parent; /* index, or ES_COMMUNICATOR_NONE */
    bool freed;
};

/* World ranks of the members of a group, stored once for all its processes. */
struct esi_archive_group {
    uint64_t key[2]; /* of the communicator */
    int first;       /* world rank of the member with rank 0: distinguishes the groups
                        of an intercommunicator */
    int32_t *world;  /* owned in the tables, borrowed elsewhere; -1 = not known */
    size_t size;
};

struct esi_archive_process {
    uint32_t host;
    int rank;
    int size;
    int pid;
    char program[256];
    char state[16];  /* "running", "finalized", "aborted", "exited", "killed", "lost" */
    bool before_mpi; /* it has no elements, because it had not called MPI at the end */
    int exit_code;
    int signal;
    uint64_t ended_realtime_ns;                     /* 0 = not known */
    struct es_clock clock;                          /* used to convert its ticks */
    struct esi_archive_communicator *communicators; /* by index; owned by the tables */
    size_t communicator_count, communicator_capacity;
};

struct esi_archive_element {
    uint32_t process;
    char name[128];
    char collector[64];
    int thread;
    uint32_t classes; /* bits: 1 << enum es_class */
    int peer;
    uint16_t communicator;
    uint32_t threshold; /* 0 = not known */
    bool block;
    bool off;        /* switched off when recording ended */
    uint64_t missed; /* tuples that were gone before recording began */
    uint64_t lost;   /* while recording, as of the last writing of the tables */
};

/* An operation that was under way at the end; its stop is 0. */
struct esi_archive_open {
    uint32_t element;
    struct es_tuple tuple; /* start is in nanoseconds */
    uint64_t site;         /* call site; 0 = not known */
};

/* A module of a process, used to resolve call sites. */
struct esi_archive_module {
    uint32_t process;
    struct es_module module;
};

struct esi_archive_tables {
    struct esi_archive_facts facts;
    struct esi_archive_host *hosts;
    size_t host_count, host_capacity;
    struct esi_archive_process *processes;
    size_t process_count, process_capacity;
    struct esi_archive_element *elements;
    size_t element_count, element_capacity;
    struct esi_archive_group *groups;
    size_t group_count, group_capacity;
    struct esi_hash groups_by_key;
    struct esi_archive_open *open;
    size_t open_count, open_capacity;
    struct esi_archive_module *modules;
    size_t module_count, module_capacity;
};

/* Frees the contents; the struct belongs to the caller and is empty again. */
void esi_archive_tables_fini(struct esi_archive_tables *tables);

/* --- Filling: arguments are copied; functions return 0 or -ENOMEM ----------------- */

/* Returns the host with this name; adds it if necessary. */
int esi_archive_tables_host(struct esi_archive_tables *tables,
                            const char *name,
                            uint32_t *ret_host);
/* Ignores `process->communicators`. */
int esi_archive_tables_add_process(struct esi_archive_tables *tables,
                                   const struct esi_archive_process *process,
                                   uint32_t *ret_process);
int esi_archive_tables_add_element(struct esi_archive_tables *tables,
                                   const struct esi_archive_element *element,
                                   uint32_t *ret_element);
/* Sets entry `index` of a process's table: the next one, or an existing one. */
int esi_archive_tables_set_communicator(
    struct esi_archive_tables *tables,
    uint32_t process,
    uint16_t index,
    const struct esi_archive_communicator *communicator);
/* Does not look whether the group exists. */
int esi_archive_tables_add_group(struct esi_archive_tables *tables,
                                 const struct esi_archive_group *group);
int esi_archive_tables_add_open(struct esi_archive_tables *tables,
                                const struct esi_archive_open *open);
int esi_archive_tables_add_module(struct esi_archive_tables *tables,
                                  const struct esi_archive_module *module);

/* Returns the local or `remote` group of a communicator; NULL if its members are not
 * known. */
const struct esi_archive_group *esi_archive_tables_group(
    const struct esi_archive_tables *tables,
    const struct esi_archive_communicator *communicator,
    bool remote);

/* --- As a file: JSON Lines -------------------------------------------------------- */

/* Errors are left in the stream's error indicator. */
void esi_archive_tables_write(const struct esi_archive_tables *tables, FILE *stream);

/* Reads a file into empty tables; `source` names it in errors.  Returns 0, -ENOMEM, or
 * -EINVAL with line and column.  The caller must call esi_archive_tables_fini() in all
 * cases. */
int esi_archive_tables_read(struct esi_archive_tables *tables,
                            const char *text,
                            size_t length,
                            const char *source,
                            struct es_error *error);

#endif
