/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Strings, numbers and names in pattern files. */
#include "config.h"

#include <errno.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "monitors/search/language/pattern_parse_private.h"
#include "monitors/search/language/pattern_regex.h"

static struct esi_pattern_place place_in(const struct esi_token *token, size_t offset)
{
    return (struct esi_pattern_place){token->place.line,
                                      token->place.column + (uint32_t)offset};
}

/* --- Strings ---------------------------------------------------------------------- */

/* The character of an escape; 0 if there is no such escape. */
static char escaped_character(char c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case '"':
    case '\\':
    case '*':
        return c;
    default:
        return '\0';
    }
}

static int check_escapes(struct esi_parser *parser, const struct esi_token *token)
{
    for (size_t i = 1; i + 1 < token->length; i++) {
        if (token->text[i] != '\\')
            continue;
        if (escaped_character(token->text[i + 1]) == '\0')
            return esi_fault(
                parser, place_in(token, i),
                "there is no such escape, expected \\\" \\\\ \\t \\n or \\*");
        i++;
    }
    return 0;
}

/* Decodes up to the next wildcard or the end of the string, and returns the
 * position. */
static size_t decode_piece(const struct esi_token *token, size_t from, char *out)
{
    size_t i = from;

    while (i + 1 < token->length && token->text[i] != '*') {
        if (token->text[i] == '\\')
            *out++ = escaped_character(token->text[++i]);
        else
            *out++ = token->text[i];
        i++;
    }
    *out = '\0';
    return i;
}

static size_t count_pieces(const struct esi_token *token)
{
    size_t pieces = 1;

    for (size_t i = 1; i + 1 < token->length; i++) {
        pieces += token->text[i] == '*';
        i += token->text[i] == '\\';
    }
    return pieces;
}

/* Adjacent wildcards count as one. */
static size_t skip_wildcards(const struct esi_token *token, size_t at)
{
    while (token->text[at] == '*')
        at++;
    return at;
}

int esi_parse_glob(struct esi_parser *parser, struct esi_glob *ret_glob)
{
    struct esi_token token = parser->token;
    size_t count = count_pieces(&token);
    const char **pieces;
    char *room;
    size_t at = 1;

    if (check_escapes(parser, &token) < 0)
        return -EINVAL;
    pieces = esi_arena_alloc(&parser->file->memory, count * sizeof *pieces);
    room = esi_arena_alloc(&parser->file->memory, token.length + count);
    if (!pieces || !room)
        return -ENOMEM;
    count = 0;
    while (token.length > 2) {
        pieces[count++] = room;
        at = decode_piece(&token, at, room);
        room += strlen(room) + 1;
        if (token.text[at] != '*')
            break;
        at = skip_wildcards(&token, at);
    }
    ret_glob->pieces = pieces;
    ret_glob->count = count;
    return esi_advance(parser);
}

static size_t glob_length(const struct esi_glob *glob)
{
    size_t length = glob->count;

    for (size_t i = 0; i < glob->count; i++)
        length += strlen(glob->pieces[i]);
    return length;
}

int esi_glob_text(struct esi_parser *parser,
                  const struct esi_glob *glob,
                  const char **ret_text)
{
    char *text = esi_arena_alloc(&parser->file->memory, glob_length(glob) + 1);
    char *at = text;

    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < glob->count; i++) {
        if (i > 0)
            *at++ = '*';
        at = stpcpy(at, glob->pieces[i]);
    }
    *ret_text = text;
    return 0;
}

/* Quotes one piece, so that each character stands for itself. */
static char *quote_character(char *out, const char *piece)
{
    for (; *piece; piece++) {
        bool is_plain = (*piece >= '0' && *piece <= '9') ||
                        (*piece >= 'a' && *piece <= 'z') ||
                        (*piece >= 'A' && *piece <= 'Z') || (unsigned char)*piece > 127;

        if (!is_plain)
            *out++ = '\\';
        *out++ = *piece == '\n' ? 'n' : *piece == '\t' ? 't' : *piece;
    }
    *out = '\0';
    return out;
}

int esi_glob_regex(struct esi_parser *parser,
                   const struct esi_glob *glob,
                   const char **ret_expression)
{
    static const char begin[] = "(?s)\\A";
    static const char end[] = "\\z";
    char *text = esi_arena_alloc(&parser->file->memory,
                                 sizeof begin + 2 * glob_length(glob) + sizeof end);
    char *at = text;

    if (!text)
        return -ENOMEM;
    at = stpcpy(at, begin);
    for (size_t i = 0; i < glob->count; i++) {
        if (i > 0)
            at = stpcpy(at, ".*");
        at = quote_character(at, glob->pieces[i]);
    }
    stpcpy(at, end);
    *ret_expression = text;
    return 0;
}

/* The escapes of strings mean the same in regular expressions, so the text is not
 * decoded. */
