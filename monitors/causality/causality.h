/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Converts the tuples of a run to an event set (docs/event-sets.md): matches the ends
 * of messages, the members of collective operations and the epochs of one-sided
 * operations, and emits an ordered stream of events (eventspace/event.h).
 *
 *   esi_causality_create(&config, &causality);
 *   run = esi_causality_run(causality);
 *   esi_run_model_add_process(run, &process, &p);
 *   esi_run_model_set_communicator(run, p, index, &communicator);
 *   esi_causality_add_element(causality, p, thread, &e);
 *   esi_causality_add(causality, e, &timed);  ...
 *   esi_causality_advance(causality);                 after each complete reading
 *   esi_causality_finish(causality);
 *
 * The tuples may come from any source, such as a live scope (causality_scope.h) or an
 * archive (causality_archive.h).  The tuples of an element must be added in the order
 * in which they were published.  Those of several elements of a thread are sorted here:
 * a tuple that was published before one that was read must be read by the next complete
 * reading at the latest.
 *
 * Works as a stream: matched events are emitted and forgotten.  Memory is bounded by
 * what is unmatched, which is limited by `held_max`: beyond it, the event that has
 * waited longest is emitted without its partners, and counted.
 *
 * With `only_instances` there are no events: members of collective operations are
 * matched as they are read, in any order, and an instance is reported with its last
 * member.  A rank that computes for a minute before it joins a broadcast may be exactly
 * what a listener looks for.  So esi_causality_advance() gives an incomplete instance
 * up only `patience_ns` after its newest part, if a missing member was seen in a later
 * operation there, and after sixty times that in any case.  Instances before the first
 * one seen of a missing member are counted separately: they are not errors.  Memory is
 * proportional to incomplete instances times members.
 *
 * Has no input or output of its own.  An object may be used by one thread at a time.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/causality/gaps.h"
#include "monitors/run/run_model.h"

/* Which part of its operation an event is. */
enum esi_role {
    ESI_ROLE_WHOLE,
    ESI_ROLE_SEND,    /* at its start */
    ESI_ROLE_RECEIVE, /* at its stop */
    ESI_ROLE_ENTER,
    ESI_ROLE_EXIT,
};

struct esi_causal_tuple;

/* What an event depends on: the beginning of an operation of another thread. */
struct esi_edge {
    const struct es_operation *operation;
    uint64_t ns;   /* run time */
    uint64_t done; /* of a send: number of the call of its thread that has completed it,
                      which may be its own; 0 = none yet: that call will name this
                      receive; or ESI_CALL_NOT_KNOWN */
    uint32_t trace;    /* of the thread */
    uint32_t error_ns; /* error bound of `ns`, at most UINT32_MAX */
};
#define ESI_CALL_NOT_KNOWN UINT64_MAX

/* An operation that one call has started and a later one has completed, such as a
 * nonblocking receive; the rule is in causal_completion.h. */
struct esi_completed {
    uint32_t index; /* of its last event in the trace */
    /* It has no tuple of its completion, as a send, and this call may have completed
     * it, or another one: listed only if the call may have waited for it.  If not set,
     * it is complete, though possibly since an earlier call that was unsure. */
    bool unsure;
    uint64_t stop_ns;
    const struct es_operation *operation;
    const struct esi_run_member *member; /* NULL = none or not known */
    /* Of what it depends on, for a send its receive; `operation` NULL = nothing, or not
     * known yet. */
    struct esi_edge latest;
};

/* The operation of an event, for listeners that need more than the event set contains.
 * Everything is borrowed for the call. */
struct esi_causal_call {
    const struct esi_causal_tuple *told;
    const struct es_operation *operation; /* NULL = not known; for a posted collective
                                             operation, the operation that was posted */
    enum esi_role role;
    bool posted; /* the enter of a nonblocking collective operation: `told` is the tuple
                    of its post */
    const struct esi_run_thread *thread;
    const struct esi_run_member *member; /* the process in the communicator; NULL = none
                                            or not known */
    uint32_t lost;   /* tuples of its element that are missing before it */
    uint64_t number; /* of the call of the program that the event is a part of, counted
                        in its thread from 1; 0 = an operation that another call has
                        started, such as a nonblocking receive */
    const struct esi_edge *edges; /* by partner of the event; that of a junction is the
                                     last of all arrivals */
    bool all;   /* its partner is a junction: all members have arrived */
    bool again; /* another event of the tuple has been told */
    const struct esi_completed *completed; /* what a call completes, but for sends to
                                              MPI_PROC_NULL */
    size_t completed_count;
    uint64_t instance; /* of a collective operation: a number from 1 that its members
                          share; 0 = none or not known */
};

