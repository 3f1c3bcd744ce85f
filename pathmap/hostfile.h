/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Hostfiles of MPI launchers.
 *
 *   node1            one slot
 *   node2:4          four slots, MPICH's syntax
 *   node3 slots=4    Open MPI's syntax
 *   # comment
 *
 * Other words (binding=, user=, max_slots=) are ignored.  The slots of a host that
 * occurs several times are added up.
 */
#ifndef ES_PATHMAP_HOSTFILE_H
#define ES_PATHMAP_HOSTFILE_H

#include <stddef.h>

#include "eventspace/error.h"

struct esi_hostfile_line {
    char *name;
    int slots;
};

/* In caller's memory. */
struct esi_hostfile {
    struct esi_hostfile_line *hosts; /* owned, in the order of the file */
    size_t count;
    size_t capacity;
};

/* Parses a hostfile.  Returns 0; -EINVAL, with the location of the error; or -ENODATA
 * if it contains no host. */
int esi_hostfile_parse(const char *text,
                       const char *source,
                       struct es_error *error,
                       struct esi_hostfile *ret_hostfile);
int esi_hostfile_load(const char *path,
                      struct es_error *error,
                      struct esi_hostfile *ret_hostfile);
void esi_hostfile_fini(struct esi_hostfile *hostfile);

#endif
