/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What an archive says beside its tuples: the run, its hosts, processes, elements and
 * communicators, and the operations that were under way at the end.
 *
 * One model for both sides: a writer fills it while the run goes on, a reader gets it
 * from the file (docs/archive.md).  Numbers of hosts, processes and elements count from
 * 0 in the order in which they were added, and never change.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_TABLES_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/clock.h"
#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/tuple.h"

/* Times are nanoseconds of run time, as since 1970 (eventspace/stage_batch.h). */
struct esi_archive_facts {
    char run[64];
    uint64_t begun_ns; /* when recording began */
    uint64_t ended_ns; /* when it ended; 0 = it has not: it goes on, or was killed */
    uint64_t tuples;   /* as of the last writing of the tables; likewise the next */
    uint64_t lost;     /* while recording */
    uint64_t missed;   /* tuples that were gone before recording began */
    char error[256];   /* why recording ended too soon; "" = it did not */
};

struct esi_archive_host {
    char name[256];
    uint8_t uuid[16]; /* of its trace */
    /* Its CLOCK_MONOTONIC against the home server's, as of the last look. */
    bool clock_known;
    uint64_t clock_monotonic_ns;
    int64_t clock_offset_ns; /* home - host */
    double clock_drift_ppb;
    uint64_t clock_error_ns;
};

/* Text is owned where it is in the tables, else borrowed. */
struct esi_archive_communicator {
    uint64_t key[2]; /* alike in all members */
    char name[64];
    int rank; /* own */
    int size; /* of the local group */
    int remote_size;
    int first; /* world rank of its rank 0; -1 = not known */
    int remote_first;
    uint16_t parent; /* index, or ES_COMMUNICATOR_NONE */
    bool freed;
};

/* World ranks of a group's members, once for all processes that have it. */
struct esi_archive_group {
    uint64_t key[2]; /* of the communicator */
    int first;       /* world rank of its rank 0: tells the groups of an
                        intercommunicator apart */
    int32_t *world;  /* owned where it is in the tables; -1 = not known */
    size_t size;
};

struct esi_archive_process {
    uint32_t host;
    int rank;
    int size;
    int pid;
    char program[256];
    char state[16]; /* "running", "finalized", "aborted", "exited", "killed", "lost" */
    int exit_code;
    int signal;
    uint64_t ended_realtime_ns; /* 0 = not known */
    struct es_clock clock;      /* by which its ticks were converted */
    struct esi_archive_communicator *communicators; /* by index; owned by the tables */
    size_t communicator_count, communicator_capacity;
};

struct esi_archive_element {
    uint32_t process;
    char name[128];
    char collector[64];
    int thread;
    uint32_t classes; /* bits 1 << enum es_class */
    int peer;
    uint16_t communicator;
    uint32_t threshold; /* 0 = not known */
    bool block;
    bool off;        /* switched off when recording ended */
    uint64_t missed; /* tuples that were gone before recording began */
    uint64_t lost;   /* while recording, as of the last writing of the tables */
};

/* An operation under way at the end; its stop is 0. */
struct esi_archive_open {
    uint32_t element;
    struct es_tuple tuple; /* its start in nanoseconds */
    uint64_t site;         /* where it was called; 0 = not known */
};

/* A module of a process: what addresses of calls are resolved by. */
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
    struct esi_archive_open *open;
    size_t open_count, open_capacity;
    struct esi_archive_module *modules;
    size_t module_count, module_capacity;
};

void esi_archive_tables_init(struct esi_archive_tables *tables);
/* Frees what is in them; the struct is the caller's. */
void esi_archive_tables_fini(struct esi_archive_tables *tables);

/* --- Filling; what is given is copied; -ENOMEM ------------------------------------ */

/* The host of this name, which is added if need be. */
int esi_archive_tables_host(struct esi_archive_tables *tables,
                            const char *name,
                            uint32_t *ret_host);
/* `process->communicators` is not looked at. */
int esi_archive_tables_add_process(struct esi_archive_tables *tables,
                                   const struct esi_archive_process *process,
                                   uint32_t *ret_process);
int esi_archive_tables_add_element(struct esi_archive_tables *tables,
                                   const struct esi_archive_element *element,
                                   uint32_t *ret_element);
/* Index `index` of a process's table: the next one, or one that is there already. */
int esi_archive_tables_set_communicator(
    struct esi_archive_tables *tables,
    uint32_t process,
    uint16_t index,
    const struct esi_archive_communicator *communicator);
/* Where the group is not there yet. */
int esi_archive_tables_add_group(struct esi_archive_tables *tables,
                                 const struct esi_archive_group *group);
int esi_archive_tables_add_open(struct esi_archive_tables *tables,
                                const struct esi_archive_open *open);
int esi_archive_tables_add_module(struct esi_archive_tables *tables,
                                  const struct esi_archive_module *module);

/* The group of a communicator (the remote one where `remote`); NULL where its members
 * are not known.  O(groups). */
const struct esi_archive_group *esi_archive_tables_group(
    const struct esi_archive_tables *tables,
    const struct esi_archive_communicator *communicator,
    bool remote);

/* --- As a file: JSON Lines -------------------------------------------------------- */

/* Errors stay in the stream. */
void esi_archive_tables_write(const struct esi_archive_tables *tables, FILE *stream);

/* Reads into empty tables; `source` names the file in errors.  -EINVAL with line and
 * column, -ENOMEM; then what was read so far is to be finished all the same. */
int esi_archive_tables_read(struct esi_archive_tables *tables,
                            const char *text,
                            size_t length,
                            const char *source,
                            struct es_error *error);

#endif
