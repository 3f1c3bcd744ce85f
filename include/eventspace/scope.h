/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event scopes: a view of a run, collected by a tree of stages when the consumer pulls.
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
 * A pull acknowledges the previous pull.  A consumer that could not use a batch passes
 * ES_PULL_REPEAT to the next pull, which returns the same tuples again, followed by new
 * ones.  After a failed pull this happens automatically.
 *
 * Not thread safe: one thread at a time may use a scope.  Scopes affect neither each
 * other nor the observed program.
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

/* Which events a scope shows.  Selects elements where possible; other conditions filter
 * the tuples. */
struct es_view {
    struct es_selection selection; /* host, ranks, thread, classes, collector, name */
    const char *communicator;      /* name; NULL for any; borrowed */
    const char *operation;         /* MPI name; NULL for any; borrowed */
    const char *filter; /* expression (docs/scopes.md); NULL for none; borrowed */
};

enum es_take {
    ES_TAKE_EVERY,            /* all tuples, from the oldest available */
    ES_TAKE_NEW,              /* all tuples published after the scope was opened */
    ES_TAKE_LATEST,           /* the newest tuple of each element */
    ES_TAKE_LATEST_OF_THREAD, /* the newest tuple of each thread */
};

enum es_shape {
    ES_SHAPE_VIEWS,  /* elements below their thread, threads below their host (paper) */
    ES_SHAPE_FLAT,   /* everything below one gather stage, except thread reductions
                        and hosts that are reached through their servers */
    ES_SHAPE_HOSTS,  /* elements below their host, hosts below the root */
    ES_SHAPE_KARY,   /* hosts form a tree in which no stage
                        has more than fan_out children */
    ES_SHAPE_LEVELS, /* a joint for each level in `levels` */
    ES_SHAPE_STAGES, /* what `stages` describes */
};

/* Levels that have joints, as bits. */
enum es_level {
    ES_LEVEL_THREAD = 1,
    ES_LEVEL_SOCKET = 2,
    ES_LEVEL_HOST = 4,
    ES_LEVEL_CLUSTER = 8,  /* on the first host of the cluster */
    ES_LEVEL_GATEWAY = 16, /* on the host through which the cluster is reached */
    ES_LEVELS_ALL = 31,
};

enum es_mode {
    ES_MODE_CONCURRENT, /* sends all requests before waiting for a reply */
    ES_MODE_SEQUENTIAL, /* pulls one child after the other,
                           which causes the least load */
};

/* Where the stages of a tree run and how they work; part of es_scope_config.  Zero is
 * the default of all fields except `levels` and `limit_ns`, which
 * es_scope_config_init() sets. */
struct es_tree_config {
    enum es_shape shape;
    unsigned fan_out; /* maximum number of children of a joint that
                         stands for hosts, in ES_SHAPE_KARY (0 means
                         8) and ES_SHAPE_LEVELS (0 means no limit) */
    unsigned levels;  /* for ES_SHAPE_LEVELS: bits of enum es_level */
    enum es_mode mode;
    unsigned threads;   /* threads that pull children of the
                           root in parallel; 0 for none */
    unsigned ahead;     /* pulls in flight to each server in
                           addition to the current one */
    const char *joints; /* hosts for joints that stand for several
                           hosts, separated by commas; NULL for gateways
                           and first hosts of clusters; borrowed */
    const char *reduce; /* reduction of each thread's tuples, such as "latest" or
                           "histogram"; NULL for what `take` requires; borrowed */
    size_t batch; /* tuples a server collects before it replies; 0 to reply at once */
    uint64_t batch_wait_ns; /* maximum time it waits for them */
    uint64_t limit_ns;      /* time limit for replies of servers (5 s) */
    bool nodes;             /* a `tree-node` stage on the host of each rank turns
                               the rank's edges of collective trees into results */
    unsigned node_threads;  /* threads of each host for these
                               stages; 0 for the server's own */
    bool through_server;    /* read elements of this host
                               through its tuple server, too */
    const char *observe;    /* stages with collectors: "hosts", "joints" or
                               "all", optionally followed by a space and the name
                               of the collectors; NULL for none; borrowed */
    const char *stages;     /* for ES_SHAPE_STAGES: the tree as a JSON object, like
                               `tree` of a scope in a pathmap (docs/pathmap.md), of at
                               most 4095 bytes; excludes `reduce`, `threads`, `batch`,
                               `nodes`, `observe` and sorting; NULL for none;
                               borrowed */
};

