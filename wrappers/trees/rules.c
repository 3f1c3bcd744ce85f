/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shared rules are reference counted; the newest are found by their text.
 *
 * Rule synchronization uses operations of the MPI library on the shadow communicator.
 * Trees advance while it waits for them, because late ranks may need this one first.
 */
#include "config.h"

#include "wrappers/trees/rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "tuplespace/tree_control.h"
#include "wrappers/mpi/call.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/dispatch.h"

struct esi_shared_rules {
    _Atomic unsigned int references;
    struct esi_tree_plan plan;
    char *text; /* the original text */
};

struct esi_shared_rules *esi_rules_initial;

static pthread_mutex_t newest_lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_shared_rules *newest; /* protected by the lock; holds a reference */

struct esi_shared_rules *esi_rules_ref(struct esi_shared_rules *rules)
{
    atomic_fetch_add_explicit(&rules->references, 1, memory_order_relaxed);
    return rules;
}

void esi_rules_unref(struct esi_shared_rules *rules)
{
    /* The last one sees what the others did. */
    if (rules == NULL ||
        atomic_fetch_sub_explicit(&rules->references, 1, memory_order_acq_rel) != 1)
        return;
    esi_tree_plan_fini(&rules->plan);
    free(rules->text);
    free(rules);
}

const struct esi_tree_plan *esi_rules_plan(const struct esi_shared_rules *rules)
{
    return &rules->plan;
}

static int read_rules(const char *text,
                      struct es_error *error,
                      struct esi_shared_rules **ret_rules)
{
    struct esi_shared_rules *rules = calloc(1, sizeof *rules);
    int code = -ENOMEM;

    if (rules == NULL)
        return -ENOMEM;
    rules->text = strdup(text);
    if (rules->text != NULL)
        code = esi_tree_plan_parse(text, "EVENTSPACE_TREES", error, &rules->plan);
    if (code < 0) {
        free(rules->text);
        free(rules);
        return code;
    }
    atomic_init(&rules->references, 1);
    *ret_rules = rules;
    return 0;
}

int esi_rules_get(const char *text,
                  struct es_error *error,
                  struct esi_shared_rules **ret_rules)
{
    struct esi_shared_rules *old = NULL;
    struct esi_shared_rules *rules = NULL;
    int code = 0;

    pthread_mutex_lock(&newest_lock);
    if (newest == NULL || strcmp(newest->text, text) != 0) {
        code = read_rules(text, error, &rules);
        if (code == 0) {
            old = newest;
            newest = rules;
        }
    }
    if (code == 0)
        *ret_rules = esi_rules_ref(newest);
    pthread_mutex_unlock(&newest_lock);
    esi_rules_unref(old);
    return code;
}

/* --- When to synchronise ---------------------------------------------------------- */

static const uint64_t wanted_ns = 500000000; /* between two synchronisations */

/* The number of operations until the next synchronization, if `operations` have taken
 * `elapsed_ns` since the last: those of half a second, at least one. */
static uint32_t find_sync_gap(uint32_t operations, uint64_t elapsed_ns)
{
    uint64_t gap;

    if (elapsed_ns == 0)
        return ESI_RULE_SYNC_MAX_GAP;
    gap = operations * wanted_ns / elapsed_ns; /* less than 2^61 */
    if (gap > ESI_RULE_SYNC_MAX_GAP)
        return ESI_RULE_SYNC_MAX_GAP;
    return gap > 0 ? (uint32_t)gap : 1;
}

uint32_t esi_rule_sync_next(struct esi_rule_sync_pace *pace,
                            uint32_t number,
                            uint64_t now_ns)
{
    uint32_t gap = ESI_RULE_SYNC_FIRST_GAP;

    if (pace->began)
        gap = find_sync_gap(number - pace->number, now_ns - pace->time_ns);
    *pace =
        (struct esi_rule_sync_pace){.began = true, .number = number, .time_ns = now_ns};
    return number + gap;
}

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Messages --------------------------------------------------------------------- */

