/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Descriptions of predicates: the comments above them. */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "monitors/search/language/pattern_private.h"

/* A line of the text, without surrounding white space. */
struct comment_line {
    const char *begin;
    const char *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct comment_line trim_line(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    return (struct comment_line){begin, end};
}

/* Finds the line before the one that begins at `at`; false if that is the first. */
static bool line_above(const char *text, const char *at, struct comment_line *ret_line)
{
    const char *begin;

    if (at == text)
        return false;
    begin = at - 1;
    while (begin > text && begin[-1] != '\n')
        begin--;
    *ret_line = (struct comment_line){begin, at - 1};
    return true;
}

/* Whether the line is only a comment; if so, strips the comment sign. */
static bool take_comment(struct comment_line *line)
{
    struct comment_line words = trim_line(line->begin, line->end);
    size_t length = (size_t)(words.end - words.begin);

    if (length > 0 && *words.begin == '#')
        words.begin++;
    else if (length > 1 && strncmp(words.begin, "//", 2) == 0)
        words.begin += 2;
    else
        return false;
    *line = trim_line(words.begin, words.end);
    return true;
}

/* The beginning of the line that contains a place. */
static const char *line_of(const struct es_pattern_file *file,
                           struct esi_pattern_place place)
{
    const char *at = file->text;

    for (uint32_t line = 1; line < place.line; line++)
        at = strchr(at, '\n') + 1;
    return at;
}

/* Truncates to the first sentence, without its full stop. */
static void cut_sentence(char *text)
{
    char *at = strchr(text, '.');

    while (at && at[1] != '\0' && at[1] != ' ')
        at = strchr(at + 1, '.');
    if (at)
        *at = '\0';
}

/* Appends a line, or as much of it as fits. */
static void append_line(struct comment_line line, char *out, size_t size)
{
    size_t used = strlen(out);
    size_t length = (size_t)(line.end - line.begin);

    if (used > 0 && used + 1 < size && length > 0)
        out[used++] = ' ';
    if (length > size - used - 1)
        length = size - used - 1;
    while (length > 0 && line.begin + length < line.end &&
           ((unsigned char)line.begin[length] & 0xc0) == 0x80)
        length--; /* do not split a character */
    memcpy(out + used, line.begin, length);
    out[used + length] = '\0';
}

bool esi_pattern_comment(const struct es_pattern_file *file,
                         uint32_t predicate,
                         char *ret_text,
                         size_t size)
{
    struct esi_pattern_place place = esi_pattern_predicate(file, predicate)->place;
    const char *below = line_of(file, place), *first = below;
    struct comment_line line =
        trim_line(below, below + (place.column > 0 ? place.column - 1 : 0));

    *ret_text = '\0';
    if (line.begin < line.end) /* the predicate does not begin its line */
        return false;
    while (line_above(file->text, first, &line)) {
        const char *begin = line.begin;

        if (!take_comment(&line) || line.begin == line.end)
            break;
        first = begin;
    }
    for (const char *at = first; at < below; at = strchr(at, '\n') + 1) {
        line = (struct comment_line){at, strchr(at, '\n')};
        take_comment(&line);
        append_line(line, ret_text, size);
    }
    cut_sentence(ret_text);
    return *ret_text != '\0';
}
