/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* plan.c - collection plans: the fields of a collector, the default plan, and plans as
 * text. */
#include "config.h"

#include "tuplespace/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "eventspace/operation.h"
#include "tuplespace/operation_table.h"
#include "tuplespace/plan/lines.h"

#define LONGEST_FILE (1 << 24)
#define PLAN_HEAD "eventspace-plan"

/* --- The fields of a collector ---------------------------------------------------- */

static int parse_ranks(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       void *record)
{
    struct esi_collector_plan *collector = record;
    struct es_error error = {.text = ""};
    struct esi_rank_range *ranges;
    char *copy;
    int count;

    (void)field;
    if (text.length == 0)
        return -EINVAL;
    copy = strndup(text.text, text.length);
    if (!copy)
        return -ENOMEM;
    count = esi_rank_ranges_parse(copy, &error, &ranges);
    free(copy);
    if (count == -EINVAL && error.column > 1) {
        fault->at.text += error.column - 1;
        fault->at.length -= (size_t)error.column - 1;
    }
    if (count < 0)
        return count;
    free(collector->ranges);
    collector->ranges = ranges;
    collector->range_count = (size_t)count;
    return 0;
}

static void format_ranks(const struct esi_field *field, const void *record, FILE *out)
{
    const struct esi_collector_plan *collector = record;

    (void)field;
    esi_rank_ranges_format(collector->ranges, collector->range_count, out);
}

static const struct esi_field_text ranks_text = {
    .expected = "numbers and ranges like '0-3,7,12-', or '*'",
    .parse = parse_ranks,
    .format = format_ranks,
};

static const char *const splits[] = {
    [ES_SPLIT_NONE] = "none",
    [ES_SPLIT_PEER] = "peer",
    [ES_SPLIT_COMMUNICATOR] = "communicator",
    [ES_SPLIT_BOTH] = "both",
    NULL,
};

static const char *const on_full[] = {
    [ES_ON_FULL_DISCARD] = "discard",
    [ES_ON_FULL_BLOCK] = "block",
    [ES_ON_FULL_AWAIT] = "await",
    NULL,
};

static const struct esi_field collector_rows[] = {
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED | ESI_FIELD_IN_PLACE | ESI_FIELD_JSON_ONLY,
     .offset = offsetof(struct esi_collector_plan, name),
     .minimum = 1,
     .maximum = sizeof(((struct esi_collector_plan *)NULL)->name) - 1,
     .help = "name of the collector, part of its elements' names"},
    {.name = "classes",
     .kind = ESI_FIELD_FLAGS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_collector_plan, classes),
     .minimum = ES_CLASS_NONE + 1,
     .choices = esi_class_names,
     .help = "classes of operations that it records"},
    {.name = "ranks",
     .kind = ESI_FIELD_RANKS,
     .offset = offsetof(struct esi_collector_plan, ranges),
     .count_offset = offsetof(struct esi_collector_plan, range_count),
     .text = &ranks_text,
     .help = "ranks that have it, such as 0-3,7"},
    {.name = "communicator",
     .kind = ESI_FIELD_STRING,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct esi_collector_plan, communicator),
     .minimum = 1,
     .maximum = sizeof(((struct esi_collector_plan *)NULL)->communicator) - 1,
     .initial_text = "*",
     .help = "pattern of the names of the communicators recorded"},
    {.name = "split",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct esi_collector_plan, split),
     .choices = splits,
     .help = "what has elements of its own within a thread"},
    {.name = "threshold",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct esi_collector_plan, threshold),
     .size = sizeof(uint32_t),
     .minimum = 1,
     .maximum = ES_PLAN_THRESHOLD_MAX,
     .initial = ES_PLAN_THRESHOLD,
     .help = "tuples kept before the oldest are discarded"},
    {.name = "on_full",
     .line_name = "full",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct esi_collector_plan, on_full),
     .maximum = ES_ON_FULL_BLOCK,
     .choices = on_full,
     .help = "what happens then: the oldest tuple is discarded, or the program waits"},
    {.name = "enabled",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct esi_collector_plan, enabled),
     .initial = 1,
     .help = "whether it records from the start"},
    {.name = "polls",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct esi_collector_plan, polls),
     .help = "whether polls that find nothing are recorded too"},
    {.name = "sites",
     .kind = ESI_FIELD_BOOLEAN,
     .flags = ESI_FIELD_QUIET | ESI_FIELD_LINE_ONLY,
     .offset = offsetof(struct esi_collector_plan, sites),
     .initial = 1,
     .help = "whether it records where in the program operations are called"},
    {.name = "host",
     .kind = ESI_FIELD_HOST,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct esi_collector_plan, host),
     .minimum = 1,
     .maximum = sizeof(((struct esi_collector_plan *)NULL)->host) - 1,
     .help = "host whose tuple server keeps the elements; none = the rank's own"},
};

