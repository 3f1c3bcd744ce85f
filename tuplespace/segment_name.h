/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of segments in shared memory: "/eventspace.RUN.HOST.RANK.PID", with ',' for
 * each '.' of RUN, and with "+OTHER" (eight hexadecimal digits) behind it where that
 * name was taken. */
#ifndef ES_TUPLESPACE_SEGMENT_NAME_H
#define ES_TUPLESPACE_SEGMENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Where the C library keeps shared memory objects; names can only be listed there. */
#define ES_SHM_DIRECTORY "/dev/shm"
#define ES_SEGMENT_NAME_BYTES 224

/* The parts of a name. */
struct esi_segment_name {
    char run[64];
    char host[64];
    int rank; /* -1 = was not known when the segment was made */
    int pid;
    uint32_t other; /* 0 = none */
};

/* Whether the text can be a run's id: 1 to 63 characters of [A-Za-z0-9_-], and '.'
 * between two of these. */
bool esi_run_id_is_valid(const char *run);

/* Writes the name, with its leading slash.  -EINVAL when a part does not fit the form.
 */
int esi_segment_name_format(const struct esi_segment_name *name,
                            char out[ES_SEGMENT_NAME_BYTES]);

/* Takes a name (with or without the slash) apart.  -EINVAL: not a segment's name. */
int esi_segment_name_parse(const char *text, struct esi_segment_name *ret_name);

/* Calls `visit` for each segment of this user (of one run, or of all where `run` is
 * NULL); a result other than 0 ends the visits and is returned.  `status` is the
 * file's; its inode tells a file from a later one of the same name.  -errno when the
 * directory cannot be read; one that is not there is empty. */
typedef int (*esi_segment_visit_fn)(const struct esi_segment_name *name,
                                    const struct stat *status,
                                    void *context);
int esi_segment_name_foreach(const char *run,
                             esi_segment_visit_fn visit,
                             void *context);

/* A user other than this one who has segments of the run.  -ENOENT: nobody. */
int esi_segment_name_find_other(const char *run, unsigned int *ret_user);

#endif
