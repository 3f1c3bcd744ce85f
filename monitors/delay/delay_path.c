/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_path.c - critical paths. */
#include "config.h"

#include "monitors/delay/delay_path.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/delay/delay_thread.h"

/* How much a host's clock may be behind when a path branches from a piece. */
#define SLACK_NS UINT64_C(100000000)
enum { FEW_NODES = 4096 };

/* --- Nodes ------------------------------------------------------------------------ */

static struct esi_path_node *make_node(struct esi_paths *paths,
                                       struct esi_delay_thread *thread,
                                       uint64_t from_ns)
{
    struct esi_path_node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->thread = thread;
    node->from_ns = from_ns;
    node->gone_ns = from_ns;
    node->summed_ns = from_ns;
    node->to_ns = UINT64_MAX;
    node->followers = 1;
    paths->count++;
    return node;
}

static void list_node(struct esi_path_node *node)
{
    node->older = node->thread->newest;
    if (node->older)
        node->older->newer = node;
    node->thread->newest = node;
    if (!node->thread->unsummed)
        node->thread->unsummed = node;
    node->listed = true;
}

static void unlist_node(struct esi_path_node *node)
{
    if (!node->listed)
        return;
    if (node->thread->unsummed == node)
        node->thread->unsummed = node->newer;
    if (node->newer) {
        node->newer->older = node->older;
        node->newer->gone_ns = node->gone_ns;
    } else {
        node->thread->newest = node->older;
    }
    if (node->older)
        node->older->newer = node->newer;
    node->listed = false;
}

/* Removes a follower. */
static void release_node(struct esi_paths *paths, struct esi_path_node *node)
{
    while (node && --node->followers == 0) {
        struct esi_path_node *parent = node->parent;

        unlist_node(node);
        esi_tally_fini(&node->sums);
        free(node);
        paths->count--;
        node = parent;
    }
}

/* --- Sums ------------------------------------------------------------------------- */

enum { ACTIVITY_BITS = 24, GENERATION_BITS = 6, BLOCK_BITS = 6 };

struct esi_path_key esi_path_key_of(uint64_t key)
{
    return (struct esi_path_key){
        .activity = key & ((1u << ACTIVITY_BITS) - 1),
        .generation = key >> ACTIVITY_BITS & ((1u << GENERATION_BITS) - 1),
        .block = key >> (ACTIVITY_BITS + GENERATION_BITS) & ((1u << BLOCK_BITS) - 1),
        .thread = (uint32_t)(key >> (ACTIVITY_BITS + GENERATION_BITS + BLOCK_BITS)),
    };
}

/* The key of an activity in or before a call.  Blocks grow during the run: earlier keys
 * keep the block size of their time. */
static uint64_t path_key(const struct esi_delay_thread *thread,
                         uint64_t number,
                         uint32_t activity)
{
    uint64_t generation = 0;
    uint64_t block = 0;

    if (thread->block_calls) {
        generation = (uint64_t)__builtin_ctzll(*thread->block_calls);
        block = number >> generation;
    }
    return ((uint64_t)thread->number << BLOCK_BITS | block)
               << (GENERATION_BITS + ACTIVITY_BITS) |
           generation << ACTIVITY_BITS | activity;
}

static int add_part(struct esi_path_node *node,
                    uint64_t number,
                    uint32_t activity,
                    uint64_t begin_ns,
                    uint64_t end_ns)
{
    uint64_t begin = begin_ns > node->summed_ns ? begin_ns : node->summed_ns;
    uint64_t end = end_ns < node->to_ns ? end_ns : node->to_ns;

    if (end <= begin)
        return 0;
    return esi_tally_add(&node->sums, path_key(node->thread, number, activity),
                         (double)(end - begin));
}

static int add_call(struct esi_path_node *node,
                    uint64_t number,
                    const struct esi_delay_call *call)
{
    int result = add_part(node, number, esi_delay_computing(call->place), call->from_ns,
                          call->begin_ns);

    return result < 0 ? result
                      : add_part(node, number, esi_delay_calling(call->place),
                                 call->begin_ns, call->end_ns);
}

/* Sums up the thread's activities before `to_ns`. */
static int sum_node(struct esi_path_node *node, uint64_t to_ns)
{
    const struct esi_delay_thread *thread = node->thread;
    uint64_t number = esi_delay_thread_find(thread, node->summed_ns);
    const struct esi_delay_call *call;
    int result = 0;

    for (; (call = esi_delay_thread_call(thread, number)) && result == 0; number++) {
        if (call->from_ns >= node->to_ns || call->end_ns > to_ns)
            break;
        result = add_call(node, number, call);
        if (call->end_ns > node->summed_ns)
            node->summed_ns = call->end_ns < node->to_ns ? call->end_ns : node->to_ns;
    }
    /* The part of a call up to the end of its piece. */
    if (result == 0 && call && node->to_ns <= to_ns && call->from_ns < node->to_ns &&
        node->summed_ns < node->to_ns) {
        result = add_call(node, number, call);
        node->summed_ns = node->to_ns;
    }
    return result;
}

int esi_path_keep(struct esi_delay_thread *thread)
{
    const struct esi_delay_call *oldest = esi_delay_thread_call(thread, thread->first);
    int result = 0;

    for (struct esi_path_node *node = thread->unsummed;
         node && node->from_ns < oldest->end_ns && result == 0; node = node->newer) {
        if (node->summed_ns < oldest->end_ns && node->summed_ns < node->to_ns)
            result = sum_node(node, oldest->end_ns);
        if (node == thread->unsummed && node->summed_ns >= node->to_ns && node->newer)
            thread->unsummed = node->newer;
    }
    return result;
}