const struct esi_fields esi_collector_fields = {
    .name = "collector",
    .size = sizeof(struct esi_collector_plan),
    .rows = collector_rows,
    .row_count = sizeof collector_rows / sizeof *collector_rows,
};

/* --- Plans ------------------------------------------------------------------------ */

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

static int plan_append(struct es_plan *plan,
                       const struct default_collector *added,
                       size_t count)
{
    if (ESI_ARRAY_RESERVE(plan->collectors, plan->capacity, plan->count + count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct esi_collector_plan *collector = &plan->collectors[plan->count++];

        *collector = (struct esi_collector_plan){.ranges = NULL};
        esi_fields_init(&esi_collector_fields, collector);
        collector->classes = added[i].classes;
        strcpy(collector->name, added[i].name);
    }
    return 0;
}

int esi_plan_default(struct es_plan *ret_plan)
{
    struct es_plan plan = {.collectors = NULL};
    int code = plan_append(&plan, defaults, sizeof defaults / sizeof defaults[0]);

    if (code == 0)
        *ret_plan = plan;
    return code;
}

int esi_plan_add_trees(struct es_plan *plan)
{
    return plan_append(plan, of_trees, sizeof of_trees / sizeof of_trees[0]);
}

void esi_plan_await_readers(struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->collectors[i].on_full == ES_ON_FULL_BLOCK)
            plan->collectors[i].on_full = ES_ON_FULL_AWAIT;
}

void esi_plan_set_sites(struct es_plan *plan, bool sites)
{
    for (size_t i = 0; i < plan->count; i++)
        plan->collectors[i].sites = sites;
}

void esi_plan_fini(struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->collectors[i].ranges);
    free(plan->collectors);
    *plan = (struct es_plan){0};
}

bool esi_collector_plan_has_rank(const struct esi_collector_plan *collector, int rank)
{
    return esi_rank_ranges_have(collector->ranges, collector->range_count, rank);
}

/* --- As text ---------------------------------------------------------------------- */

static void print_collectors(FILE *out, const void *record)
{
    const struct es_plan *plan = record;

    for (size_t i = 0; i < plan->count; i++) {
        fputs("collector ", out);
        esi_lines_print_text(out, plan->collectors[i].name);
        esi_lines_print(out, &esi_collector_fields, &plan->collectors[i], NULL);
        fputs("\n", out);
    }
}

int esi_plan_format(const struct es_plan *plan, char **ret_text)
{
    return esi_lines_format(PLAN_HEAD, print_collectors, plan, ret_text);
}

/* Returns whether two collectors have a rank in common; no ranges mean all ranks. */
static bool share_a_rank(const struct esi_collector_plan *a,
                         const struct esi_collector_plan *b)
{
    if (a->range_count == 0 || b->range_count == 0)
        return true;
    for (size_t i = 0; i < a->range_count; i++)
        for (size_t j = 0; j < b->range_count; j++)
            if (a->ranges[i].first <= b->ranges[j].last &&
                b->ranges[j].first <= a->ranges[i].last)
                return true;
    return false;
}

/* Several collectors may have the same name if no rank has two of them, because a
 * pathmap may give ranks different properties. */
static int check_name_is_new(const struct esi_lines *lines, const struct es_plan *plan)
{
    const struct esi_collector_plan *last = &plan->collectors[plan->count - 1];

    for (size_t i = 0; i + 1 < plan->count; i++)
        if (strcmp(plan->collectors[i].name, last->name) == 0 &&
            share_a_rank(&plan->collectors[i], last))
            return es_error_set_at(
                lines->error, -EINVAL, lines->source, lines->number, 1,
                "collector '%s': a rank already has one of that name", last->name);
    return 0;
}

static int add_collector(struct esi_lines *lines, struct es_plan *plan)
{
    struct esi_collector_plan *collector;
    struct esi_line_members members;
    int code;

    if (ESI_ARRAY_RESERVE(plan->collectors, plan->capacity, plan->count + 1) < 0)
        return -ENOMEM;
    collector = &plan->collectors[plan->count++];
    *collector = (struct esi_collector_plan){.ranges = NULL};
    esi_fields_init(&esi_collector_fields, collector);
    code = esi_lines_text(lines, "collector", collector->name, sizeof collector->name);
    if (code == 0)
        code = esi_lines_members(lines, &esi_collector_fields, collector, &members);
    return code == 0 ? check_name_is_new(lines, plan) : code;
}

