/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collection plans: the default one, and the ends that do not read text.
 *
 * Reading is in plan_parse.c.
 */
#include "config.h"

#include "tuplespace/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"

struct default_collector {
    const char *name;
    uint32_t classes;
};

static const struct default_collector defaults[] = {
    {"point-to-point",
     1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE | 1u << ES_CLASS_COMPLETION},
    {"collective", 1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR},
    {"data", 1u << ES_CLASS_ONE_SIDED | 1u << ES_CLASS_IO},
    {"other", 1u << ES_CLASS_OTHER},
};

/* The three views of a collective tree: paper, figure 2b. */
static const struct default_collector of_trees[] = {
    {"contribute", 1u << ES_CLASS_CONTRIBUTE},
    {"arrival", 1u << ES_CLASS_ARRIVAL},
    {"departure", 1u << ES_CLASS_DEPARTURE},
};

static int append(struct es_plan *plan,
                  const struct default_collector *added,
                  size_t count)
{
    struct es_collector_plan *grown =
        reallocarray(plan->collectors, plan->count + count, sizeof *grown);

    if (!grown)
        return -ENOMEM;
    plan->collectors = grown;
    for (size_t i = 0; i < count; i++) {
        struct es_collector_plan *collector = &grown[plan->count++];

        *collector = (struct es_collector_plan){.classes = added[i].classes,
                                                .threshold = ES_PLAN_THRESHOLD,
                                                .enabled = true};
        strcpy(collector->name, added[i].name);
    }
    return 0;
}

int es_plan_default(struct es_plan *ret_plan)
{
    struct es_plan plan = {.collectors = NULL};
    int code = append(&plan, defaults, sizeof defaults / sizeof defaults[0]);

    if (code == 0)
        *ret_plan = plan;
    return code;
}

int es_plan_add_trees(struct es_plan *plan)
{
    return append(plan, of_trees, sizeof of_trees / sizeof of_trees[0]);
}

void es_plan_await_readers(struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        plan->collectors[i].await = plan->collectors[i].block;
}

void es_plan_fini(struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->collectors[i].ranges);
    free(plan->collectors);
    *plan = (struct es_plan){0};
}

bool es_collector_plan_has_rank(const struct es_collector_plan *collector, int rank)
{
    return es_rank_ranges_have(collector->ranges, collector->range_count, rank);
}

/* --- Writing a plan as text ------------------------------------------------------- */

static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c <= ' ' || c == '%' || c == 0x7f)
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

/* A pattern, "" as "*". */
static void print_pattern(FILE *out, const char *key, const char *pattern)
{
    fprintf(out, " %s=", key);
    print_escaped(out, pattern[0] != '\0' ? pattern : "*");
}

static void print_classes(FILE *out, uint32_t classes)
{
    const char *separator = " classes=";

    for (unsigned int i = 1; i < ES_CLASS_COUNT; i++) {
        if ((classes & (1u << i)) == 0)
            continue;
        fprintf(out, "%s%s", separator, es_class_name((enum es_class)i));
        separator = ",";
    }
}

static void print_ranks(FILE *out, const struct es_collector_plan *collector)
{
    fputs(" ranks=", out);
    if (collector->range_count == 0)
        fputs("*", out);
    for (size_t i = 0; i < collector->range_count; i++) {
        const struct es_rank_range *range = &collector->ranges[i];

        fprintf(out, "%s%d", i > 0 ? "," : "", range->first);
        if (range->last == INT32_MAX)
            fputs("-", out);
        else if (range->last != range->first)
            fprintf(out, "-%d", range->last);
    }
}

static const char *full_of(const struct es_collector_plan *collector)
{
    if (collector->await)
        return "await";
    return collector->block ? "block" : "discard";
}

static void print_collector(FILE *out, const struct es_collector_plan *collector)
{
    static const char *const splits[] = {"none", "peer", "communicator", "both"};

    fputs("collector ", out);
    print_escaped(out, collector->name);
    print_classes(out, collector->classes);
    print_ranks(out, collector);
    print_pattern(out, "communicator", collector->communicator);
    fprintf(out, " split=%s threshold=%u full=%s enabled=%d polls=%d",
            splits[collector->split], collector->threshold, full_of(collector),
            collector->enabled, collector->polls);
    print_pattern(out, "host", collector->host);
    fputs("\n", out);
}

int es_plan_format(const struct es_plan *plan, char **ret_text)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    bool failed;

    if (!out)
        return -ENOMEM;
    fputs("eventspace-plan 1\n", out);
    for (size_t i = 0; i < plan->count; i++)
        print_collector(out, &plan->collectors[i]);
    fputs("end\n", out);
    failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}
