/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads a run on this host: its segments, elements, tuples and communicators.
 *
 * Works the same for running, hung and dead processes.  Reading writes to no memory
 * that the observed program reads often; its only cost to the program is shared cache
 * lines.
 *
 * Not thread safe: threads either open the run separately, or share it, use different
 * cursors and do not refresh it.
 *
 * A position is the number of tuples published in an element before this one, from 0.
 */
#ifndef EVENTSPACE_RUN_H
#define EVENTSPACE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/clock.h"
#include "eventspace/error.h"
#include "eventspace/tuple.h"

struct es_run;
struct es_segment_view; /* one attached segment */
struct es_element_view; /* one element of a segment */

/* --- Runs ------------------------------------------------------------------------ */

/* A run on this host.  A run belongs to the directory of run directories with which its
 * processes were started ($EVENTSPACE_DIR). */
struct es_run_info {
    char run[64];
    int segments;
    int alive;                    /* segments whose process is alive */
    uint64_t started_realtime_ns; /* when the first process started,
                                     from the clock records */
    int unreadable; /* segments that cannot be attached; also counted in `segments` */
    bool elsewhere; /* no segment is known to belong to this process's directory */
};

/* Lists the runs that belong to this process's directory and have segments of this user
 * on this host, newest first.  Returns their number, or -errno if /dev/shm cannot be
 * read.  The caller frees *ret_runs. */
ES_API int es_run_list(struct es_run_info **ret_runs);
/* Like es_run_list(), for the runs of all directories, including unknown ones. */
ES_API int es_run_list_everywhere(struct es_run_info **ret_runs);

/* Opens a run and attaches its segments on this host.  If `run` is NULL, opens the only
 * live run of this process's directory or, if none is alive, its only run.  A run that
 * is named may belong to any directory.  Returns 0; -ENOENT if there is no such run;
 * -EACCES if it belongs to another user; -ENOTUNIQ if there are several (`error` names
 * them). */
ES_API int es_run_open(const char *run,
                       struct es_error *error,
                       struct es_run **ret_run);

/* Like es_run_open(), but succeeds if this host has no segments of the run yet; a
 * refresh attaches those that appear.  `run` must not be NULL. */
ES_API int es_run_open_empty(const char *run,
                             struct es_error *error,
                             struct es_run **ret_run);

/* Attaches segments and elements that have appeared since the last call.  Returns the
 * number of new segments plus new elements, or -errno.  Existing views stay valid. */
ES_API int es_run_refresh(struct es_run *run);

/* Detaches all segments and frees the run.  Accepts NULL. */
ES_API void es_run_close(struct es_run *run);

/* Name of the run.  Borrowed until the run is closed. */
ES_API const char *es_run_name(const struct es_run *run);

/* Number of segments that the last open or refresh could not attach, and the error of
 * each; NULL beyond the last.  Borrowed until the next refresh. */
ES_API size_t es_run_unreadable_count(const struct es_run *run);
ES_API const struct es_error *es_run_unreadable(const struct es_run *run, size_t index);

/* Removes the segments of a run, or of all runs if `run` is NULL, from shared memory.
 * Without `live`, removes only segments of dead processes.  Removes only segments that
 * belong to this process's directory; if the run is named, also those whose directory
 * is not known.  Segments that cannot be attached count as dead if no process has the
 * pid in their name.  Returns the number removed, or -errno. */
ES_API int es_run_remove(const char *run, bool live);
/* Like es_run_remove(), for segments of any directory. */
ES_API int es_run_remove_everywhere(const char *run, bool live);

/* --- Segments: one per observed process ------------------------------------------- */

/* Number of attached segments. */
ES_API size_t es_run_segment_count(const struct es_run *run);
/* Segment by index, ordered by rank, then pid; NULL beyond the last.  Borrowed until
 * the run is closed. */
ES_API struct es_segment_view *es_run_segment(const struct es_run *run, size_t index);

