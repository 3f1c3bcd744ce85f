/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * From the tuples of a run to an event set (docs/causality.md): finds the ends of
 * messages, the members of collective operations and the epochs of one-sided ones, and
 * gives an ordered stream of events (eventspace/event.h).
 *
 *   esi_causality_create(&config, &causality);
 *   esi_causality_add_process(causality, &process, &p);
 *   esi_causality_add_element(causality, p, thread, &e);
 *   esi_causality_set_communicator(causality, p, index, &communicator);
 *   esi_causality_add(causality, e, &timed);  ...
 *   esi_causality_advance(causality);                 after each complete reading
 *   esi_causality_finish(causality);
 *
 * Where tuples come from does not matter: a live scope (causality_scope.h) or an
 * archive (causality_archive.h).  The tuples of an element come in the order in which
 * they were published.  Those of a thread's several elements are put in the thread's
 * order: what was published before something that was read is read at the latest by the
 * next complete reading.
 *
 * Streaming: what is matched is given and forgotten.  Memory is bounded by what is
 * unmatched, and that by `held_max`: beyond it the oldest that waits is given without
 * its partners, and counted.
 *
 * Pure logic; one object is one thread's at a time.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"

/* What of its operation an event is. */
enum esi_role {
    ESI_ROLE_WHOLE,
    ESI_ROLE_SEND,    /* at its start */
    ESI_ROLE_RECEIVE, /* at its stop */
    ESI_ROLE_ENTER,
    ESI_ROLE_EXIT,
};

struct esi_causal_tuple;

/* A process's place in an intracommunicator. */
struct esi_causal_member {
    uint64_t key[2]; /* of the communicator */
    int size;        /* of it; 0 = there is no place, or it is not known */
    int rank;        /* own */
};

/* The operation of an event, for those who need more than an event set says.  All is
 * borrowed for the call that hands it over. */
struct esi_causal_call {
    const struct esi_causal_tuple *told;
    const struct es_operation *operation; /* NULL = not known; of a posted collective
                                             operation what was posted */
    enum esi_role role;
    bool posted; /* the enter of a nonblocking collective operation: `told` is the
                        tuple of its post */
    const char *host;
    const char *communicator; /* its name, which stands for it: names repeat, this
                                 pointer does not; NULL = none or not known */
    struct esi_causal_member member; /* of the communicator; of operations under way
                                        none */
    int rank;                        /* in its world; -1 = not known */
    int thread;
    uint32_t lost; /* tuples of its element that are missing ahead of it */
};

/* Is called for each event ahead of the sink; `call` is NULL for the events of
 * communicators' traces.  A negative result ends the stream.  `told` NULL: nobody is.
 */
struct esi_causal_listener {
    int (*told)(void *data,
                const struct es_set_event *event,
                const struct esi_causal_call *call);
    /* Is called for the operations under way that the source finds after a reading:
     * first with `call` NULL, then for each, with the trace of its thread.  NULL: the
     * source does not look for them. */
    int (*open)(void *data, uint32_t trace, const struct esi_causal_call *call);
    /* Called for each member of the group of an epoch that MPI_Win_post or
     * MPI_Win_start has begun, with the trace of the thread.  May be NULL. */
    int (*member)(void *data, uint32_t trace, const struct esi_causal_call *call);
    void *data; /* borrowed */
};

struct esi_causality_config {
    struct es_set_sink sink; /* gets the ordered stream; a call that is NULL is not
                                wanted */
    struct esi_causal_listener listener;
    bool attributes;      /* events are to have their attributes and texts */
    size_t held_max;      /* tuples that wait at most; 0 = 2^20 */
    uint64_t patience_ns; /* run time after which what has not come, though its
                                process has not gone on, is taken for lost; 0 = 60 s */
};

struct esi_causality;

/* 0, -ENOMEM. */
int esi_causality_create(const struct esi_causality_config *config,
                         struct esi_causality **ret_causality);
/* Accepts NULL. */
void esi_causality_destroy(struct esi_causality *causality);

/* Whether anybody is told of the sites of tuples. */
bool esi_causality_wants_sites(const struct esi_causality *causality);

/* --- What is known of the run; texts are copied ----------------------------------- */

struct esi_causal_process_info {
    const char *host;
    int rank;          /* in its world; -1 = not known */
    uint64_t identity; /* tells processes of one rank apart: another world's, a later
                          one's; such as the pid and its start time */
};

/* A process; the same one again gets the number that it has.  0 or -ENOMEM. */
int esi_causality_add_process(struct esi_causality *causality,
                              const struct esi_causal_process_info *process,
                              uint32_t *ret_process);
/* One element of a thread of a process. */
int esi_causality_add_element(struct esi_causality *causality,
                              uint32_t process,
                              int thread,
                              uint32_t *ret_element);

