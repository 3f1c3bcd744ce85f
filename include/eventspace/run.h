/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reading a run on this host: its segments, elements, tuples and communicators.
 *
 * The same calls work on live, hung and dead processes.  Nothing here writes to what
 * the observed program reads often; reading costs it nothing but shared cache lines.
 *
 * Objects are not thread safe; different threads open the run separately or use
 * different cursors with no refresh going on.
 *
 * Positions count the tuples ever published in an element, from 0.
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
struct es_element_view; /* one element of it */

/* --- Runs ------------------------------------------------------------------------ */

/* One run as it is found on this host.  A run belongs to the folder of run directories
 * that its processes were started with ($EVENTSPACE_DIR). */
struct es_run_info {
    char run[64];
    int segments;
    int alive;                    /* segments whose process lives */
    uint64_t started_realtime_ns; /* earliest pairing */
    int unreadable; /* segments that cannot be attached, counted in `segments` too */
    bool elsewhere; /* no segment says that it belongs to this process's folder */
};

/* Lists the runs of this process's folder that have segments of this user on this host,
 * newest first.  Returns their number; caller frees *ret_runs.  -errno when /dev/shm
 * cannot be read. */
ES_API int es_run_list(struct es_run_info **ret_runs);
/* The same for those of all folders, or of none that is known. */
ES_API int es_run_list_everywhere(struct es_run_info **ret_runs);

/* Opens a run's segments on this host.  `run` NULL means the only live run of this
 * process's folder, or, if none is alive, the only run; a run that is named may belong
 * to any.  -ENOENT: no such run; -EACCES: it belongs to another user; -ENOTUNIQ:
 * several (the error names them). */
ES_API int es_run_open(const char *run,
                       struct es_error *error,
                       struct es_run **ret_run);

/* The same where this host may have no segments of the run (yet): then it is empty, and
 * a refresh attaches those that appear.  `run` is not NULL. */
ES_API int es_run_open_empty(const char *run,
                             struct es_error *error,
                             struct es_run **ret_run);

/* Attaches segments that have appeared since, and elements that were added.
 * Returns the number of new segments plus new elements, or -errno.  Views stay valid.
 */
ES_API int es_run_refresh(struct es_run *run);

/* Detaches everything.  Accepts NULL. */
ES_API void es_run_close(struct es_run *run);

ES_API const char *es_run_name(const struct es_run *run);

/* Segments of the run that the last open or refresh could not attach: their number, and
 * what is wrong with each.  Borrowed until the next refresh. */
ES_API size_t es_run_unreadable_count(const struct es_run *run);
ES_API const struct es_error *es_run_unreadable(const struct es_run *run, size_t index);

/* Removes the run's segments from shared memory, of all runs where `run` is NULL: of
 * dead processes only, unless `live` is set, and only those that belong to this
 * process's folder.  Of a run that is named those go, too, that say no folder; what
 * cannot be attached goes if the pid in its name is nobody's.  Returns the number
 * removed, or -errno. */
ES_API int es_run_remove(const char *run, bool live);
/* The same whatever folder the segments belong to. */
ES_API int es_run_remove_everywhere(const char *run, bool live);

/* --- Segments: one per observed process ------------------------------------------- */

ES_API size_t es_run_segment_count(const struct es_run *run);
/* Ordered by rank, then pid.  Borrowed: lives as long as the run is open. */
ES_API struct es_segment_view *es_run_segment(const struct es_run *run, size_t index);

enum es_process_state {
    ES_PROCESS_RUNNING,
    ES_PROCESS_FINALIZED, /* finished MPI; may still run */
    ES_PROCESS_ABORTED,   /* called MPI_Abort */
    ES_PROCESS_EXITED,    /* gone without finalizing; see exit_status */
    ES_PROCESS_KILLED,    /* gone by a signal */
    ES_PROCESS_LOST,      /* gone, nobody saw how */
};

struct es_segment_info {
    const char *host; /* borrowed */
    const char *program;
    const char *job;      /* id of the batch job; "" = none */
    const char *launcher; /* what started it, as "srun"; "" = not known */
    int rank;             /* -1 = not known */
    int size;             /* -1 = not known */
    int pid;
    bool alive; /* the process exists (not a zombie, not a recycled pid) */
    bool kept;  /* a tuple server holds it: elements placed here by another host (whose
                  process has this pid, rank and clock) or data of consumers */
    enum es_process_state state;
    int exit_code;              /* EXITED and known: its code, else -1 */
    int signal;                 /* KILLED: the signal, else 0 */
    uint64_t ended_realtime_ns; /* 0 = not known */
    uint64_t segment_bytes;     /* memory in use: header, directory, tables, rings */
    uint32_t elements_refused;
    uint32_t elements_shrunk;
    uint32_t communicators_refused;
    uint64_t tuples_refused; /* that the process had no memory for */
};

