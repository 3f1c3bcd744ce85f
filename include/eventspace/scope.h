/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event scopes: a view of a run, gathered by a tree of stages when the consumer pulls.
 *
 *   struct es_scope_config config;
 *   struct es_scope *scope;
 *   const struct es_batch *batch;
 *
 *   es_scope_config_init(&config);
 *   config.view.selection.ranks = "0-3";
 *   es_scope_open(run, &config, &error, &scope);
 *   while (es_scope_pull(scope, 0, &batch) == 0)
 *       for (size_t i = 0; i < batch->count; i++)
 *           use(&batch->tuples[i], es_scope_origin(scope, batch->marks[i].origin));
 *   es_scope_close(scope);
 *
 * A pull acknowledges the pull before it.  A consumer that could not use what it got
 * says ES_PULL_REPEAT in the next pull and gets it again, and what is new with it.  A
 * pull that failed is repeated without being asked.
 *
 * One scope is used by one thread at a time; scopes do not disturb each other, nor the
 * program.
 */
#ifndef EVENTSPACE_SCOPE_H
#define EVENTSPACE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/servers.h"
#include "eventspace/stage.h"

/* Which events.  What elements cannot tell apart is filtered out of the tuples. */
struct es_view {
    struct es_selection selection; /* host, ranks, thread, classes, collector, name */
    const char *communicator;      /* name; NULL = any; borrowed */
    const char *operation;         /* MPI name; NULL = any; borrowed */
    const char *filter; /* expression (docs/scopes.md); NULL = none; borrowed */
};

enum es_take {
    ES_TAKE_EVERY,            /* every tuple, from the oldest still there */
    ES_TAKE_NEW,              /* every tuple published after the scope was opened */
    ES_TAKE_LATEST,           /* the newest of each element */
    ES_TAKE_LATEST_OF_THREAD, /* the newest of each thread */
};

enum es_shape {
    ES_SHAPE_VIEWS,  /* elements under their thread, threads under their host (paper) */
    ES_SHAPE_FLAT,   /* all under one gather, but for thread reductions, and hosts that
                        are reached through their servers */
    ES_SHAPE_HOSTS,  /* elements under their host, hosts under the root */
    ES_SHAPE_KARY,   /* hosts as a tree: no stage has more than fan_out children */
    ES_SHAPE_LEVELS, /* a joint for each of what `levels` says */
};

/* Bits: for each of what there are joints. */
enum es_level {
    ES_LEVEL_THREAD = 1,
    ES_LEVEL_SOCKET = 2,
    ES_LEVEL_HOST = 4,
    ES_LEVEL_CLUSTER = 8,  /* on the first host of the cluster */
    ES_LEVEL_GATEWAY = 16, /* on the host that leads into the cluster */
    ES_LEVELS_ALL = 31,
};

enum es_mode {
    ES_MODE_CONCURRENT, /* all requests are sent before a reply is awaited */
    ES_MODE_SEQUENTIAL, /* one child after the other: the least load at a time */
};

/* Where a tree stands and how it works; part of a scope's configuration.  Zero is the
 * default of each but `levels` and `limit_ns`: es_scope_config_init() sets them. */
struct es_tree_config {
    enum es_shape shape;
    unsigned fan_out; /* most children of a joint that stands for hosts, of
                         ES_SHAPE_KARY (0 = 8) and ES_SHAPE_LEVELS (0 = any number) */
    unsigned levels;  /* of ES_SHAPE_LEVELS: bits of enum es_level */
    enum es_mode mode;
    unsigned threads;   /* that pull children of the root at the same time; 0 = none */
    unsigned ahead;     /* pulls in flight to each server beyond the one awaited */
    const char *joints; /* hosts for joints that stand for several hosts, with commas;
                           NULL = cluster's gateways and first hosts; borrowed */
    const char *reduce; /* reduction of each thread's tuples, such as "latest" or
                           "histogram"; NULL = as `take` says; borrowed */
    size_t batch; /* tuples a server collects before it answers; 0 = does not wait */
    uint64_t batch_wait_ns; /* how long it waits for them at most */
    uint64_t limit_ns;      /* how long a server may take to answer (5 s) */
    bool nodes; /* each rank's edges of collective trees become results, by a stage
                   `tree-node` on its host */
    unsigned node_threads; /* of each host, that do this; 0 = the server's own */
    bool through_server;   /* also this host's elements are read by its tuple server */
    const char *observe;   /* stages that carry collectors: "hosts", "joints" or "all",
                              then, if wanted, a blank and the collectors' name; NULL =
                              none; borrowed */
};

enum es_sorting {
    ES_SORTING_NONE, /* per element in order */
    ES_SORTING_STOP,
    ES_SORTING_START,
};

struct es_scope_config {
    struct es_view view;
    enum es_take take;
    struct es_tree_config tree;
    enum es_sorting sorting;
    uint64_t window_ns; /* sorting keeps tuples back so long for those that come late */
    bool open;          /* also the operations under way (stop = 0) */
    bool counters;      /* a report of every element in every pull */
    bool sites;         /* marks say where in the program operations were called */
    bool lossless; /* programs wait for this scope where their elements are set to block
                    */
    size_t max;    /* tuples in one pull at most */
    struct es_servers *servers; /* all hosts of the run; NULL = this host's elements
                                   only; borrowed, must outlive the scope */
    const char *name; /* announced under this name for `eventspace scope`; NULL = not
                         announced; borrowed */
    bool global_time; /* times are nanoseconds since 1970: es_origin.clock says so */
};

/* Every tuple of all elements, in the shape of views, unsorted, 65,536 a pull. */
ES_API void es_scope_config_init(struct es_scope_config *config);

struct es_scope;