/* The process is gone, and everything that it wrote has been added. */
void esi_causality_end_process(struct esi_causality *causality, uint32_t process);

struct esi_causal_communicator {
    uint64_t key[2]; /* alike in all members */
    const char *name;
    int rank;             /* own */
    int size;             /* of the local group */
    int remote_size;      /* 0 unless an intercommunicator */
    const int32_t *world; /* ranks of the local group's members; NULL = not known (yet);
                             they may be told for another process with this key */
    const int32_t *remote_world;
    uint64_t parent[2]; /* key of the one that it was made of; 0, 0 = not known */
};

/* Index `index` of a process's table; may be told again when more is known, or when the
 * index has come to stand for another communicator. */
int esi_causality_set_communicator(struct esi_causality *causality,
                                   uint32_t process,
                                   uint16_t index,
                                   const struct esi_causal_communicator *communicator);
bool esi_causality_has_communicator(const struct esi_causality *causality,
                                    uint32_t process,
                                    uint16_t index);

/* What became known of a communicator from all its members.  Borrowed. */
struct esi_causal_group {
    const char *name; /* stands for it, as in struct esi_causal_call */
    uint64_t key[2];
    uint64_t parent[2];   /* key; 0, 0 = not known */
    const int32_t *world; /* ranks; -1 = not known */
    uint32_t size;        /* of both groups where there are two */
    uint32_t first;       /* of them in the first group; 0 = it is not known how many */
    bool between;         /* an intercommunicator */
};

/* Visits all communicators. */
void esi_causality_foreach_communicator(
    const struct esi_causality *causality,
    void (*visit)(void *data, const struct esi_causal_group *group),
    void *data);

/* --- Tuples ----------------------------------------------------------------------- */

struct esi_causal_tuple {
    struct es_tuple tuple; /* in ticks of its process, in native byte order */
    uint64_t start_ns;     /* run time: for the attributes, and to tell what is lost */
    uint64_t stop_ns;
    uint64_t error_ns; /* bound of the error of both against other hosts' times;
                          UINT64_MAX = not known */
    const char *site; /* where it was called; NULL or "" = not known; borrowed until the
                         tuple's events were given */
};

/* 0, -ENOMEM, or what the sink returned.  An operation under way (stop 0) may be added
 * after all others of its thread, when no more will come. */
int esi_causality_add(struct esi_causality *causality,
                      uint32_t element,
                      const struct esi_causal_tuple *tuple);

/* `lost` tuples of an element are missing ahead of its next one. */
void esi_causality_lose(struct esi_causality *causality,
                        uint32_t element,
                        uint64_t lost);

/* An operation under way, of which more is to come: goes to the listener only.  0 or
 * what that returned. */
int esi_causality_report_open(const struct esi_causality *causality,
                              uint32_t element,
                              const struct esi_causal_tuple *tuple);

/* A reading has ended that got from all elements all there was. */
int esi_causality_advance(struct esi_causality *causality);

/* Nothing more will come: gives all that waits. */
int esi_causality_finish(struct esi_causality *causality);

/* --- What was found --------------------------------------------------------------- */

struct esi_causality_totals {
    size_t processes;
    uint64_t tuples;
    uint64_t events;
    uint64_t messages;    /* matched */
    uint64_t syncs;       /* of them: a synchronous send and a blocking receive */
    uint64_t collectives; /* instances that are complete */
    uint64_t epochs;      /* one-sided: pairs of a post and a start, and of a complete
                             and a wait */
    uint64_t lost;        /* tuples */
    uint64_t unmatched_sends;    /* given, and nobody was seen to receive them */
    uint64_t unmatched_receives; /* given without their sends */
    uint64_t unnumbered;         /* that have no matching number */
    uint64_t incomplete;         /* collectives that were given with members missing */
    uint64_t late;     /* receives whose place in their thread had gone by: they
                          stand later */
    uint64_t unplaced; /* tuples whose communicator is not known */
    size_t held;       /* tuples that wait now */
};

void esi_causality_totals(const struct esi_causality *causality,
                          struct esi_causality_totals *ret_totals);

/* Whether the order is only a lower bound: something above was lost or left unmatched.
 */
bool esi_causality_is_incomplete(const struct esi_causality *causality);

/* Of each channel on which ends were left unmatched.  Ranks are of the world; a side
 * that is not known is -1. */
struct esi_causal_channel {
    const char *communicator;
    int source;
    int destination;
    int tag;
    uint64_t sends;
    uint64_t receives;
};
void esi_causality_foreach_unmatched(
    const struct esi_causality *causality,
    void (*visit)(void *data, const struct esi_causal_channel *channel),
    void *data);

#endif
