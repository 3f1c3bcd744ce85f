/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads collection plans.  Runs once in the observed process, so it needs little. */
#include "config.h"

#include "tuplespace/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "eventspace/operation.h"

#define LONGEST_FILE (1 << 24)

/* One line as it is being read; every word in it is known by its place. */
struct reader {
    const char *source;
    struct es_error *error;
    const char *line; /* start of the current line */
    const char *end;  /* its end */
    const char *rest; /* what is not read yet */
    int line_number;
};

/* A piece of the text, not terminated. */
struct word {
    const char *text;
    size_t length;
};

static int fault_at(const struct reader *reader, const char *place, const char *what)
{
    return es_error_set_at(reader->error, -EINVAL, reader->source, reader->line_number,
                           (int)(place - reader->line) + 1, "%s", what);
}

static int fault_value(const struct reader *reader,
                       struct word word,
                       const char *key,
                       const char *expected)
{
    return es_error_set_at(
        reader->error, -EINVAL, reader->source, reader->line_number,
        (int)(word.text - reader->line) + 1, "%s \"%.*s\": expected %s", key,
        (int)(word.length < 64 ? word.length : 64), word.text, expected);
}

static bool next_line(struct reader *reader, const char **text)
{
    if (**text == '\0')
        return false;
    reader->line = reader->rest = *text;
    reader->end = *text + strcspn(*text, "\n");
    reader->line_number++;
    *text = *reader->end == '\n' ? reader->end + 1 : reader->end;
    return true;
}

/* The next word of the line, of length 0 at its end. */
static struct word next_word(struct reader *reader)
{
    struct word word;

