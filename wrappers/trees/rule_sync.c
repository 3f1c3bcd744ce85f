/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Agreements: what rank 0 of a communicator tells the others.
 *
 * All is done by the MPI library's own operations over the shadow communicator.  They
 * are waited for patiently: ranks that are late may need our help first.
 */
#include "config.h"

#include "wrappers/trees/rule_sync.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "tuplespace/tree_board.h"
#include "wrappers/trees/comm_trees.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/mpi/call.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Messages ------------------------------------------------------------------- */

static int share(const struct esi_comm_trees *site, void *bytes, size_t size)
{
    MPI_Request request;
    int code;

    /* All ranks must do the same: a blocking operation matches no nonblocking one. */
    if (!esi_progress_collectives)
        return ESI_REAL(MPI_Bcast)(bytes, (int)size, MPI_BYTE, 0, site->shadow);
    code = ESI_REAL(MPI_Ibcast)(bytes, (int)size, MPI_BYTE, 0, site->shadow, &request);
    return code == MPI_SUCCESS ? esi_progress_wait_own(&request) : code;
}

/* Whether all ranks say yes. */
static int ask_all(const struct esi_comm_trees *site, bool own, bool *ret_all)
{
    int mine = own;
    int all = 0;
    MPI_Request request;
    int code = ESI_REAL(MPI_Iallreduce)(&mine, &all, 1, MPI_INT, MPI_MIN, site->shadow,
                                        &request);

    if (code == MPI_SUCCESS)
        code = esi_progress_wait_own(&request);
    *ret_all = all == 1;
    return code;
}

static int gather_places(struct esi_comm_trees *site)
{
    struct esi_host_info own;
    struct esi_host_info *all = calloc((size_t)site->comm->size, sizeof *all);
    MPI_Request request;
    int code = MPI_ERR_NO_MEM;

    if (all != NULL) {
        esi_host_info_find(&own);
        code = ESI_REAL(MPI_Iallgather)(&own, sizeof own, MPI_BYTE, all, sizeof own,
                                        MPI_BYTE, site->shadow, &request);
    }
    if (code == MPI_SUCCESS)
        code = esi_progress_wait_own(&request);
    if (code == MPI_SUCCESS)
        site->whereabouts = all;
    else
        free(all);
    return code;
}

/* --- The wish ------------------------------------------------------------------- */

/* Rank 0: new rules, if somebody wished for some since.  A wish that cannot be read is
 * passed over. */
static void read_wish(struct esi_comm_trees *site,
                      struct esi_rule_sync *message,
                      struct esi_rules **ret_rules)
{
    const struct esi_process *process = esi_process_get();
    char *text;
    uint32_t version;

    if (process == NULL || es_tree_wish_version(process->segment) == site->seen)
        return;
    text = malloc(ES_TREE_WISH_BYTES);
    version = text != NULL ? es_tree_wish_read(process->segment, text) : 0;
    if (version != 0) {
        site->seen = version;
        if (esi_rules_get(text, NULL, ret_rules) == 0) {
            message->version = version;
            message->text_bytes = (uint32_t)strlen(esi_rules_text(*ret_rules)) + 1;
        }
    }
    free(text);
}

/* The text of new rules, from rank 0, which has them already. */
static int share_rules(const struct esi_comm_trees *site,
                       uint32_t text_bytes,
                       struct esi_rules **rules)
{
    char *text = malloc(text_bytes);
    int code;

    if (text == NULL)
        return MPI_ERR_NO_MEM;
    if (*rules != NULL)
        memcpy(text, esi_rules_text(*rules), text_bytes);
    code = share(site, text, text_bytes);
    text[text_bytes - 1] = '\0';
    if (code == MPI_SUCCESS && *rules == NULL && esi_rules_get(text, NULL, rules) < 0)
        *rules = NULL;
    free(text);
    return code;
}

/* --- What follows from it ------------------------------------------------------- */

static bool has_levels(const struct esi_comm_trees *site)
{
    for (size_t i = 0; i < site->applicable_count; i++)
        if (site->applicable[i]->shape == ES_TREE_LEVELS)
            return true;
    return false;
}

