/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Hostfiles of MPI launchers. */
#include "config.h"

#include "pathmap/hostfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "pathmap/file.h"
#include "pathmap/map.h"

struct hostfile_parser {
    struct esi_hostfile *hostfile;
    const char *source;
    struct es_error *error;
    const char *line; /* its first byte */
    int number;
};

struct word {
    const char *text;
    size_t length;
};

static int hostfile_fail(const struct hostfile_parser *parser,
                         const struct word *at,
                         const char *expected)
{
    return es_error_set_at(
        parser->error, -EINVAL, parser->source, parser->number,
        (int)(at->text - parser->line) + 1, "found '%.*s', expected %s",
        (int)(at->length < 60 ? at->length : 60), at->text, expected);
}

static struct word next_word(const char *from)
{
    from += strspn(from, " \t\r");
    return (struct word){from, *from == '#' ? 0 : strcspn(from, " \t\r\n#")};
}

static int parse_slots(const struct hostfile_parser *parser,
                       const struct word *word,
                       int *ret_slots)
{
    int slots = 0;

    for (size_t i = 0; i < word->length && slots <= ESI_MAX_RANKS; i++) {
        char c = word->text[i];
        if (c < '0' || c > '9')
            return hostfile_fail(parser, word, "a number of slots");
        slots = slots * 10 + (c - '0');
    }
    if (slots < 1 || slots > ESI_MAX_RANKS)
        return hostfile_fail(parser, word, "1 to 1048576 slots");
    *ret_slots = slots;
    return 0;
}

static bool is_name(const struct word *word)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.-:";

    return word->length > 0 && word->length < 64 &&
           strspn(word->text, allowed) >= word->length;
}

static int hostfile_add(struct esi_hostfile *hostfile,
                        const struct word *name,
                        int slots)
{
    for (size_t i = 0; i < hostfile->count; i++) {
        struct esi_hostfile_line *host = &hostfile->hosts[i];
        if (strlen(host->name) != name->length ||
            memcmp(host->name, name->text, name->length) != 0)
            continue;
        host->slots += slots;
        return host->slots <= ESI_MAX_RANKS ? 0 : -ERANGE;
    }
    if (ESI_ARRAY_RESERVE(hostfile->hosts, hostfile->capacity, hostfile->count + 1) < 0)
        return -ENOMEM;
    char *copy = strndup(name->text, name->length);
    if (copy == NULL)
        return -ENOMEM;
    hostfile->hosts[hostfile->count++] = (struct esi_hostfile_line){copy, slots};
    return 0;
}

/* Removes ":4" from the name; two colons indicate an IPv6 address. */
static struct word cut_count(struct word *name)
{
    const char *colon = memchr(name->text, ':', name->length);
    struct word count = {0};

    if (colon == NULL || memrchr(name->text, ':', name->length) != colon)
        return count;
    count.text = colon + 1;
    count.length = (size_t)(name->text + name->length - count.text);
    name->length = (size_t)(colon - name->text);
    return count;
}

static bool hostfile_begins(const struct word *word, const char *key)
{
    return word->length >= strlen(key) && memcmp(word->text, key, strlen(key)) == 0;
}

static int parse_option(const struct hostfile_parser *parser,
                        const struct word *word,
                        int *slots)
{
    static const char *const skipped[] = {
        "max_slots=", "max-slots=", "binding=", "user="};

    if (hostfile_begins(word, "slots=")) {
        struct word value = {word->text + 6, word->length - 6};
        return parse_slots(parser, &value, slots);
    }
    for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
        if (hostfile_begins(word, skipped[i]))
            return 0;
    return hostfile_fail(parser, word, "'slots=N' or the next line");
}

static int parse_line(const struct hostfile_parser *parser)
{
    struct word name = next_word(parser->line);
    const char *rest = name.text + name.length;
    int slots = 1;

    if (name.length == 0)
        return 0;
    struct word count = cut_count(&name);
    if (!is_name(&name))
        return hostfile_fail(parser, &name, "a host's name");
    int code = count.text != NULL ? parse_slots(parser, &count, &slots) : 0;
    for (struct word word = next_word(rest); word.length > 0 && code == 0;
         word = next_word(word.text + word.length))
        code = parse_option(parser, &word, &slots);
    if (code < 0)
        return code;
    code = hostfile_add(parser->hostfile, &name, slots);
    if (code == -ERANGE)
        return hostfile_fail(parser, &name, "at most 1048576 slots in all");
    return code;
}

int esi_hostfile_parse(const char *text,
                       const char *source,
                       struct es_error *error,
                       struct esi_hostfile *ret_hostfile)
{
    struct esi_hostfile hostfile = {0};
    struct hostfile_parser parser = {&hostfile, source, error, text, 1};
    int code = 0;

    while (code == 0) {
        code = parse_line(&parser);
        parser.line = strchr(parser.line, '\n');
        if (parser.line == NULL)
            break;
        parser.line++;
        parser.number++;
    }
    if (code == 0 && hostfile.count == 0)
        code = es_error_set_at(error, -ENODATA, source, 0, 0,
                               "found no host, expected one on a line");
    if (code < 0) {
        esi_hostfile_fini(&hostfile);
        return code;
    }
    *ret_hostfile = hostfile;
    return 0;
}

int esi_hostfile_load(const char *path,
                      struct es_error *error,
                      struct esi_hostfile *ret_hostfile)
{
    char *text;
    size_t length;
    int code = esi_file_read(path, error, &text, &length);

    if (code < 0)
        return code;
    code = esi_input_check(text, length, path, error);
    if (code == 0)
        code = esi_hostfile_parse(text, path, error, ret_hostfile);
    free(text);
    return code;
}

void esi_hostfile_fini(struct esi_hostfile *hostfile)
{
    for (size_t i = 0; i < hostfile->count; i++)
        free(hostfile->hosts[i].name);
    free(hostfile->hosts);
    *hostfile = (struct esi_hostfile){0};
}