    while (reader->rest < reader->end &&
           (*reader->rest == ' ' || *reader->rest == '\t' || *reader->rest == '\r'))
        reader->rest++;
    word.text = reader->rest;
    while (reader->rest < reader->end && *reader->rest != ' ' &&
           *reader->rest != '\t' && *reader->rest != '\r')
        reader->rest++;
    word.length = (size_t)(reader->rest - word.text);
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

/* --- Values ----------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte of an escaped text, and how many it took; -1: a bad escape or a zero byte.
 */
static int unescape_byte(struct word word, size_t at, size_t *ret_taken)
{
    int high, low;

    *ret_taken = 1;
    if (word.text[at] != '%')
        return (unsigned char)word.text[at];
    if (word.length - at < 3)
        return -1;
    high = hex_digit(word.text[at + 1]);
    low = hex_digit(word.text[at + 2]);
    *ret_taken = 3;
    return high < 0 || low < 0 || (high == 0 && low == 0) ? -1 : high * 16 + low;
}

/* -EINVAL: a bad escape, or more than size - 1 bytes. */
static int unescape(struct word word, char *out, size_t size)
{
    size_t used = 0;
    size_t taken;

    for (size_t at = 0; at < word.length; at += taken) {
        int byte = unescape_byte(word, at, &taken);

        if (byte < 0 || used + 1 >= size)
            return -EINVAL;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return 0;
}

static int parse_text(struct reader *reader,
                      struct word value,
                      const char *key,
                      char *out,
                      size_t size)
{
    if (value.length == 0 || unescape(value, out, size) != 0)
        return fault_value(reader, value, key,
                           size == 32 ? "1 to 31 characters, %XX for special ones"
                                      : "1 to 63 characters, %XX for special ones");
    return 0;
}

/* "*" is kept as "". */
static int parse_pattern(struct reader *reader,
                         struct word value,
                         const char *key,
                         char out[64])
{
    if (word_is(value, "*")) {
        out[0] = '\0';
        return 0;
    }
    return parse_text(reader, value, key, out, 64);
}

static int parse_flag(struct reader *reader,
                      struct word value,
                      const char *key,
                      bool *ret)
{
    if (!word_is(value, "0") && !word_is(value, "1"))
        return fault_value(reader, value, key, "0 or 1");
    *ret = value.text[0] == '1';
    return 0;
}

static int parse_class(struct reader *reader, struct word value, uint32_t *classes)
{
    char name[32];
    enum es_class op_class = ES_CLASS_NONE;

    if (value.length < sizeof name) {
        memcpy(name, value.text, value.length);
        name[value.length] = '\0';
        op_class = es_class_by_name(name);
    }
    if (op_class == ES_CLASS_NONE)
        return fault_value(reader, value, "class",
                           "send, receive, completion, collective, communicator, "
                           "one-sided, io or other");
    *classes |= 1u << op_class;
    return 0;
}

/* --- Members: one function each --------------------------------------------------- */

static int parse_classes(struct reader *reader,
                         struct word value,
                         struct es_collector_plan *collector)
{
    const char *end = value.text + value.length;
    uint32_t classes = 0;
    int rc;

    for (;;) {
        const char *comma = memchr(value.text, ',', (size_t)(end - value.text));

        value.length = (size_t)((comma ? comma : end) - value.text);
        rc = parse_class(reader, value, &classes);
        if (rc != 0)
            return rc;
        if (!comma)
            break;
        value.text = comma + 1;
    }
    collector->classes = classes;
    return 0;
}

static int parse_ranks(struct reader *reader,
                       struct word value,
                       struct es_collector_plan *collector)
{
    struct es_error inner = {.text = ""};
    char *text = strndup(value.text, value.length);
    int count;

    if (!text)
        return -ENOMEM;
    count = es_rank_ranges_parse(text, &inner, &collector->ranges);
    free(text);
    if (value.length == 0 || count == -EINVAL)
        return fault_at(reader, value.text + (inner.column > 0 ? inner.column - 1 : 0),
                        inner.text[0] != '\0' ? inner.text
                                              : "ranks \"\": expected \"*\"");
    if (count < 0)
        return count;
    collector->range_count = (size_t)count;
    return 0;
}

static int parse_communicator(struct reader *reader,
                              struct word value,
                              struct es_collector_plan *collector)
{
    return parse_pattern(reader, value, "communicator", collector->communicator);
}

static int parse_split(struct reader *reader,
                       struct word value,
                       struct es_collector_plan *collector)
{
    static const char *const splits[] = {"none", "peer", "communicator", "both"};

    for (unsigned int i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        if (word_is(value, splits[i])) {
            collector->split = (enum es_split)i;
            return 0;
        }
    }
    return fault_value(reader, value, "split", "none, peer, communicator or both");
}

static int parse_threshold(struct reader *reader,
                           struct word value,
                           struct es_collector_plan *collector)
{
    uint32_t threshold = 0;

    for (size_t i = 0; i < value.length && threshold <= ES_PLAN_THRESHOLD_MAX; i++) {
        if (value.text[i] < '0' || value.text[i] > '9') {
            threshold = 0;
            break;
        }
        threshold = threshold * 10 + (uint32_t)(value.text[i] - '0');
    }
    if (threshold < 1 || threshold > ES_PLAN_THRESHOLD_MAX)
        return fault_value(reader, value, "threshold", "a number from 1 to 16777216");
    collector->threshold = threshold;
    return 0;
}

static int parse_full(struct reader *reader,
                      struct word value,
                      struct es_collector_plan *collector)
{
    collector->await = word_is(value, "await");
    collector->block = collector->await || word_is(value, "block");
    if (!collector->block && !word_is(value, "discard"))
        return fault_value(reader, value, "full", "discard, block or await");
    return 0;
}

static int parse_enabled(struct reader *reader,
                         struct word value,
                         struct es_collector_plan *collector)
{
    return parse_flag(reader, value, "enabled", &collector->enabled);
}

static int parse_polls(struct reader *reader,
                       struct word value,
                       struct es_collector_plan *collector)
{
    return parse_flag(reader, value, "polls", &collector->polls);
}

static int parse_host(struct reader *reader,
                      struct word value,
                      struct es_collector_plan *collector)
{
    return parse_pattern(reader, value, "host", collector->host);
}

static const struct member {
    const char *key;
    int (*parse)(struct reader *reader,
                 struct word value,
                 struct es_collector_plan *collector);
} members[] = {
    {"classes", parse_classes},
    {"ranks", parse_ranks},
    {"communicator", parse_communicator},
    {"split", parse_split},
    {"threshold", parse_threshold},
    {"full", parse_full},
    {"enabled", parse_enabled},
    {"polls", parse_polls},
    {"host", parse_host},
};

#define MEMBER_COUNT (sizeof members / sizeof members[0])

/* --- Lines ------------------------------------------------------------------------ */

/* "KEY=VALUE"; `seen` has a bit for each member that was there before. */
static int parse_member(struct reader *reader,
                        struct word word,
                        unsigned int *seen,
                        struct es_collector_plan *collector)
{
    const char *equals = memchr(word.text, '=', word.length);
    struct word key = word;
    struct word value = {0};

    if (!equals)
        return fault_value(reader, word, "member", "KEY=VALUE");
    key.length = (size_t)(equals - word.text);
    value.text = equals + 1;
    value.length = word.length - key.length - 1;
    for (unsigned int i = 0; i < MEMBER_COUNT; i++) {
        if (!word_is(key, members[i].key))
            continue;
        if ((*seen & (1u << i)) != 0)
            return fault_value(reader, key, "member", "each only once");
        *seen |= 1u << i;
        return members[i].parse(reader, value, collector);
    }
    return fault_value(reader, key, "member",
                       "classes, ranks, communicator, split, threshold, full, enabled, "
                       "polls or host");
}

/* The line behind the word "collector".  What it allocates is the plan's even if it
 * fails. */
static int parse_collector(struct reader *reader, struct es_collector_plan *collector)
{
    struct word word = next_word(reader);
    unsigned int seen = 0;
    int rc =
        parse_text(reader, word, "collector", collector->name, sizeof collector->name);

    collector->threshold = ES_PLAN_THRESHOLD;
    collector->enabled = true;
    while (rc == 0 && (word = next_word(reader)).length > 0)
        rc = parse_member(reader, word, &seen, collector);
    if (rc == 0 && collector->classes == 0)
        rc = fault_at(reader, reader->rest, "expected classes=CLASS,...");
    return rc;
}

/* Whether two collectors have a rank in common; no ranges stand for all ranks. */
static bool share_a_rank(const struct es_collector_plan *a,
                         const struct es_collector_plan *b)
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

/* One name may stand for several collectors where no rank has two of them: a pathmap
 * may give the ranks different properties. */
static int check_name_is_new(const struct reader *reader, const struct es_plan *plan)
{
    const struct es_collector_plan *last = &plan->collectors[plan->count - 1];

    for (size_t i = 0; i + 1 < plan->count; i++)
        if (strcmp(plan->collectors[i].name, last->name) == 0 &&
            share_a_rank(&plan->collectors[i], last))
            return es_error_set_at(
                reader->error, -EINVAL, reader->source, reader->line_number, 1,
                "collector \"%s\": there is one of that name already for a rank",
                last->name);
    return 0;
}

static int add_collector(struct reader *reader, struct es_plan *plan)
{
    struct es_collector_plan *grown =
        reallocarray(plan->collectors, plan->count + 1, sizeof *grown);
    int rc;

    if (!grown)
        return -ENOMEM;
    plan->collectors = grown;
    grown[plan->count] = (struct es_collector_plan){0};
    rc = parse_collector(reader, &grown[plan->count++]);
    return rc != 0 ? rc : check_name_is_new(reader, plan);
}

static int parse_header(struct reader *reader, const char **text)
{
    struct word word;

    if (!next_line(reader, text))
        return es_error_set_at(reader->error, -EINVAL, reader->source, 1, 1,
                               "empty: expected \"eventspace-plan 1\"");
    word = next_word(reader);
    if (!word_is(word, "eventspace-plan"))
        return fault_value(reader, word, "first word", "\"eventspace-plan 1\"");
    word = next_word(reader);
    if (!word_is(word, "1"))
        return fault_value(reader, word, "version of the plan", "1");
    return 0;
}

/* 1 when the line was "end". */
static int parse_line(struct reader *reader, struct es_plan *plan)
{
    struct word word = next_word(reader);

    if (word.length == 0 || word.text[0] == '#')
        return 0;
    if (word_is(word, "end"))
        return 1;
    if (!word_is(word, "collector"))
        return fault_value(reader, word, "first word", "collector or end");
    return add_collector(reader, plan);
}

int es_plan_parse(const char *text,
                  const char *source,
                  struct es_error *error,
                  struct es_plan *ret_plan)
{
    struct reader reader = {.source = source, .error = error};
    struct es_plan plan = {0};
    int rc = parse_header(&reader, &text);

    while (rc == 0 && next_line(&reader, &text))
        rc = parse_line(&reader, &plan);
    if (rc == 0)
        rc = es_error_set_at(error, -EINVAL, source, reader.line_number, 1,
                             "the last line is missing: expected \"end\"");
    if (rc < 0) {
        es_plan_fini(&plan);
        return rc;
    }
    *ret_plan = plan;
    return 0;
}

/* --- Files ------------------------------------------------------------------------ */

/* Caller frees *ret_text. */
static int read_text(const char *path, struct es_error *error, char **ret_text)
{
    size_t bytes;
    int fd = es_file_open_own(AT_FDCWD, path, O_RDONLY, path, error);
    int rc;

    if (fd < 0)
        return fd;
    rc = es_file_read_all(fd, LONGEST_FILE, ret_text, &bytes);
    close(fd);
    if (rc == 0 && strlen(*ret_text) < bytes) {
        free(*ret_text);
        rc = -EINVAL;
    }
    return rc == 0 ? 0
                   : es_error_set_at(error, rc, path, 0, 0,
                                     "cannot be read as a plan: %s", strerror(-rc));
}

int es_plan_load(const char *path, struct es_error *error, struct es_plan *ret_plan)
{
    char *text;
    int rc = read_text(path, error, &text);

    if (rc != 0)
        return rc;
    rc = es_plan_parse(text, path, error, ret_plan);
    free(text);
    return rc;
}
