/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tree rules that communicators share: counted references, the newest found by text. */
#include "config.h"

#include "wrappers/trees/rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct esi_shared_rules {
    _Atomic unsigned int references;
    struct esi_tree_plan plan;
    char *text; /* as it came */
};

static pthread_mutex_t newest_lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_shared_rules *newest; /* under lock; holds a reference */

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

const char *esi_rules_text(const struct esi_shared_rules *rules)
{
    return rules->text;
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