int esi_parse_regex(struct esi_parser *parser, const char **ret_expression)
{
    struct esi_token token = parser->token;
    char words[ESI_REGEX_WORDS];
    pcre2_code *compiled;
    size_t offset;
    char *text;
    int code;

    text = esi_arena_text(&parser->file->memory, token.text + 1, token.length - 2);
    if (!text)
        return -ENOMEM;
    code = esi_regex_compile(text, &compiled, &offset, words);
    if (code == -EINVAL)
        return esi_fault(parser, place_in(&token, 1 + offset),
                         "the regular expression is wrong: %s", words);
    if (code < 0)
        return code;
    pcre2_code_free(compiled);
    *ret_expression = text;
    return esi_advance(parser);
}

/* --- Numbers ---------------------------------------------------------------------- */

struct unit {
    const char *name;
    bool is_time;
    uint64_t factor;
};

static const struct unit units_known[] = {
    {"ns", true, 1},
    {"us", true, 1000},
    {"ms", true, 1000 * 1000},
    {"s", true, 1000 * 1000 * 1000},
    {"min", true, UINT64_C(60) * 1000 * 1000 * 1000},
    {"B", false, 1},
    {"KiB", false, 1 << 10},
    {"MiB", false, 1 << 20},
    {"GiB", false, 1 << 30},
    {"kB", false, 1000},
    {"MB", false, 1000 * 1000},
    {"GB", false, 1000 * 1000 * 1000},
};

/* NULL if there is none. */
static const struct unit *find_unit(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof units_known / sizeof units_known[0]; i++) {
        const char *name = units_known[i].name;

        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return &units_known[i];
    }
    return NULL;
}

/* A number as it was written. */
struct digits {
    bool is_negative;
    uint64_t whole;
    uint64_t fraction;
    uint64_t scale; /* of the fraction: 10, 100, ... */
    size_t length;  /* position of an adjacent unit */
};

static int add_digit(uint64_t *number, char digit)
{
    return __builtin_mul_overflow(*number, UINT64_C(10), number) ||
                   __builtin_add_overflow(*number, (uint64_t)(digit - '0'), number)
               ? -EOVERFLOW
               : 0;
}

static bool is_digit_at(const struct esi_token *token, size_t at)
{
    return at < token->length && token->text[at] >= '0' && token->text[at] <= '9';
}

static int read_digits(const struct esi_token *token, struct digits *ret_digits)
{
    struct digits digits = {.is_negative = token->text[0] == '-', .scale = 1};
    size_t at = digits.is_negative;
    int code = 0;

    for (; code == 0 && is_digit_at(token, at); at++)
        code = add_digit(&digits.whole, token->text[at]);
    if (code == 0 && at < token->length && token->text[at] == '.') {
        for (at++; code == 0 && is_digit_at(token, at); at++) {
            code = add_digit(&digits.fraction, token->text[at]);
            if (code == 0 && __builtin_mul_overflow(digits.scale, 10, &digits.scale))
                code = -EOVERFLOW;
        }
    }
    digits.length = at;
    *ret_digits = digits;
    return code;
}

/* The unit adjacent to the number, or the next token if it is a unit. */
static int parse_unit(struct esi_parser *parser,
                      const struct esi_token *number,
                      size_t length,
                      const struct unit **ret_unit)
{
    struct esi_token written = {ESI_TOKEN_ID, number->text + length,
                                number->length - length, place_in(number, length)};
    char words[ESI_TOKEN_WORDS];

    *ret_unit = NULL;
    if (written.length == 0 && parser->token.kind == ESI_TOKEN_ID) {
        written = parser->token;
        if (esi_advance(parser) < 0)
            return -EINVAL;
    }
    if (written.length == 0)
        return 0;
    *ret_unit = find_unit(written.text, written.length);
    return *ret_unit ? 0
                     : esi_fault(parser, written.place,
                                 "%s is not a unit, expected ns, us, ms, s, min, B, "
                                 "KiB, MiB, GiB, kB, MB or GB",
                                 esi_token_words(&written, words));
}

/* Multiplies exactly, without rounding. */
static int multiply_digits(const struct digits *digits,
                           uint64_t factor,
                           int64_t *ret_number)
{
    uint64_t whole;
    uint64_t fraction;

    if (__builtin_mul_overflow(digits->whole, factor, &whole) ||
        __builtin_mul_overflow(digits->fraction, factor, &fraction) ||
        __builtin_add_overflow(whole, fraction / digits->scale, &whole) ||
        whole > INT64_MAX)
        return -EOVERFLOW;
    *ret_number = digits->is_negative ? -(int64_t)whole : (int64_t)whole;
    return fraction % digits->scale == 0 ? 0 : -ERANGE;
}

static int check_units(struct esi_parser *parser,
                       const struct esi_token *token,
                       enum esi_units units,
                       const struct unit *unit)
{
    if (units == ESI_UNITS_TIME && (!unit || !unit->is_time))
        return esi_fault(parser, token->place,
                         "a time needs its unit, expected a number with ns, us, ms, s "
                         "or min");
    if (units != ESI_UNITS_ANY && token->text[0] == '-')
        return esi_fault(parser, token->place,
                         "the number is negative, expected 0 or more");
    return 0;
}