/* --- Growing ---------------------------------------------------------------------- */

int esi_path_begin(struct esi_paths *paths, struct esi_delay_thread *thread)
{
    struct esi_path_node *node = make_node(paths, thread, 0);

    if (!node)
        return -ENOMEM;
    list_node(node);
    return 0;
}

static struct esi_path_node *path_end_of(const struct esi_delay_thread *thread)
{
    return thread->newest;
}

void esi_path_end(struct esi_paths *paths, struct esi_delay_thread *thread)
{
    if (thread->newest)
        release_node(paths, path_end_of(thread));
}

/* The piece of a thread that contains a time, or the last one before it; NULL if it was
 * removed. */
static struct esi_path_node *find_piece(const struct esi_delay_thread *thread,
                                        uint64_t ns)
{
    for (struct esi_path_node *node = thread->newest; node; node = node->older) {
        if (node->from_ns <= ns)
            return node;
        if (node->gone_ns <= ns)
            return NULL;
    }
    return NULL;
}

/* Splits a piece at a time, which must not be before its sums.  Returns the earlier
 * part, whose follower is the later one; NULL if out of memory. */
static struct esi_path_node *cut_piece(struct esi_paths *paths,
                                       struct esi_path_node *node,
                                       uint64_t ns)
{
    struct esi_path_node *head;

    if (ns >= node->to_ns)
        return node;
    head = make_node(paths, node->thread, node->from_ns);
    if (!head)
        return NULL;
    /* The node remains the later part, so that its followers stay valid. */
    head->to_ns = ns;
    head->gone_ns = node->gone_ns;
    head->parent = node->parent;
    head->summed_ns = node->summed_ns;
    head->sums = node->sums;
    head->older = node->older;
    head->newer = node;
    if (head->older)
        head->older->newer = head;
    if (node->thread->unsummed == node)
        node->thread->unsummed = head;
    head->listed = true;
    node->sums = (struct esi_tally){.count = 0};
    node->from_ns = ns;
    node->gone_ns = ns;
    node->summed_ns = ns;
    node->parent = head;
    node->older = head;
    return head;
}

int esi_path_leave(struct esi_paths *paths,
                   struct esi_delay_thread *thread,
                   uint64_t begin_ns,
                   uint64_t until_ns,
                   struct esi_delay_thread *cause,
                   uint64_t cause_ns)
{
    struct esi_path_node *end = path_end_of(thread);
    struct esi_path_node *piece = find_piece(cause, cause_ns);
    struct esi_path_node *node;

    if (until_ns > paths->now_ns)
        paths->now_ns = until_ns;
    if (!piece || piece->summed_ns > cause_ns || end->from_ns > begin_ns ||
        cause == thread) {
        paths->detours++;
        return 0;
    }
    piece = cut_piece(paths, piece, cause_ns);
    node = piece ? make_node(paths, thread, until_ns) : NULL;
    if (!node)
        return -ENOMEM;
    piece->followers++;
    node->parent = piece;
    end->to_ns = begin_ns;
    list_node(node);
    release_node(paths, end);
    return 0;
}

/* --- Merging ---------------------------------------------------------------------- */

/* Whether no path can branch from the piece any more because it ended long ago. */
static bool is_past(const struct esi_paths *paths, const struct esi_path_node *node)
{
    return node->to_ns != UINT64_MAX && node->to_ns + SLACK_NS < paths->now_ns;
}

/* Merges a piece into its only follower. */
static int join_parent(struct esi_paths *paths, struct esi_path_node *node)
{
    struct esi_path_node *parent = node->parent;
    struct esi_tally own = node->sums;
    int result = sum_node(parent, UINT64_MAX);

    if (result < 0)
        return result;
    /* Keep the larger tally, which is the older one. */
    node->sums = parent->sums;
    parent->sums = own;
    result = esi_tally_add_all(&node->sums, &parent->sums);
    node->parent = parent->parent;
    parent->parent = NULL;
    release_node(paths, parent);
    return result;
}

/* Merges up to a node already visited in this pass. */
static int join_ancestors(struct esi_paths *paths, struct esi_path_node *node)
{
    int result = 0;

    while (node && node->pass != paths->pass && result == 0) {
        struct esi_path_node *parent = node->parent;

        if (parent && parent->followers == 1 && is_past(paths, parent)) {
            result = join_parent(paths, node);
            continue;
        }
        node->pass = paths->pass;
        node = parent;
    }
    return result;
}

int esi_path_join(struct esi_paths *paths,
                  struct esi_delay_thread *const *threads,
                  size_t thread_count)
{
    int result = 0;

    if (paths->count <= paths->threshold)
        return 0;
    paths->pass++;
    for (size_t i = 0; i < thread_count && result == 0; i++)
        result = join_ancestors(paths, path_end_of(threads[i]));
    paths->threshold = 2 * paths->count + FEW_NODES;
    return result;
}

int esi_path_sum(struct esi_delay_thread *thread, struct esi_tally *tally)
{
    int result = 0;

    for (struct esi_path_node *node = path_end_of(thread); node && result == 0;
         node = node->parent) {
        result = sum_node(node, UINT64_MAX);
        if (result == 0)
            result = esi_tally_add_all(tally, &node->sums);
    }
    return result;
}