/* Trees by level need to know where the ranks are.  Without memory for it on one rank
 * there are none on all. */
static int find_places(struct esi_comm_trees *site)
{
    bool has_places = false;
    int code = MPI_SUCCESS;

    if (site->places != NULL || !has_levels(site))
        return MPI_SUCCESS;
    if (site->whereabouts == NULL)
        code = gather_places(site);
    if (code == MPI_SUCCESS)
        code = ask_all(site,
                       esi_placement_create(site->whereabouts, site->comm->size,
                                            esi_rules_plan(site->rules),
                                            &site->places) == 0,
                       &has_places);
    return has_places || code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
}

static void log_rule(const struct esi_comm_trees *site,
                     const struct esi_call *call,
                     const struct es_tree_rule *rule)
{
    struct es_tree_log_entry entry = {
        .communicator = site->comm->index,
        .version = site->agreed.version,
        .first_instance = call->tuple.sequence,
        .operations = rule->operations,
        .min_bytes = rule->min_bytes,
        .max_bytes = rule->max_bytes,
        .since_ticks = esi_clock_read(),
    };

    snprintf(entry.name, sizeof entry.name, "%s", rule->name);
    es_tree_rule_format_short(rule, entry.text, sizeof entry.text);
    es_tree_log_add(esi_process_get()->segment, &entry);
}

/* Tells from outside which rules hold from this operation on. */
static void log_rules(const struct esi_comm_trees *site, const struct esi_call *call)
{
    static const struct es_tree_rule none = {
        .shape = ES_TREE_LIBRARY, .operations = ES_TREE_ALL, .max_bytes = UINT64_MAX};

    if (esi_process_get() == NULL)
        return;
    pthread_mutex_lock(&log_lock);
    for (size_t i = 0; i < site->applicable_count; i++)
        log_rule(site, call, site->applicable[i]);
    /* The trees that were there before are not in force any more. */
    if (site->applicable_count == 0 && site->agreed.version != 0)
        log_rule(site, call, &none);
    pthread_mutex_unlock(&log_lock);
}

/* Does what rank 0 has told.  `rules` NULL: as before, or at the first agreement those
 * that the run began with. */
static int follow(struct esi_comm_trees *site,
                  const struct esi_rule_sync *message,
                  struct esi_rules *rules,
                  const struct esi_call *call)
{
    if (rules != NULL || site->applicable == NULL ||
        strcmp(message->name, site->agreed.name) != 0) {
        if (esi_comm_trees_set_rules(site, rules != NULL ? rules : site->rules,
                                     message->name) < 0)
            return MPI_ERR_NO_MEM;
        site->agreed = *message;
        log_rules(site, call);
        return find_places(site);
    }
    site->agreed = *message;
    return MPI_SUCCESS;
}

static void prepare(struct esi_comm_trees *site,
                    uint32_t number,
                    struct esi_rule_sync *message,
                    struct esi_rules **ret_rules)
{
    message->version = site->agreed.version;
    message->next = esi_rule_sync_next(&site->pace, number, es_now_ns(CLOCK_MONOTONIC));
    esi_comm_copy_name(site->comm, message->name);
    read_wish(site, message, ret_rules);
}

int esi_rule_sync_run(struct esi_comm_trees *site,
                      const struct esi_call *call,
                      uint32_t number)
{
    struct esi_rule_sync message = {.version = 0};
    struct esi_rules *rules = NULL;
    bool has_rules = false;
    int code;

    if (site->comm->rank == 0)
        prepare(site, number, &message, &rules);
    code = share(site, &message, sizeof message);
    if (code == MPI_SUCCESS && message.text_bytes != 0) {
        code = share_rules(site, message.text_bytes, &rules);
        if (code == MPI_SUCCESS)
            code = ask_all(site, rules != NULL, &has_rules);
        if (!has_rules) { /* somebody has no memory for them: nobody follows them */
            esi_rules_unref(rules);
            rules = NULL;
            message.version = site->agreed.version;
        }
    }
    if (code == MPI_SUCCESS)
        code = follow(site, &message, rules, call);
    esi_rules_unref(rules);
    return code;
}