enum es_process_state {
    ES_PROCESS_RUNNING,
    ES_PROCESS_FINALIZED, /* left MPI; may still run */
    ES_PROCESS_ABORTED,   /* called MPI_Abort */
    ES_PROCESS_EXITED,    /* ended without finalizing MPI; see exit_code */
    ES_PROCESS_KILLED,    /* killed by a signal */
    ES_PROCESS_LOST,      /* ended, but it is not known how */
};

struct es_segment_info {
    const char *host; /* borrowed */
    const char *program;
    const char *job;      /* id of the batch job; "" if none */
    const char *launcher; /* program that started it, such as "srun"; "" if not known */
    int rank;             /* -1 if not known */
    int size;             /* -1 if not known */
    int pid;
    bool alive; /* the process exists; false for zombies and recycled pids */
    bool kept;  /* held by a tuple server: it contains elements
                   placed here by another host, whose process has
                   this pid, rank and clock, or data of consumers */
    enum es_process_state state;
    int exit_code;              /* if it exited by itself, whatever the state, and that
                                   is known; else -1 */
    int signal;                 /* signal if KILLED, else 0 */
    uint64_t ended_realtime_ns; /* 0 if not known */
    uint64_t segment_bytes;     /* memory in use: header, directory, tables and rings */
    uint32_t elements_refused;
    uint32_t elements_shrunk;
    uint32_t communicators_refused;
    uint64_t tuples_refused; /* tuples not recorded because the process had no memory */
};

/* Fills *ret_info.  Its texts are borrowed until the run is closed. */
ES_API void es_segment_view_info(const struct es_segment_view *segment,
                                 struct es_segment_info *ret_info);
/* Clock of the segment.  Borrowed; to refine it, make a copy. */
ES_API const struct es_clock *es_segment_view_clock(
    const struct es_segment_view *segment);
/* Number of elements of the segment. */
ES_API size_t es_segment_view_element_count(const struct es_segment_view *segment);
/* Element by index; NULL beyond the last.  Borrowed until the run is closed. */
ES_API struct es_element_view *es_segment_view_element(
    const struct es_segment_view *segment,
    size_t index);

/* A module of the process: the program itself or a shared object. */
enum { ES_BUILD_ID_BYTES = 32, ES_MODULE_PATH_BYTES = 448 };

struct es_module {
    uint64_t begin; /* address range in memory */
    uint64_t end;
    uint64_t bias;           /* difference between addresses
                                in memory and in the file */
    uint32_t build_id_bytes; /* 0 if the module has no build id */
    uint8_t build_id[ES_BUILD_ID_BYTES];
    char path[ES_MODULE_PATH_BYTES]; /* path as seen by the process, truncated */
};

/* Lists the modules that have called MPI, oldest first.  Returns their number or
 * -ENOMEM.  The caller frees *ret_modules. */
ES_API int es_segment_view_modules(const struct es_segment_view *segment,
                                   struct es_module **ret_modules);

/* For programs that watch the run: records in all segments of the run on this host that
 * belong to `pid` how and when the process ended.  `status` is as waitpid(2) returns
 * it, `ended_ns` the time by CLOCK_REALTIME.  Returns the number of segments. */
ES_API int es_run_note_exit(const char *run, int pid, int status, uint64_t ended_ns);

/* --- Communicators ---------------------------------------------------------------- */

struct es_communicator_info {
    uint64_t key[2]; /* equal in all members */
    int rank;        /* rank of this process in it */
    int size;
    int remote_size;  /* 0 unless it is an intercommunicator */
    int first;        /* world rank of rank 0; -1 if not known */
    int remote_first; /* world rank of rank 0 of the remote group */
    uint16_t parent;  /* index of the parent, or ES_COMMUNICATOR_NONE */
    bool freed;
    char name[64];
};