ES_API void es_segment_view_info(const struct es_segment_view *segment,
                                 struct es_segment_info *ret_info);
/* The segment's clock; refined copies are the caller's business.  Borrowed. */
ES_API const struct es_clock *es_segment_view_clock(
    const struct es_segment_view *segment);
ES_API size_t es_segment_view_element_count(const struct es_segment_view *segment);
ES_API struct es_element_view *es_segment_view_element(
    const struct es_segment_view *segment,
    size_t index);

/* A module of the process: its program, or a shared object. */
enum { ES_BUILD_ID_BYTES = 32, ES_MODULE_PATH_BYTES = 448 };

struct es_module {
    uint64_t begin; /* where it lies in memory */
    uint64_t end;
    uint64_t bias;           /* what was added to the addresses in its file */
    uint32_t build_id_bytes; /* 0 = it has none */
    uint8_t build_id[ES_BUILD_ID_BYTES];
    char path[ES_MODULE_PATH_BYTES]; /* as the process knew it; cut if it is longer */
};

/* The modules that have called MPI, oldest first.  Caller frees *ret_modules.  Returns
 * their number or -ENOMEM. */
ES_API int es_segment_view_modules(const struct es_segment_view *segment,
                                   struct es_module **ret_modules);

/* For watchers: notes how the process ended (status as waitpid(2) gives it) in every
 * segment of this run on this host whose pid is `pid`.  Returns the number of segments.
 */
ES_API int es_run_note_exit(const char *run, int pid, int status);

/* --- Communicators ---------------------------------------------------------------- */

struct es_communicator_info {
    uint64_t key[2]; /* alike in all members */
    int rank;        /* own rank in it */
    int size;
    int remote_size;  /* 0 unless an intercommunicator */
    int first;        /* world rank of its rank 0; -1 = not known */
    int remote_first; /* of the remote group's */
    uint16_t parent;  /* index, or ES_COMMUNICATOR_NONE */
    bool freed;
    char name[64];
};

ES_API size_t es_segment_view_communicator_count(const struct es_segment_view *segment);
/* -ENOENT: no such index. */
ES_API int es_segment_view_communicator(const struct es_segment_view *segment,
                                        uint16_t index,
                                        struct es_communicator_info *ret_info);
/* World rank of a member (of the remote group where `remote`), looking also in the
 * other segments of the run.  -ENOENT: not known here. */
ES_API int es_run_world_rank(const struct es_run *run,
                             const struct es_segment_view *segment,
                             uint16_t communicator,
                             bool remote,
                             int rank);

/* --- Elements --------------------------------------------------------------------- */

struct es_element_info {
    const char *name;      /* path, e.g. "3.0/collective"; borrowed */
    const char *collector; /* borrowed */
    const char *host;      /* borrowed */
    int rank;
    int thread;
    uint32_t classes;      /* bits 1 << enum es_class */
    int peer;              /* ES_PEER_NONE = any */
    uint16_t communicator; /* ES_COMMUNICATOR_NONE = any */
    uint32_t threshold;
    uint32_t threshold_max; /* what it was made for: no threshold is higher */
    uint32_t capacity;      /* slots */
    uint32_t tuple_bytes;
    bool shared; /* many writers */
    bool enabled;
    bool block;       /* on-full: block, else discard */
    uint64_t head;    /* tuples ever published */
    uint64_t oldest;  /* first position that can still be read */
    uint64_t polls;   /* polls that found nothing */
    uint64_t held;    /* completed receives held back now */
    uint64_t blocked; /* times the writer waited for its reader */
    bool moved;       /* the tuples are found on another host, under the same name: the
                         pathmap places the element there */
    uint64_t lost_moving; /* tuples lost on the way here: overwritten before they came;
                             they are in no reader's count */
};

ES_API void es_element_view_info(const struct es_element_view *element,
                                 struct es_element_info *ret_info);
/* The segment the element lies in.  Borrowed. */
ES_API struct es_segment_view *es_element_view_segment(
    const struct es_element_view *element);

/* Which elements: every field that is set must agree.  es_selection_init() selects all.
 */
struct es_selection {
    const char *host;      /* NULL = any */
    const char *ranks;     /* "0-3,7"; NULL = any; borrowed */
    int thread;            /* -1 = any */
    uint32_t classes;      /* any of these bits; 0 = any */
    const char *collector; /* NULL = any */
    const char *name;      /* fnmatch(3) pattern of the path; NULL = any */
};