static int bcast_bytes(const struct esi_comm_trees *trees, void *bytes, size_t size)
{
    MPI_Request request;
    int code;

    /* All ranks must do the same: a blocking operation does not match a nonblocking
     * one. */
    if (!esi_progress_collectives)
        return ESI_REAL(MPI_Bcast)(bytes, (int)size, MPI_BYTE, 0, trees->shadow);
    code = ESI_REAL(MPI_Ibcast)(bytes, (int)size, MPI_BYTE, 0, trees->shadow, &request);
    return code == MPI_SUCCESS ? esi_progress_wait_own(&request) : code;
}

static int gather_host_infos(struct esi_comm_trees *trees)
{
    struct esi_host_info own;
    struct esi_host_info *all = calloc((size_t)trees->comm->size, sizeof *all);
    MPI_Request request;
    int code = MPI_ERR_NO_MEM;

    if (all != NULL) {
        esi_host_info_find(&own);
        code = ESI_REAL(MPI_Iallgather)(&own, sizeof own, MPI_BYTE, all, sizeof own,
                                        MPI_BYTE, trees->shadow, &request);
    }
    if (code == MPI_SUCCESS)
        code = esi_progress_wait_own(&request);
    if (code == MPI_SUCCESS)
        trees->host_infos = all;
    else
        free(all);
    return code;
}

/* --- Desired rules ---------------------------------------------------------------- */

/* Rank 0: reads new desired rules, if any.  Invalid text is ignored. */
static void read_desired_rules(struct esi_comm_trees *trees,
                               struct esi_rule_sync *message,
                               struct esi_shared_rules **ret_rules)
{
    const struct esi_process *process = esi_process_get();
    char *text;
    uint32_t version;

    if (process == NULL ||
        esi_tree_desired_version(process->segment) == trees->seen_version)
        return;
    text = malloc(ES_TREE_DESIRED_BYTES);
    version = text != NULL ? esi_tree_desired_read(process->segment, text) : 0;
    if (version != 0) {
        trees->seen_version = version;
        if (esi_rules_get(text, NULL, ret_rules) == 0) {
            message->version = version;
            message->text_bytes = (uint32_t)strlen((*ret_rules)->text) + 1;
        }
    }
    free(text);
}

/* Broadcasts the text of new rules from rank 0, which has parsed them. */
static int bcast_rules(const struct esi_comm_trees *trees,
                       uint32_t text_bytes,
                       struct esi_shared_rules **rules)
{
    char *text = malloc(text_bytes);
    int code;

    if (text == NULL)
        return MPI_ERR_NO_MEM;
    if (*rules != NULL)
        memcpy(text, (*rules)->text, text_bytes);
    code = bcast_bytes(trees, text, text_bytes);
    text[text_bytes - 1] = '\0';
    if (code == MPI_SUCCESS && *rules == NULL && esi_rules_get(text, NULL, rules) < 0)
        *rules = NULL;
    free(text);
    return code;
}

/* --- Applying rules --------------------------------------------------------------- */

static bool has_levels(const struct esi_comm_trees *trees)
{
    for (size_t i = 0; i < trees->applicable_count; i++)
        if (trees->applicable[i]->shape == ES_TREE_LEVELS)
            return true;
    return false;
}

/* Trees by level need the locations of the ranks.  If one rank is out of memory, no
 * rank has such trees. */
static int find_locations(struct esi_comm_trees *trees)
{
    bool has_locations = false;
    int code = MPI_SUCCESS;

    if (trees->locations != NULL || !has_levels(trees))
        return MPI_SUCCESS;
    if (trees->host_infos == NULL)
        code = gather_host_infos(trees);
    if (code == MPI_SUCCESS)
        code = esi_comm_all_agree(
            trees->shadow,
            esi_placement_create(trees->host_infos, trees->comm->size,
                                 esi_rules_plan(trees->rules), &trees->locations) == 0,
            &has_locations);
    return has_locations || code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
}