static int refuse_number(struct esi_parser *parser,
                         const struct esi_token *token,
                         const struct unit *unit,
                         int fault)
{
    char words[ESI_TOKEN_WORDS];

    esi_token_words(token, words);
    if (fault == -EOVERFLOW)
        return esi_fault(parser, token->place,
                         "%s is out of range, expected up to 2^63 - 1%s", words,
                         !unit           ? ""
                         : unit->is_time ? " nanoseconds"
                                         : " bytes");
    return esi_fault(parser, token->place, "found %s, expected a whole number%s", words,
                     !unit           ? ""
                     : unit->is_time ? " of nanoseconds"
                                     : " of bytes");
}

int esi_parse_number(struct esi_parser *parser,
                     enum esi_units units,
                     int64_t *ret_number)
{
    struct esi_token token = parser->token;
    const struct unit *unit = NULL;
    struct digits digits;
    int fault;
    int code;

    if (token.kind != ESI_TOKEN_NUMBER)
        return esi_unexpected(parser, units == ESI_UNITS_TIME ? "a time such as 5ms"
                                                              : "a number");
    code = esi_advance(parser);
    fault = read_digits(&token, &digits);
    if (code == 0 && fault == 0 && units == ESI_UNITS_COUNT &&
        digits.length < token.length)
        return esi_fault(parser, place_in(&token, digits.length),
                         "a count has no unit, expected 'of'");
    if (code == 0 && fault == 0 && units != ESI_UNITS_COUNT)
        code = parse_unit(parser, &token, digits.length, &unit);
    if (code == 0)
        code = check_units(parser, &token, units, unit);
    if (code < 0)
        return code;
    if (fault == 0)
        fault = multiply_digits(&digits, unit ? unit->factor : 1, ret_number);
    return fault == 0 ? 0 : refuse_number(parser, &token, unit, fault);
}

/* --- Names ------------------------------------------------------------------------ */

int esi_parse_name(struct esi_parser *parser, const char **ret_name)
{
    struct esi_token token = parser->token;
    struct esi_glob glob;
    int code;

    if (token.kind == ESI_TOKEN_ID) {
        *ret_name = esi_arena_text(&parser->file->memory, token.text, token.length);
        return *ret_name ? esi_advance(parser) : -ENOMEM;
    }
    if (token.kind != ESI_TOKEN_STRING)
        return esi_unexpected(parser, "the name of an attribute");
    if (token.length == 2)
        return esi_fault(parser, token.place,
                         "the name of an attribute is empty, expected letters");
    code = esi_parse_glob(parser, &glob);
    return code < 0 ? code : esi_glob_text(parser, &glob, ret_name);
}

int esi_resolve_field(struct esi_parser *parser,
                      const char *name,
                      enum esi_pattern_field *ret_field,
                      uint32_t *ret_attribute)
{
    for (unsigned i = 0; i < ES_FIELD_ATTRIBUTE; i++) {
        enum esi_pattern_field field = (enum esi_pattern_field)i;

        if (strcmp(name, esi_pattern_field_name(parser->file, field, 0)) == 0) {
            *ret_field = field;
            *ret_attribute = ES_PATTERN_NONE;
            return 0;
        }
    }
    *ret_field = ES_FIELD_ATTRIBUTE;
    return esi_pattern_add_attribute(parser->file, name, ret_attribute);
}

/* --- Comparisons ------------------------------------------------------------------ */

bool esi_is_comparison(enum esi_token_kind kind)
{
    return kind >= ESI_TOKEN_EQUAL && kind <= ESI_TOKEN_NOT_MATCH;
}

int esi_parse_comparison(struct esi_parser *parser,
                         struct esi_comparison *ret_comparison)
{
    static const struct esi_comparison comparisons[] = {
        [ESI_TOKEN_EQUAL - ESI_TOKEN_EQUAL] = {ES_TEST_GLOB, false},
        [ESI_TOKEN_NOT_EQUAL - ESI_TOKEN_EQUAL] = {ES_TEST_GLOB, true},
        [ESI_TOKEN_LESS - ESI_TOKEN_EQUAL] = {ES_TEST_LESS, false},
        [ESI_TOKEN_LESS_EQUAL - ESI_TOKEN_EQUAL] = {ES_TEST_LESS_EQUAL, false},
        [ESI_TOKEN_GREATER - ESI_TOKEN_EQUAL] = {ES_TEST_GREATER, false},
        [ESI_TOKEN_GREATER_EQUAL - ESI_TOKEN_EQUAL] = {ES_TEST_GREATER_EQUAL, false},
        [ESI_TOKEN_MATCH - ESI_TOKEN_EQUAL] = {ES_TEST_REGEX, false},
        [ESI_TOKEN_NOT_MATCH - ESI_TOKEN_EQUAL] = {ES_TEST_REGEX, true},
    };

    if (!esi_is_comparison(parser->token.kind))
        return esi_unexpected(parser, "= != < <= > >= =~ or !~");
    *ret_comparison = comparisons[parser->token.kind - ESI_TOKEN_EQUAL];
    return esi_advance(parser);
}