/* Its communicator; NULL = none or not known. */
static inline const struct esi_run_communicator *esi_causal_call_communicator(
    const struct esi_causal_call *call)
{
    return call->member ? call->member->communicator : NULL;
}

/* The name of its communicator; NULL = none or not known. */
static inline const char *esi_causal_call_communicator_name(
    const struct esi_causal_call *call)
{
    return call->member ? call->member->communicator->name : NULL;
}

/* The part of a member in a collective operation. */
struct esi_causal_part {
    const struct esi_run_thread *thread; /* NULL = not seen */
    uint64_t start_ns, stop_ns;          /* run time */
    const char *site;                    /* as in struct esi_causal_tuple */
};

/* An operation of class collective on an intracommunicator, by all its members. */
struct esi_causal_instance {
    const struct esi_run_communicator *communicator;
    const struct es_operation *operation;
    uint32_t number; /* on the communicator */
    int32_t root;    /* -1 = none */
    uint32_t known;  /* parts that were seen; fewer than members: it is given up */
    uint32_t least_bytes, most_bytes; /* of a part */
    uint64_t errors_ns[2];            /* the two largest error bounds of a part */
    uint32_t version;                 /* of the instrumented tree's rules */
    bool tree;                        /* it is known to have used such a tree */
    bool begins_late; /* given up: what is known of a missing member begins later */
    const struct esi_causal_part *parts; /* by slot */
};

/* Called for each event before the sink; `call` is NULL for events of communicators'
 * traces.  A negative result ends the stream.  If `told` is NULL, there is no
 * listener. */
struct esi_causal_listener {
    int (*told)(void *data,
                const struct es_set_event *event,
                const struct esi_causal_call *call);
    /* Called for the operations under way that the source finds after a reading: first
     * with `call` NULL, then for each operation, with the trace of its thread; at last
     * only with NULL, before they are told as events.  If NULL, the source does not
     * look for them. */
    int (*open)(void *data, uint32_t trace, const struct esi_causal_call *call);
    /* Called for each member of the group of an epoch that MPI_Win_post or
     * MPI_Win_start has begun, with the trace of the thread.  May be NULL. */
    int (*member)(void *data, uint32_t trace, const struct esi_causal_call *call);
    /* Called when operations of a thread are found to be missing in some time, before
     * the events that follow; several times for the same gap, or for parts of it.  May
     * be NULL. */
    int (*gap)(void *data, uint32_t trace, const struct esi_gap *gap);
    /* Called for each instance after the events of all its members' exits, or when it
     * is given up.  May be NULL. */
    int (*instance)(void *data, const struct esi_causal_instance *instance);
    void *data; /* borrowed */
};

struct esi_causality_config {
    struct es_set_sink sink; /* receives the ordered stream; its functions may be
                                NULL */
    struct esi_causal_listener listener;
    bool attributes;      /* whether events have attributes and texts */
    bool only_instances;  /* see above */
    bool trees;           /* whether tuples of instrumented trees are messages: the
                             contribution of a leaf is one to its parent, but those of
                             other nodes must be left out */
    size_t held_max;      /* maximum number of waiting tuples, or of instances if
                             `only_instances`; 0 = 2^20 */
    uint64_t patience_ns; /* run time after which missing tuples are taken for lost,
                             even if their process has not made progress; 0 = 60 s */
};

struct esi_causality;

/* Returns 0 or -ENOMEM. */
int esi_causality_create(const struct esi_causality_config *config,
                         struct esi_causality **ret_causality);
/* Accepts NULL. */
void esi_causality_destroy(struct esi_causality *causality);

/* Returns whether a consumer uses the sites of tuples. */
bool esi_causality_wants_sites(const struct esi_causality *causality);
/* Returns whether the listener is told of gaps. */
bool esi_causality_wants_gaps(const struct esi_causality *causality);

/* The processes and communicators of the run, which the caller adds. */
struct esi_run_model *esi_causality_run(const struct esi_causality *causality);