/* Changes one setting by name, as `eventspace scope set` does ("shape", "levels",
 * "fan-out", "mode", "threads", "ahead", "joints", "reduce", "batch", "max", ...: see
 * eventspace-scope(1)).  Texts are copied into the scope that is opened or set with it,
 * and must live until then.  -EINVAL with words. */
ES_API int es_scope_config_set(struct es_scope_config *config,
                               const char *name,
                               const char *value,
                               struct es_error *error);

/* Calls for each setting with its value as es_scope_config_set() reads it ("none" for a
 * text that is not set) and one line of help.  The texts are valid during the call. */
typedef void (*es_setting_visit_fn)(void *data,
                                    const char *name,
                                    const char *value,
                                    const char *help);
ES_API void es_scope_config_foreach(const struct es_scope_config *config,
                                    es_setting_visit_fn visit,
                                    void *data);

/* Opens a scope over a run, which is borrowed and must outlive it.  A view that selects
 * no element (yet) is no error.  -EINVAL with words when the view is not understood. */
ES_API int es_scope_open(struct es_run *run,
                         const struct es_scope_config *config,
                         struct es_error *error,
                         struct es_scope **ret_scope);
/* Accepts NULL. */
ES_API void es_scope_close(struct es_scope *scope);

/* Lets elements join that have appeared since; positions of the others stay.  Returns
 * the number of elements that joined, or -errno: then the scope goes on as it was.
 * Several scopes may share a run: each finds what another's refresh has attached. */
ES_API int es_scope_refresh(struct es_scope *scope);

/* Changes what `config->tree`, `sorting`, `window_ns`, `max` and `lossless` say of an
 * open scope; the view and what it takes stay.  No tuple is lost or given twice across
 * the change.  -EINVAL with words, or -errno: then the scope goes on as it was. */
ES_API int es_scope_reconfigure(struct es_scope *scope,
                                const struct es_scope_config *config,
                                struct es_error *error);
/* As it is now; texts borrowed until the next reconfiguration. */
ES_API const struct es_scope_config *es_scope_config(const struct es_scope *scope);

enum es_pull_flags {
    ES_PULL_REPEAT = 1, /* the last batch was not used: give it again */
    ES_PULL_DRAIN = 2,  /* give also what is kept back for sorting */
};

/* Pulls once.  The batch is borrowed until the next call on this scope.  0 or -errno.
 */
ES_API int es_scope_pull(struct es_scope *scope,
                         unsigned flags,
                         const struct es_batch **ret_batch);

/* Whether a rate controller has the scope (`eventspace scope set --rate`, --budget).
 * Pulls then begin when it has decided: es_scope_pull() waits for that, and its
 * consumer is not to make pauses of its own. */
ES_API bool es_scope_is_paced(const struct es_scope *scope);

/* --- Where tuples come from -------------------------------------------------- */

ES_API size_t es_scope_origin_count(const struct es_scope *scope);
ES_API const struct es_origin *es_scope_origin(const struct es_scope *scope,
                                               uint32_t index);

/* The process of an origin: its rank, host, state, end.  -ENOENT: not known here. */
ES_API int es_scope_process(const struct es_scope *scope,
                            uint32_t origin,
                            struct es_segment_info *ret_info);

/* The modules of the origin's process that have called MPI: see
 * es_segment_view_modules().  They are read anew in each call.  Caller frees
 * *ret_modules.  Returns their number; -ENOENT: not known here, or -errno. */
ES_API int es_scope_modules(const struct es_scope *scope,
                            uint32_t origin,
                            struct es_module **ret_modules);

/* A communicator of the origin's process.  -ENOENT: no such index. */
ES_API int es_scope_communicator(const struct es_scope *scope,
                                 uint32_t origin,
                                 uint16_t communicator,
                                 struct es_communicator_info *ret_info);

/* World rank of a member of a communicator of the origin's process (of the remote group
 * where `remote`).  -ENOENT: not known here. */
ES_API int es_scope_world_rank(const struct es_scope *scope,
                               uint32_t origin,
                               uint16_t communicator,
                               bool remote,
                               int rank);

/* World rank of a tuple's peer, which is of the remote group in an intercommunicator;
 * ES_PEER_NONE and ES_PEER_ANY stay.  -ENOENT: not known here. */
ES_API int es_scope_peer(const struct es_scope *scope,
                         uint32_t origin,
                         const struct es_tuple *tuple);

/* Run time now: see es_origin_run_ns(). */
ES_API uint64_t es_scope_run_now_ns(const struct es_scope *scope);

/* Run time of a tick count of a process on this host, whether or not the scope has an
 * element of it. */
ES_API uint64_t es_scope_run_ns(const struct es_scope *scope,
                                const char *host,
                                const struct es_clock *clock,
                                uint64_t ticks);

/* Whether nothing of the run is left to be found: it was cleaned up.  What the scope
 * has attached can still be read. */
ES_API bool es_scope_has_vanished(const struct es_scope *scope);

/* --- What it costs ----------------------------------------------------------- */

struct es_scope_cost {
    uint64_t pulls;
    uint64_t failures;
    uint64_t tuples;
    uint64_t lost;
    uint64_t late;
    uint64_t total_ns; /* wall time: estimate for all pulls, as some are timed */
    uint64_t cpu_ns;   /* estimate for all pulls, this thread's */
    size_t origins;
    size_t stages;
};

ES_API void es_scope_cost(const struct es_scope *scope, struct es_scope_cost *ret_cost);

/* Called for each stage, the root first, children behind their parent.  `depth` is 0
 * for the root. */
typedef void (*es_stage_visit_fn)(const struct es_stage *stage, int depth, void *data);
ES_API void es_scope_foreach_stage(const struct es_scope *scope,
                                   es_stage_visit_fn visit,
                                   void *data);

#endif
