/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads the text that tree rules travel in.  The observed process runs this as it
 * starts, and whenever an operator changes his mind. */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/plan/tree_rules_private.h"

/* More would not fit into the environment. */
enum { RULES_MOST = 1024, HOSTS_MOST = 65536 };

struct reader {
    struct esi_tree_line line;
    const char *end;  /* of the line */
    const char *rest; /* what is not read yet of it */
};

static bool next_line(struct reader *reader, const char **text)
{
    if (**text == '\0')
        return false;
    reader->line.text = reader->rest = *text;
    reader->line.number++;
    /* What a comment says does not end with a semicolon. */
    reader->end = *text + strcspn(*text, **text == '#' ? "\n" : "\n;");
    *text = *reader->end != '\0' ? reader->end + 1 : reader->end;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line, of length 0 at its end. */
static struct esi_tree_word next_word(struct reader *reader)
{
    struct esi_tree_word word;

    while (reader->rest < reader->end && is_blank(*reader->rest))
        reader->rest++;
    word.text = reader->rest;
    while (reader->rest < reader->end && !is_blank(*reader->rest))
        reader->rest++;
    word.length = (size_t)(reader->rest - word.text);
    return word;
}

/* --- Text ------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that %XX stands for; -1: a bad escape, or a zero byte. */
static int escaped_byte(struct esi_tree_word word, size_t at)
{
    int high, low;

    if (word.length - at < 3)
        return -1;
    high = hex_digit(word.text[at + 1]);
    low = hex_digit(word.text[at + 2]);
    return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

static int unescape(struct esi_tree_word word, char *out, size_t size)
{
    size_t used = 0;

    for (size_t at = 0; at < word.length; at++) {
        int byte = (unsigned char)word.text[at];

        if (byte == '%') {
            byte = escaped_byte(word, at);
            at += 2;
        }
        if (byte < 0 || used + 1 >= size)
            return -EINVAL;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0 ? 0 : -EINVAL;
}

static int parse_text(const struct reader *reader,
                      struct esi_tree_word word,
                      const char *what,
                      char *out,
                      size_t size)
{
    char text[64] = "";

    if (unescape(word, text, size) != 0)
        return esi_tree_fault(&reader->line, word, what,
                              size == 32 ? "1 to 31 characters, %XX for special ones"
                                         : "1 to 63 characters, %XX for special ones");
    memcpy(out, text, size);
    return 0;
}

/* Divides "KEY=VALUE". */
static int split_member(const struct reader *reader,
                        struct esi_tree_word word,
                        struct esi_tree_word *ret_key,
                        struct esi_tree_word *ret_value)
{
    struct esi_tree_word value = word;
    struct esi_tree_word key = esi_tree_word_split(&value, '=');

    if (!value.text)
        return esi_tree_fault(&reader->line, word, "member", "KEY=VALUE");
    *ret_key = key;
    *ret_value = value;
    return 0;
}

/* --- Rules ------------------------------------------------------------------------ */

/* In the order in which the values are read: what is right for a fan-out depends on the
 * shape. */
enum member { SHAPE, OPERATIONS, COMMUNICATOR, BYTES, FAN_OUT, LEVELS, SEGMENT, EDGES };

static const char *const members[] = {"shape",   "operations", "communicator", "bytes",
                                      "fan-out", "levels",     "segment",      "edges"};

#define MEMBER_COUNT (sizeof members / sizeof members[0])

struct found {
    struct esi_tree_word keys[MEMBER_COUNT]; /* text NULL: not there */
    struct esi_tree_word values[MEMBER_COUNT];
};

static int find_member(const struct reader *reader,
                       struct esi_tree_word word,
                       struct found *found)
{
    struct esi_tree_word key, value;
    int code = split_member(reader, word, &key, &value);

    if (code != 0)
        return code;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (!esi_tree_word_is(key, members[i]))
            continue;
        if (found->keys[i].text)
            return esi_tree_fault(&reader->line, key, "member", "each only once");
        found->keys[i] = key;
        found->values[i] = value;
        return 0;
    }
    return esi_tree_fault(&reader->line, key, "member",
                          "shape, operations, communicator, bytes, fan-out, levels, "
                          "segment or edges");
}

/* Members that rules of only some shapes have. */
static int check_members(const struct reader *reader,
                         const struct found *found,
                         enum es_tree_shape shape)
{
    if (found->keys[FAN_OUT].text && shape != ES_TREE_KARY && shape != ES_TREE_LEVELS)
        return esi_tree_fault(&reader->line, found->keys[FAN_OUT], "member",
                              "it only for the shapes kary and levels");
    if (found->keys[LEVELS].text && shape != ES_TREE_LEVELS)
        return esi_tree_fault(&reader->line, found->keys[LEVELS], "member",
                              "it only for the shape levels");
    if (found->keys[EDGES].text && shape != ES_TREE_EXPLICIT)
        return esi_tree_fault(&reader->line, found->keys[EDGES], "member",
                              "it only for the shape explicit");
    return 0;
}

static int read_value(const struct reader *reader,
                      enum member member,
                      struct esi_tree_word value,
                      struct es_tree_rule *rule)
{
    switch (member) {
    case SHAPE:
        return esi_tree_parse_shape(&reader->line, value, rule);
    case OPERATIONS:
        return esi_tree_parse_operations(&reader->line, value, rule);
    case COMMUNICATOR:
        return parse_text(reader, value, "communicator", rule->communicator,
                          sizeof rule->communicator);
    case BYTES:
        return esi_tree_parse_bytes(&reader->line, value, rule);
    case FAN_OUT:
        return esi_tree_parse_fan_out(&reader->line, value, rule);
    case LEVELS:
        return esi_tree_parse_levels(&reader->line, value, rule);
    case SEGMENT:
        return esi_tree_parse_segment(&reader->line, value, rule);
    case EDGES:
        return esi_tree_parse_edges(&reader->line, value, rule);
    }
    return -EINVAL;
}

static int read_members(struct reader *reader,
                        const struct found *found,
                        struct es_tree_rule *rule)
{
    struct esi_tree_word end = {.text = reader->rest};
    int code = 0;

    if (!found->keys[SHAPE].text)
        return esi_tree_fault(&reader->line, end, "end of line", "shape=SHAPE");
    for (size_t i = 0; i < MEMBER_COUNT && code == 0; i++) {
        if (found->keys[i].text)
            code = read_value(reader, (enum member)i, found->values[i], rule);
        if (i == SHAPE && code == 0)
            code = check_members(reader, found, rule->shape);
    }
    if (code == 0 && rule->shape == ES_TREE_EXPLICIT && !found->keys[EDGES].text)
        code =
            esi_tree_fault(&reader->line, end, "end of line", "edges=PARENT-CHILD,...");
    return code;
}

static int check_name_is_new(const struct reader *reader,
                             struct esi_tree_word word,
                             const struct es_tree_rules *rules)
{
    const struct es_tree_rule *last = &rules->rules[rules->count - 1];

    for (size_t i = 0; i + 1 < rules->count; i++)
        if (strcmp(rules->rules[i].name, last->name) == 0)
            return esi_tree_fault(&reader->line, word, "tree",
                                  "another name: there is one of it already");
    return 0;
}

static int parse_rule(struct reader *reader, struct es_tree_rules *rules)
{
    struct es_tree_rule *rule = &rules->rules[rules->count - 1];
    struct esi_tree_word name = next_word(reader);
    struct esi_tree_word word;
    struct found found = {.keys = {{.text = NULL}}};
    int code = parse_text(reader, name, "tree", rule->name, sizeof rule->name);

    if (code == 0)
        code = check_name_is_new(reader, name, rules);
    while (code == 0 && (word = next_word(reader)).length > 0)
        code = find_member(reader, word, &found);
    return code != 0 ? code : read_members(reader, &found, rule);
}

static int add_rule(struct reader *reader, struct es_tree_rules *rules)
{
    struct esi_tree_word line = {.text = reader->line.text, .length = 4};

    if (rules->count >= RULES_MOST)
        return esi_tree_fault(&reader->line, line, "rule", "at most 1024 of them");
    if (ESI_ARRAY_RESERVE(rules->rules, rules->capacity, rules->count + 1) < 0)
        return -ENOMEM;
    es_tree_rule_init(&rules->rules[rules->count++], ES_TREE_LIBRARY);
    return parse_rule(reader, rules);
}

/* --- Hosts ------------------------------------------------------------------------ */

static int parse_host_member(const struct reader *reader,
                             struct esi_tree_word word,
                             struct es_tree_host *host)
{
    struct esi_tree_word key, value;
    char *place;
    int code = split_member(reader, word, &key, &value);

    if (code != 0)
        return code;
    if (esi_tree_word_is(key, "cluster"))
        place = host->cluster;
    else if (esi_tree_word_is(key, "gateway"))
        place = host->gateway;
    else
        return esi_tree_fault(&reader->line, key, "member", "cluster or gateway");
    if (place[0] != '\0')
        return esi_tree_fault(&reader->line, key, "member", "each only once");
    return parse_text(reader, value, place == host->cluster ? "cluster" : "gateway",
                      place, sizeof host->cluster);
}

static int parse_host(struct reader *reader, struct es_tree_host *host)
{
    struct esi_tree_word word = next_word(reader);
    int code = parse_text(reader, word, "host", host->name, sizeof host->name);

    while (code == 0 && (word = next_word(reader)).length > 0)
        code = parse_host_member(reader, word, host);
    return code;
}

static int add_host(struct reader *reader,
                    struct esi_tree_word word,
                    struct es_tree_plan *plan)
{
    if (plan->rules.count > 0)
        return esi_tree_fault(&reader->line, word, "line",
                              "hosts only before the first tree");
    if (plan->host_count >= HOSTS_MOST)
        return esi_tree_fault(&reader->line, word, "line", "at most 65536 of them");
    if (ESI_ARRAY_RESERVE(plan->hosts, plan->host_capacity, plan->host_count + 1) < 0)
        return -ENOMEM;
    plan->hosts[plan->host_count] = (struct es_tree_host){.name = ""};
    return parse_host(reader, &plan->hosts[plan->host_count++]);
}

/* --- The whole -------------------------------------------------------------------- */

static int parse_header(struct reader *reader, const char **text)
{
    struct esi_tree_word word;

    if (!next_line(reader, text))
        return es_error_set_at(reader->line.error, -EINVAL, reader->line.source, 1, 1,
                               "empty: expected \"eventspace-trees 1\"");
    word = next_word(reader);
    if (!esi_tree_word_is(word, "eventspace-trees"))
        return esi_tree_fault(&reader->line, word, "first word",
                              "\"eventspace-trees 1\"");
    word = next_word(reader);
    if (!esi_tree_word_is(word, "1"))
        return esi_tree_fault(&reader->line, word, "version of the rules", "1");
    return 0;
}

/* 1 when the line was "end". */
static int parse_line(struct reader *reader, struct es_tree_plan *plan)
{
    struct esi_tree_word word = next_word(reader);

    if (word.length == 0 || word.text[0] == '#')
        return 0;
    if (esi_tree_word_is(word, "end"))
        return 1;
    if (esi_tree_word_is(word, "host"))
        return add_host(reader, word, plan);
    if (esi_tree_word_is(word, "tree"))
        return add_rule(reader, &plan->rules);
    return esi_tree_fault(&reader->line, word, "first word", "tree, host or end");
}

int es_tree_plan_parse(const char *text,
                       const char *source,
                       struct es_error *error,
                       struct es_tree_plan *ret_plan)
{
    struct reader reader = {.line = {.source = source, .error = error}};
    struct es_tree_plan plan = {.hosts = NULL};
    int code = parse_header(&reader, &text);

    while (code == 0 && next_line(&reader, &text))
        code = parse_line(&reader, &plan);
    if (code == 0)
        code = es_error_set_at(error, -EINVAL, source, reader.line.number, 1,
                               "the last line is missing: expected \"end\"");
    if (code < 0) {
        es_tree_plan_fini(&plan);
        return code;
    }
    *ret_plan = plan;
    return 0;
}