/* Adds an element of a thread of a process. */
int esi_causality_add_element(struct esi_causality *causality,
                              struct esi_run_process *process,
                              int thread,
                              uint32_t *ret_element);

/* --- Tuples ----------------------------------------------------------------------- */

struct esi_causal_tuple {
    struct es_tuple tuple; /* times in ticks of its process; native byte order */
    uint64_t start_ns;     /* run time; for attributes and for detecting lost tuples */
    uint64_t stop_ns;
    uint64_t error_ns; /* error bound of both relative to times of other hosts;
                          UINT64_MAX = not known */
    uint64_t until_ns; /* of an operation under way (stop 0): now, or the end of its
                          process; 0 = not known */
    bool may_last;     /* its process has not ended at until_ns */
    const char *site;  /* source location of the call; NULL or "" = not known; borrowed
                          until the end of the input */
};

/* Adds a tuple.  Returns 0, -ENOMEM, or the error of the sink.  An operation under way
 * (stop 0) may be added after all other tuples of its thread, if no more will
 * follow. */
int esi_causality_add(struct esi_causality *causality,
                      uint32_t element,
                      const struct esi_causal_tuple *tuple);

/* Records that `lost` tuples of an element are missing before its next one.  All tuples
 * that ended before run time `read_ns` were read earlier; 0 = not known. */
void esi_causality_lose(struct esi_causality *causality,
                        uint32_t element,
                        uint64_t lost,
                        uint64_t read_ns);

/* Records that tuples of an element are missing in some time, for a source that knows
 * so before it adds the tuples that precede them.  Returns 0, -ENOMEM, or the error of
 * the listener. */
int esi_causality_miss(struct esi_causality *causality,
                       uint32_t element,
                       const struct esi_gap *gap);

/* The end of a gap: from when on the operations of the tuple's element are known, if
 * those before it are missing. */
uint64_t esi_causality_gap_end(const struct es_tuple *tuple,
                               uint64_t start_ns,
                               uint64_t stop_ns);

/* Reports an operation under way, of which more will be added later, to the listener
 * only.  Returns 0 or the error of the listener. */
int esi_causality_report_open(const struct esi_causality *causality,
                              uint32_t element,
                              const struct esi_causal_tuple *tuple);

/* Marks the end of a reading that fetched everything available from all elements.
 * Returns 0, -ENOMEM, or the error of the sink or the listener, like the next. */
int esi_causality_advance(struct esi_causality *causality);

/* Ends the input: emits all waiting events. */
int esi_causality_finish(struct esi_causality *causality);

/* --- Results ---------------------------------------------------------------------- */

struct esi_causality_totals {
    size_t processes;
    uint64_t tuples;
    uint64_t events;
    uint64_t messages;    /* matched */
    uint64_t syncs;       /* of `messages`: a synchronous send and a blocking receive */
    uint64_t collectives; /* complete instances */
    uint64_t epochs;      /* one-sided: pairs of a post and a start, and of a complete
                             and a wait */
    uint64_t lost;        /* tuples */
    uint64_t unmatched_sends;    /* emitted, and never seen to be received */
    uint64_t unmatched_receives; /* emitted without their sends */
    uint64_t unnumbered;         /* without a matching number */
    uint64_t incomplete; /* collectives that were emitted with members missing */
    uint64_t late;       /* events that were read after their place in the thread had
                            passed: they are placed later, or nothing depends on them;
                            parts of an instance that was given up */
    uint64_t unplaced;   /* tuples with an unknown communicator */
    size_t held;         /* tuples that wait now; if `only_instances`, instances */
    /* Of instances for a listener: */
    uint64_t crowded;    /* given up because there were too many */
    uint64_t mismatched; /* parts of another operation than the instance's */
    uint64_t duplicates; /* parts that were already present */
    /* The same, if `only_instances`: */
    uint64_t beginnings; /* given up, but not `incomplete`: struct esi_causal_instance
                            begins_late */
    uint64_t between;    /* tuples on intercommunicators, which are left out */
    uint64_t invalid;    /* tuples with impossible times or roots */
};

void esi_causality_totals(const struct esi_causality *causality,
                          struct esi_causality_totals *ret_totals);

/* Returns whether the order is only a lower bound because something was lost or left
 * unmatched. */
bool esi_causality_is_incomplete(const struct esi_causality *causality);

/* A channel with unmatched ends.  Ranks are world ranks; -1 = not known. */
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
