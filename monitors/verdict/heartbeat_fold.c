/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_fold.c - sorts threads by their descriptions. */
#include "config.h"

#include "monitors/verdict/heartbeat_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_words(const void *a, const void *b)
{
    const struct esi_folded_thread *first = a;
    const struct esi_folded_thread *second = b;
    int words;

    if (first->order != second->order)
        return first->order < second->order ? -1 : 1;
    words = strcmp(first->words, second->words);
    if (words != 0)
        return words;
    return (first->index > second->index) - (first->index < second->index);
}

static int compare_groups(const void *a, const void *b)
{
    const struct esi_folded_thread *first = a;
    const struct esi_folded_thread *second = b;

    if (first->order != second->order)
        return first->order < second->order ? -1 : 1;
    if (first->group != second->group)
        return first->group < second->group ? -1 : 1;
    return (first->index > second->index) - (first->index < second->index);
}

static void find_groups(struct esi_fold *fold)
{
    struct esi_folded_thread *items = fold->items;

    fold->groups = 0;
    qsort(items, fold->count, sizeof *items, compare_words);
    for (size_t i = 0; i < fold->count; i++) {
        bool is_same = i > 0 && items[i].order == items[i - 1].order &&
                       strcmp(items[i].words, items[i - 1].words) == 0;

        items[i].group = is_same ? items[i - 1].group : items[i].index;
        fold->groups += !is_same;
    }
    qsort(items, fold->count, sizeof *items, compare_groups);
}

size_t esi_fold_group_size(const struct esi_fold *fold, size_t first)
{
    size_t end = first + 1;

    while (end < fold->count && fold->items[end].group == fold->items[first].group &&
           fold->items[end].order == fold->items[first].order)
        end++;
    return end - first;
}

static void fold_by(const struct esi_diagnosis *diagnosis,
                    const struct esi_fold_rule *rule,
                    bool brief,
                    struct esi_fold *fold)
{
    fold->count = 0;
    for (size_t i = 0; i < diagnosis->facts->thread_count; i++) {
        const struct esi_thread_state *thread = &diagnosis->facts->threads[i];
        struct esi_folded_thread *item = &fold->items[fold->count];

        if (!rule->is_meant(thread))
            continue;
        *item = (struct esi_folded_thread){
            .index = i, .order = -esi_verdicts[thread->verdict].severity};
        rule->describe(diagnosis, i, brief, item->words);
        fold->count++;
    }
    find_groups(fold);
}

int esi_fold_init(const struct esi_diagnosis *diagnosis,
                  const struct esi_fold_rule *rule,
                  struct esi_fold *ret_fold)
{
    struct esi_fold fold = {
        .items = calloc(diagnosis->facts->thread_count + 1, sizeof *fold.items)};

    if (!fold.items)
        return -ENOMEM;
    fold_by(diagnosis, rule, false, &fold);
    fold.brief = fold.groups > ES_FOLD_GROUPS_MOST;
    if (fold.brief)
        fold_by(diagnosis, rule, true, &fold);
    *ret_fold = fold;
    return 0;
}

void esi_fold_fini(struct esi_fold *fold)
{
    free(fold->items);
}