static void log_rule(const struct esi_comm_trees *trees,
                     const struct esi_call *call,
                     const struct esi_tree_rule *rule)
{
    struct esi_tree_log_entry entry = {
        .communicator = trees->comm->index,
        .version = trees->last_sync.version,
        .first_instance = call->tuple.sequence,
        .operations = rule->operations,
        .min_bytes = rule->min_bytes,
        .max_bytes = rule->max_bytes,
        .since_ticks = esi_clock_read(),
    };

    snprintf(entry.name, sizeof entry.name, "%s", rule->name);
    esi_tree_rule_format_short(rule, entry.text, sizeof entry.text);
    esi_tree_log_add(esi_process_get()->segment, &entry);
}

/* Logs the rules that apply from this operation on. */
static void log_applied_rules(const struct esi_comm_trees *trees,
                              const struct esi_call *call)
{
    static const struct esi_tree_rule none = {
        .shape = ES_TREE_LIBRARY, .operations = ES_TREE_ALL, .max_bytes = UINT64_MAX};

    if (esi_process_get() == NULL)
        return;
    pthread_mutex_lock(&log_lock);
    for (size_t i = 0; i < trees->applicable_count; i++)
        log_rule(trees, call, trees->applicable[i]);
    /* The previous trees are no longer in force. */
    if (trees->applicable_count == 0 && trees->last_sync.version != 0)
        log_rule(trees, call, &none);
    pthread_mutex_unlock(&log_lock);
}

static void note_sync(struct esi_comm_trees *trees, const struct esi_rule_sync *message)
{
    trees->last_sync = *message;
    trees->comm->gate.next = message->next;
}

/* Applies rules sent by rank 0.  If `rules` is NULL, the rules do not change; at the
 * first synchronization, the initial rules are applied. */
static int apply_sync(struct esi_comm_trees *trees,
                      const struct esi_rule_sync *message,
                      struct esi_shared_rules *rules,
                      const struct esi_call *call)
{
    if (rules != NULL || trees->applicable == NULL ||
        strcmp(message->name, trees->last_sync.name) != 0) {
        if (esi_comm_trees_set_rules(trees, rules != NULL ? rules : trees->rules,
                                     message->name) < 0)
            return MPI_ERR_NO_MEM;
        note_sync(trees, message);
        log_applied_rules(trees, call);
        return find_locations(trees);
    }
    note_sync(trees, message);
    return MPI_SUCCESS;
}

static void prepare_sync(struct esi_comm_trees *trees,
                         uint32_t number,
                         struct esi_rule_sync *message,
                         struct esi_shared_rules **ret_rules)
{
    message->version = trees->last_sync.version;
    message->next =
        esi_rule_sync_next(&trees->pace, number, esi_now_ns(CLOCK_MONOTONIC));
    esi_comm_copy_name(trees->comm, message->name);
    read_desired_rules(trees, message, ret_rules);
}

int esi_rule_sync_run(struct esi_comm_trees *trees,
                      const struct esi_call *call,
                      uint32_t number)
{
    struct esi_rule_sync message = {.version = 0};
    struct esi_shared_rules *rules = NULL;
    bool has_rules = false;
    int code;

    if (trees->comm->rank == 0)
        prepare_sync(trees, number, &message, &rules);
    code = bcast_bytes(trees, &message, sizeof message);
    if (code == MPI_SUCCESS && message.text_bytes != 0) {
        code = bcast_rules(trees, message.text_bytes, &rules);
        if (code == MPI_SUCCESS)
            code = esi_comm_all_agree(trees->shadow, rules != NULL, &has_rules);
        if (!has_rules) { /* a rank is out of memory: no rank applies them */
            esi_rules_unref(rules);
            rules = NULL;
            message.version = trees->last_sync.version;
        }
    }
    if (code == MPI_SUCCESS)
        code = apply_sync(trees, &message, rules, call);
    esi_rules_unref(rules);
    return code;
}