ES_API void es_selection_init(struct es_selection *selection);
/* Checks the texts in it.  -EINVAL with words in `error`. */
ES_API int es_selection_check(const struct es_selection *selection,
                              struct es_error *error);
ES_API bool es_selection_has(const struct es_selection *selection,
                             const struct es_element_view *element);
/* The same for what is known of an element that may lie on another host. */
ES_API bool es_selection_has_info(const struct es_selection *selection,
                                  const struct es_element_info *info);
/* All elements that agree, ordered by rank, thread, directory index, but for those that
 * are found on another host.  Caller frees the array *ret_elements (not what it points
 * to).  Returns their number or -errno. */
ES_API int es_run_select(const struct es_run *run,
                         const struct es_selection *selection,
                         struct es_element_view ***ret_elements);

/* Newest published tuple.  1 and its position, or 0 when there is none (ret_*
 * untouched). */
ES_API int es_element_latest(const struct es_element_view *element,
                             struct es_tuple *ret_tuple,
                             uint64_t *ret_position);
/* The same for `count` elements at once, which waits less for memory.  Elements without
 * a tuple are left out: ret_indices[k] says whose ret_tuples[k] is.  The arrays have
 * room for all; ret_tuples may be written beyond what was found.  Returns the number of
 * tuples. */
ES_API size_t es_element_latest_of_each(const struct es_element_view *const *elements,
                                        size_t count,
                                        struct es_tuple *ret_tuples,
                                        uint64_t *ret_positions,
                                        uint32_t *ret_indices);

/* The operation under way, stop = 0.  1, or 0 when the thread is in none of this
 * element's operations (or changes too fast to be seen: after 100 tries). */
ES_API int es_element_open(const struct es_element_view *element,
                           struct es_tuple *ret_tuple);

/* A reader's place in an element. */
struct es_cursor {
    uint64_t position; /* next tuple to read */
    uint64_t lost;     /* tuples overwritten or discarded before they were read */
};

/* At the oldest tuple still there, or behind the newest (`at_end`). */
ES_API void es_cursor_init(struct es_cursor *cursor,
                           const struct es_element_view *element,
                           bool at_end);

/* Copies up to `max` tuples from the cursor on, oldest first, and moves the cursor;
 * what was overtaken is added to cursor->lost and skipped.  Never returns a torn tuple.
 * Returns the number copied, 0 when there is nothing new. */
ES_API size_t es_element_read(const struct es_element_view *element,
                              struct es_cursor *cursor,
                              struct es_tuple *ret_tuples,
                              size_t max);
/* The same for elements whose tuples have another size: `ret_tuples` gets max *
 * tuple_bytes. */
ES_API size_t es_element_read_raw(const struct es_element_view *element,
                                  struct es_cursor *cursor,
                                  void *ret_tuples,
                                  size_t max);

/* Sleeps until something is published at or behind `position`.  0, or -ETIMEDOUT, or
 * -EPIPE when the writing process is gone and nothing is left.  Those two are found out
 * only when nothing came for 100 ms or till the timeout, whichever is sooner. */
ES_API int es_element_wait(const struct es_element_view *element,
                           uint64_t position,
                           uint64_t timeout_ns);

/* --- Control ---------------------------------------------------------------------- */

ES_API void es_element_enable(const struct es_element_view *element, bool enabled);
/* Tuples kept from now on, 1 to the threshold the element was made with; -ERANGE else.
 */
ES_API int es_element_set_threshold(const struct es_element_view *element,
                                    uint32_t threshold);
ES_API void es_element_set_block(const struct es_element_view *element, bool block);
/* Discards everything below `position`: no reader sees it again.  Never moves
 * backwards. */
ES_API void es_element_discard(const struct es_element_view *element,
                               uint64_t position);

/* Appends a tuple to an element with many writers; `tuple_bytes` must be the element's.
 * -EINVAL: not such an element; -EBUSY: another writer was inside for two seconds.
 * May sleep: while another writer is inside, and where the element blocks as long as
 * its registered reader has not made room. */
ES_API int es_element_append(const struct es_element_view *element,
                             const void *tuple,
                             uint32_t tuple_bytes);

/* The registered reader, for whom the writer of a blocking element waits.  -EBUSY when
 * a living process is registered (also this one).  What is overwritten before this
 * returns counts as lost: init the cursor behind this call. */
ES_API int es_element_register_reader(const struct es_element_view *element,
                                      uint64_t position);
/* Everything below `position` is taken; wakes a waiting writer. */
ES_API void es_element_acknowledge(const struct es_element_view *element,
                                   uint64_t position);
ES_API void es_element_unregister_reader(const struct es_element_view *element);

#endif