enum es_sorting {
    ES_SORTING_NONE, /* each element in order */
    ES_SORTING_STOP,
    ES_SORTING_START,
};

struct es_scope_config {
    struct es_view view;
    enum es_take take;
    struct es_tree_config tree;
    enum es_sorting sorting;
    uint64_t window_ns; /* how long sorting holds tuples back for late ones */
    bool open;          /* include operations under way (stop = 0) */
    bool counters;      /* include a report of each element in each pull */
    bool sites;         /* marks contain the call site of the operation */
    bool lossless; /* programs wait for this scope if their elements are set to block */
    size_t max;    /* maximum number of tuples per pull */
    struct es_servers *servers; /* gives access to all hosts of the run; NULL for this
                                   host only; borrowed, must outlive the scope */
    const char *name;           /* name announced for `eventspace scope`;
                                   NULL to not announce it; borrowed */
    bool global_time;           /* convert times to nanoseconds since
                                   1970, as es_origin.clock says */
};

/* Initializes the configuration: all tuples of all elements, ES_SHAPE_VIEWS, unsorted,
 * at most 65,536 tuples per pull. */
ES_API void es_scope_config_init(struct es_scope_config *config);

struct es_scope;

/* Changes a setting by name, like `eventspace scope set` ("shape", "levels", "fan-out",
 * "mode", "threads", "ahead", "joints", "reduce", "batch", "max", ...: see
 * eventspace-scope(1)).  Opening or reconfiguring a scope copies the texts; they must
 * be valid until then.  Returns 0, or -EINVAL with `error` filled. */
ES_API int es_scope_config_set(struct es_scope_config *config,
                               const char *name,
                               const char *value,
                               struct es_error *error);

/* Calls `visit` for each setting, with its value in the format of es_scope_config_set()
 * ("none" for a text that is not set) and one line of help.  The texts are borrowed for
 * the call. */
typedef void (*es_setting_visit_fn)(void *data,
                                    const char *name,
                                    const char *value,
                                    const char *help);
ES_API void es_scope_config_foreach(const struct es_scope_config *config,
                                    es_setting_visit_fn visit,
                                    void *data);

/* Opens a scope on a run, which is borrowed and must outlive it.  A view that selects
 * no element (yet) is valid.  Returns 0; -EINVAL (with `error` filled) if the view is
 * invalid; or another -errno. */
ES_API int es_scope_open(struct es_run *run,
                         const struct es_scope_config *config,
                         struct es_error *error,
                         struct es_scope **ret_scope);
/* Closes the scope.  Accepts NULL. */
ES_API void es_scope_close(struct es_scope *scope);

/* Adds elements that have appeared since the last call; the others keep their
 * positions.  Returns the number of elements added; or -errno, and then the scope is
 * unchanged.  Several scopes may share a run; each adds what another's refresh has
 * attached. */
ES_API int es_scope_refresh(struct es_scope *scope);

/* Applies `config->tree`, `sorting`, `window_ns`, `max` and `lossless` to an open
 * scope; its view and `take` do not change.  No tuple is lost or duplicated.  Returns
 * 0; or -EINVAL (with `error` filled) or another -errno, and then the scope is
 * unchanged. */
ES_API int es_scope_reconfigure(struct es_scope *scope,
                                const struct es_scope_config *config,
                                struct es_error *error);
/* The current configuration.  Texts are borrowed until the next reconfiguration. */
ES_API const struct es_scope_config *es_scope_config(const struct es_scope *scope);