/* Number of communicators in the segment's table. */
ES_API size_t es_segment_view_communicator_count(const struct es_segment_view *segment);
/* Fills *ret_info.  Returns 0, or -ENOENT if there is no such index. */
ES_API int es_segment_view_communicator(const struct es_segment_view *segment,
                                        uint16_t index,
                                        struct es_communicator_info *ret_info);
/* World rank of a member of the communicator; of its remote group if `remote`.  Also
 * searches the other segments of the run.  Returns -ENOENT if not known on this
 * host. */
ES_API int es_run_world_rank(const struct es_run *run,
                             const struct es_segment_view *segment,
                             uint16_t communicator,
                             bool remote,
                             int rank);

/* --- Elements --------------------------------------------------------------------- */

struct es_element_info {
    const char *name;      /* path, such as "3.0/collective"; borrowed */
    const char *collector; /* borrowed */
    const char *host;      /* borrowed */
    int rank;
    int thread;
    uint32_t classes;      /* bits 1 << enum es_class */
    int peer;              /* ES_PEER_NONE if any */
    uint16_t communicator; /* ES_COMMUNICATOR_NONE if any */
    uint32_t threshold;
    uint32_t threshold_max; /* threshold at creation: the maximum */
    uint32_t capacity;      /* in slots */
    uint32_t tuple_bytes;
    bool shared; /* has several writers */
    bool enabled;
    bool block;           /* a full element blocks its writer instead
                             of discarding the oldest tuple */
    uint64_t head;        /* tuples published since creation */
    uint64_t oldest;      /* first position that can still be read */
    uint64_t polls;       /* polls that found nothing */
    uint64_t held;        /* completed receives held back at the moment */
    uint64_t blocked;     /* how often the writer waited for its reader */
    bool moved;           /* the pathmap places the element on another host,
                             where its tuples are, under the same name */
    uint64_t lost_moving; /* tuples overwritten before they were moved
                             here; no reader counts them as lost */
};

/* Fills *ret_info.  Its texts are borrowed until the run is closed. */
ES_API void es_element_view_info(const struct es_element_view *element,
                                 struct es_element_info *ret_info);
/* The segment that contains the element.  Borrowed. */
ES_API struct es_segment_view *es_element_view_segment(
    const struct es_element_view *element);

/* Selects elements: all fields that are set must match. */
struct es_selection {
    const char *host;      /* NULL for any */
    const char *ranks;     /* "0-3,7"; NULL for any; borrowed */
    int thread;            /* -1 for any */
    uint32_t classes;      /* elements with any of these bits; 0 for all */
    const char *collector; /* NULL for any */
    const char *name;      /* fnmatch(3) pattern of the path; NULL for any */
};

/* Initializes the selection to match all elements. */
ES_API void es_selection_init(struct es_selection *selection);
/* Checks the syntax of the texts.  Returns 0, or -EINVAL with `error` filled. */
ES_API int es_selection_check(const struct es_selection *selection,
                              struct es_error *error);
/* Returns whether the element matches. */
ES_API bool es_selection_has(const struct es_selection *selection,
                             const struct es_element_view *element);
/* Like es_selection_has(), for the description of an element, possibly on another
 * host. */
ES_API bool es_selection_has_info(const struct es_selection *selection,
                                  const struct es_element_info *info);
/* Lists the matching elements, ordered by rank, thread and index in the directory,
 * except elements whose tuples are on another host.  Returns their number or -errno.
 * The caller frees the array *ret_elements but not the elements. */
ES_API int es_run_select(const struct es_run *run,
                         const struct es_selection *selection,
                         struct es_element_view ***ret_elements);

/* Reads the newest published tuple.  Returns 1; or 0 if there is none, and then leaves
 * the outputs unchanged. */
ES_API int es_element_latest(const struct es_element_view *element,
                             struct es_tuple *ret_tuple,
                             uint64_t *ret_position);
