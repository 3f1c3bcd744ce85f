/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of segments in shared memory: "/eventspace.RUN.HOST.RANK.PID", with ',' for
 * each '.' of RUN, followed by "+OTHER" (eight hexadecimal digits) if that name was
 * taken. */
#ifndef ES_TUPLESPACE_SEGMENT_NAME_H
#define ES_TUPLESPACE_SEGMENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Directory of the C library's shared memory objects, the only way to list them. */
#define ES_SHM_DIRECTORY "/dev/shm"
#define ES_SEGMENT_NAME_BYTES 224

/* The parts of a name. */
struct esi_segment_name {
    char run[64];
    char host[64];
    int rank; /* -1 if not known when the segment was created */
    int pid;
    uint32_t other; /* 0 if none */
};

/* Returns whether the text is a valid run id: 1 to 63 characters of [A-Za-z0-9_-], and
 * '.' between two of them. */
bool esi_run_id_is_valid(const char *run);

/* Formats the name with its leading slash.  Returns 0, or -EINVAL for an invalid
 * part. */
int esi_segment_name_format(const struct esi_segment_name *name,
                            char out[ES_SEGMENT_NAME_BYTES]);

/* Parses a name, with or without the slash.  Returns 0, or -EINVAL if it is not the
 * name of a segment. */
int esi_segment_name_parse(const char *text, struct esi_segment_name *ret_name);

/* Calls `visit` for each segment of this user, of one run, or of all runs if `run` is
 * NULL.  `status` is that of the file; its inode distinguishes files with the same
 * name.  A nonzero result of `visit` ends the iteration and is returned.  Returns
 * -errno if the directory cannot be read; a missing directory is empty. */
typedef int (*esi_segment_visit_fn)(const struct esi_segment_name *name,
                                    const struct stat *status,
                                    void *context);
int esi_segment_name_foreach(const char *run,
                             esi_segment_visit_fn visit,
                             void *context);

/* Finds another user who has segments of the run.  Returns 0, or -ENOENT if nobody
 * has. */
int esi_segment_name_find_other(const char *run, unsigned int *ret_user);

#endif