enum es_pull_flags {
    ES_PULL_REPEAT = 1, /* the last batch was not used: return it again */
    ES_PULL_DRAIN = 2,  /* also return tuples held back for sorting */
};

/* Pulls once; `flags` are bits of enum es_pull_flags.  The batch is borrowed until the
 * next call on this scope.  Returns 0 or -errno. */
ES_API int es_scope_pull(struct es_scope *scope,
                         unsigned flags,
                         const struct es_batch **ret_batch);

/* Returns whether a rate controller paces the scope (`eventspace scope set --rate`,
 * --budget).  Then es_scope_pull() waits until the next pull is due, and the consumer
 * should not pause between pulls. */
ES_API bool es_scope_is_paced(const struct es_scope *scope);

/* --- Origins ----------------------------------------------------------------- */

/* Number of origins. */
ES_API size_t es_scope_origin_count(const struct es_scope *scope);
/* Origin by index, as in es_mark.origin.  Borrowed until the next refresh. */
ES_API const struct es_origin *es_scope_origin(const struct es_scope *scope,
                                               uint32_t index);

/* Describes the process of an origin: rank, host, state, exit.  Returns 0, or -ENOENT
 * if not known. */
ES_API int es_scope_process(const struct es_scope *scope,
                            uint32_t origin,
                            struct es_segment_info *ret_info);

/* Lists the modules of the origin's process that have called MPI, as
 * es_segment_view_modules() does.  Each call reads them again.  The caller frees
 * *ret_modules.  Returns their number; -ENOENT if not known; or another -errno. */
ES_API int es_scope_modules(const struct es_scope *scope,
                            uint32_t origin,
                            struct es_module **ret_modules);

/* Describes a communicator of the origin's process.  Returns 0, or -ENOENT if there is
 * no such index. */
ES_API int es_scope_communicator(const struct es_scope *scope,
                                 uint32_t origin,
                                 uint16_t communicator,
                                 struct es_communicator_info *ret_info);

/* World rank of a member of a communicator of the origin's process; of the remote group
 * if `remote`.  Returns -ENOENT if not known. */
ES_API int es_scope_world_rank(const struct es_scope *scope,
                               uint32_t origin,
                               uint16_t communicator,
                               bool remote,
                               int rank);

/* World rank of a tuple's peer; in an intercommunicator, the peer is in the remote
 * group.  Returns ES_PEER_NONE and ES_PEER_ANY unchanged, and -ENOENT if not known. */
ES_API int es_scope_peer(const struct es_scope *scope,
                         uint32_t origin,
                         const struct es_tuple *tuple);

/* The current run time: see es_origin_run_ns(). */
ES_API uint64_t es_scope_run_now_ns(const struct es_scope *scope);

/* Converts a tick count of a process on `host` to run time.  The scope need not have an
 * element of the process. */
ES_API uint64_t es_scope_run_ns(const struct es_scope *scope,
                                const char *host,
                                const struct es_clock *clock,
                                uint64_t ticks);

/* Returns whether the run was cleaned up, so that no new elements can be found.
 * Attached elements can still be read. */
ES_API bool es_scope_has_vanished(const struct es_scope *scope);

/* --- Cost -------------------------------------------------------------------- */

struct es_scope_cost {
    uint64_t pulls;
    uint64_t failures;
    uint64_t tuples;
    uint64_t lost;
    uint64_t late;
    uint64_t total_ns; /* wall time of all pulls, estimated
                          from those that were timed */
    uint64_t cpu_ns;   /* CPU time of the pulling thread for all pulls, estimated */
    size_t origins;
    size_t stages;
};

/* Returns what the scope has cost so far. */
ES_API void es_scope_cost(const struct es_scope *scope, struct es_scope_cost *ret_cost);

/* Called for each stage, parents before their children.  `depth` is 0 for the root. */
typedef void (*es_stage_visit_fn)(const struct es_stage *stage, int depth, void *data);
/* Calls `visit` for each stage of the scope's tree. */
ES_API void es_scope_foreach_stage(const struct es_scope *scope,
                                   es_stage_visit_fn visit,
                                   void *data);

#endif