/* Like es_element_latest() for `count` elements at once, which reduces the time spent
 * waiting for memory.  Returns the number of tuples found; ret_indices[k] is the index
 * of the element of ret_tuples[k].  Each array must have room for `count` entries.
 * ret_tuples may be overwritten beyond the result. */
ES_API size_t es_element_latest_of_each(const struct es_element_view *const *elements,
                                        size_t count,
                                        struct es_tuple *ret_tuples,
                                        uint64_t *ret_positions,
                                        uint32_t *ret_indices);

/* Reads the operation under way (stop = 0).  Returns 1; or 0 if the thread is in no
 * operation of this element, or if no consistent copy was obtained in 100 attempts. */
ES_API int es_element_open(const struct es_element_view *element,
                           struct es_tuple *ret_tuple);

/* The position of a reader in an element. */
struct es_cursor {
    uint64_t position; /* position of the next tuple to read */
    uint64_t lost;     /* tuples overwritten or discarded before they were read */
};

/* Sets the cursor to the oldest tuple that can be read or, if `at_end`, behind the
 * newest. */
ES_API void es_cursor_init(struct es_cursor *cursor,
                           const struct es_element_view *element,
                           bool at_end);

/* Copies up to `max` tuples, oldest first, and advances the cursor.  Tuples that were
 * overwritten are skipped and added to cursor->lost.  Never returns a torn tuple.
 * Returns the number copied, 0 if there is nothing new. */
ES_API size_t es_element_read(const struct es_element_view *element,
                              struct es_cursor *cursor,
                              struct es_tuple *ret_tuples,
                              size_t max);
/* Like es_element_read(), for elements whose tuples have another size.  `ret_tuples`
 * has room for max * tuple_bytes. */
ES_API size_t es_element_read_raw(const struct es_element_view *element,
                                  struct es_cursor *cursor,
                                  void *ret_tuples,
                                  size_t max);

/* Sleeps until a tuple is published at or after `position`.  Returns 0; -ETIMEDOUT; or
 * -EPIPE if the writing process is gone and no tuple is left.  The last is detected
 * only after 100 ms without a tuple or at the timeout, whichever is sooner. */
ES_API int es_element_wait(const struct es_element_view *element,
                           uint64_t position,
                           uint64_t timeout_ns);

/* --- Control ---------------------------------------------------------------------- */

/* Switches recording on or off. */
ES_API void es_element_enable(const struct es_element_view *element, bool enabled);
/* Sets how many tuples are kept from now on.  Returns 0, or -ERANGE unless `threshold`
 * is between 1 and the threshold at creation. */
ES_API int es_element_set_threshold(const struct es_element_view *element,
                                    uint32_t threshold);
/* Makes a full element block its writer, or discard the oldest tuple. */
ES_API void es_element_set_block(const struct es_element_view *element, bool block);
/* Discards all tuples before `position`, for all readers.  Never moves backwards. */
ES_API void es_element_discard(const struct es_element_view *element,
                               uint64_t position);

/* Appends a tuple to a shared element.  `tuple_bytes` must be the size of its tuples.
 * Returns 0; -EINVAL if the element or the size does not fit; or -EBUSY if another
 * writer was inside for two seconds.  May sleep while another writer is inside and, if
 * the element blocks, until its registered reader has made room. */
ES_API int es_element_append(const struct es_element_view *element,
                             const void *tuple,
                             uint32_t tuple_bytes);

/* Registers this process as the reader for which the writer of a blocking element
 * waits.  Returns 0, or -EBUSY if a living process, even this one, is registered.
 * Tuples overwritten before this call returns count as lost: initialize the cursor
 * afterwards. */
ES_API int es_element_register_reader(const struct es_element_view *element,
                                      uint64_t position);
/* Acknowledges all tuples before `position` and wakes a waiting writer. */
ES_API void es_element_acknowledge(const struct es_element_view *element,
                                   uint64_t position);
/* Unregisters this process as the reader. */
ES_API void es_element_unregister_reader(const struct es_element_view *element);

#endif