int esi_plan_parse(const char *text,
                   const char *source,
                   struct es_error *error,
                   struct es_plan *ret_plan)
{
    struct esi_lines lines = {
        .source = source, .error = error, .text = text, .line_end = "\n"};
    struct es_plan plan = {0};
    struct esi_text_span word;
    int code = esi_lines_head(&lines, PLAN_HEAD);

    while (code == 0 && (code = esi_lines_next(&lines, &word)) > 0)
        code = esi_text_span_is(word, "collector")
                   ? add_collector(&lines, &plan)
                   : esi_lines_fault(&lines, word, "first word", "collector or end");
    if (code < 0) {
        esi_plan_fini(&plan);
        return code;
    }
    *ret_plan = plan;
    return 0;
}

/* The caller frees *ret_text. */
static int read_text(const char *path, struct es_error *error, char **ret_text)
{
    size_t bytes;
    int fd = esi_file_open_own(AT_FDCWD, path, O_RDONLY, path, error);
    int rc;

    if (fd < 0)
        return fd;
    rc = esi_file_read_all(fd, LONGEST_FILE, ret_text, &bytes);
    close(fd);
    if (rc == 0 && strlen(*ret_text) < bytes) {
        free(*ret_text);
        rc = -EINVAL;
    }
    return rc == 0 ? 0
                   : es_error_set_at(error, rc, path, 0, 0,
                                     "cannot be read as a plan: %s", strerror(-rc));
}

int esi_plan_load(const char *path, struct es_error *error, struct es_plan *ret_plan)
{
    char *text;
    int rc = read_text(path, error, &text);

    if (rc != 0)
        return rc;
    rc = esi_plan_parse(text, path, error, ret_plan);
    free(text);
    return rc;
}

/* --- Sets of ranks, "0-3,7,12-" --------------------------------------------------- */

/* Parses a number and advances *text.  Returns -EINVAL if there is none, or if it does
 * not fit into an int. */
static int parse_rank(const char **text, int *ret_rank)
{
    int64_t rank = 0;
    const char *c = *text;

    if (*c < '0' || *c > '9')
        return -EINVAL;
    for (; *c >= '0' && *c <= '9'; c++) {
        rank = rank * 10 + (*c - '0');
        if (rank > INT32_MAX)
            return -EINVAL;
    }
    *text = c;
    *ret_rank = (int)rank;
    return 0;
}

/* "N", "N-M" or "N-". */
static int parse_range(const char **text, struct esi_rank_range *ret_range)
{
    if (parse_rank(text, &ret_range->first) != 0)
        return -EINVAL;
    ret_range->last = ret_range->first;
    if (**text != '-')
        return 0;
    ++*text;
    if (**text == '\0' || **text == ',') {
        ret_range->last = INT32_MAX;
        return 0;
    }
    if (parse_rank(text, &ret_range->last) != 0 || ret_range->last < ret_range->first)
        return -EINVAL;
    return 0;
}

static size_t count_parts(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

int esi_rank_ranges_parse(const char *text,
                          struct es_error *error,
                          struct esi_rank_range **ret_ranges)
{
    const char *rest = text;
    struct esi_rank_range *ranges;
    int count = 0;

    if (text[0] == '\0' || strcmp(text, "*") == 0) {
        *ret_ranges = NULL;
        return 0;
    }
    ranges = calloc(count_parts(text), sizeof *ranges);
    if (!ranges)
        return -ENOMEM;
    for (;;) {
        const char *part = rest;

        if (parse_range(&rest, &ranges[count]) != 0 ||
            (*rest != ',' && *rest != '\0')) {
            free(ranges);
            return es_error_set_at(error, -EINVAL, NULL, 0, (int)(part - text) + 1,
                                   "ranks '%.64s': expected numbers and ranges like "
                                   "'0-3,7,12-', or '*'",
                                   text);
        }
        count++;
        if (*rest++ == '\0')
            break;
    }
    *ret_ranges = ranges;
    return count;
}

bool esi_rank_ranges_have(const struct esi_rank_range *ranges, size_t count, int rank)
{
    for (size_t i = 0; i < count; i++)
        if (rank >= ranges[i].first && rank <= ranges[i].last)
            return true;
    return count == 0;
}

void esi_rank_ranges_format(const struct esi_rank_range *ranges,
                            size_t count,
                            FILE *out)
{
    if (count == 0)
        fputs("*", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%d", i > 0 ? "," : "", ranges[i].first);
        if (ranges[i].last == INT32_MAX)
            fputs("-", out);
        else if (ranges[i].last != ranges[i].first)
            fprintf(out, "-%d", ranges[i].last);
    }
}
