/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Sets of ranks as people write them: "0-3,7,12-". */
#include "config.h"

#include "tuplespace/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Moves *text behind the number.  -EINVAL: no number, or more than an int holds. */
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
                                   "ranks \"%.64s\": expected numbers and ranges like "
                                   "\"0-3,7,12-\", or \"*\"",
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
