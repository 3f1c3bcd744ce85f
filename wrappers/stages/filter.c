/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* filter.c - conditions on tuples, and the stage that passes tuples that satisfy
 * one. */
#include "config.h"

#include "wrappers/stages/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "eventspace/operation.h"
#include "tuplespace/error_classes.h"
#include "wrappers/stages/stage.h"

enum { MAX_DEPTH = 64, MAX_NODES = 1024, MAX_WORD = 128 };

enum field {
    FIELD_OPERATION,
    FIELD_CLASS,
    FIELD_FAILED,
    FIELD_COMMUNICATOR,
    FIELD_PEER,
    FIELD_TAG,
    FIELD_BYTES,
    FIELD_SEQUENCE,
    FIELD_DURATION,
    FIELD_RANK,
    FIELD_THREAD,
    FIELD_COUNT,
};

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_OPERATION] = "operation", [FIELD_CLASS] = "class",
    [FIELD_FAILED] = "failed",       [FIELD_COMMUNICATOR] = "communicator",
    [FIELD_PEER] = "peer",           [FIELD_TAG] = "tag",
    [FIELD_BYTES] = "bytes",         [FIELD_SEQUENCE] = "sequence",
    [FIELD_DURATION] = "duration",   [FIELD_RANK] = "rank",
    [FIELD_THREAD] = "thread",
};

/* Results of a comparison; an operator is a set of them. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

/* Longer operators precede their prefixes. */
static const struct {
    const char *sign;
    unsigned orders;
} comparisons[] = {
    {"==", EQUAL},        {"!=", LESS | GREATER},
    {"<=", LESS | EQUAL}, {">=", GREATER | EQUAL},
    {"<", LESS},          {">", GREATER},
};

enum node_kind { NODE_AND, NODE_OR, NODE_NOT, NODE_COMPARE };

struct filter_node {
    enum node_kind kind;
    int left; /* AND, OR, NOT: index of the operand */
    int right;
    enum field field; /* COMPARE, like the following */
    unsigned orders;  /* results for which it is true */
    int64_t number;
    char *name; /* communicators by name; owned */
};

struct esi_filter {
    struct filter_node *nodes;
    int count;
    int root;
};

struct filter_parser {
    const char *text;
    const char *at;
    int line;
    int column; /* of the first character of the text */
    int depth;
    struct esi_filter *filter;
    struct es_error *error;
};

/* --- Words ------------------------------------------------------------------------ */

static void skip_space(struct filter_parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static int column_of(const struct filter_parser *parser, const char *at)
{
    return parser->column + (int)(at - parser->text);
}

static int fail_at(const struct filter_parser *parser,
                   const char *at,
                   const char *message)
{
    return es_error_set_at(parser->error, -EINVAL, "filter", parser->line,
                           column_of(parser, at), "%s%s%.20s%s", message,
                           *at ? ", found '" : ", found the end", at, *at ? "'" : "");
}

static bool take_sign(struct filter_parser *parser, const char *sign)
{
    size_t length = strlen(sign);

    skip_space(parser);
    if (strncmp(parser->at, sign, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == ':';
}

/* Reads a word or a quoted text.  Returns -EINVAL if there is none. */
static int take_word(struct filter_parser *parser,
                     char out[MAX_WORD],
                     const char *expected)
{
    const char *from;
    size_t length = 0;
    bool quoted;

    skip_space(parser);
    from = parser->at;
    quoted = *from == '"';
    if (quoted)
        from++;
    while (from[length] &&
           (quoted ? from[length] != '"' : is_word_character(from[length])))
        length++;
    if (length == 0 || length >= MAX_WORD)
        return fail_at(parser, parser->at, expected);
    if (quoted && from[length] != '"')
        return fail_at(parser, parser->at, "a quote is not closed");
    memcpy(out, from, length);
    out[length] = '\0';
    parser->at = from + length + (quoted ? 1 : 0);
    return 0;
}

/* --- Values ----------------------------------------------------------------------- */

static int refuse_name(const struct filter_parser *parser,
                       const char *at,
                       const char *what,
                       const struct esi_nearest *nearest)
{
    return es_error_set_at(parser->error, -EINVAL, "filter", parser->line,
                           column_of(parser, at),
                           nearest->name ? "there is no %s '%.60s': did you mean '%s'?"
                                         : "there is no %s '%.60s'%s",
                           what, nearest->wanted, nearest->name ? nearest->name : "");
}

/* A name without "MPI_" is compared without it. */
static void try_operation(struct esi_nearest *nearest, const char *name)
{
    bool in_short =
        strncasecmp(nearest->wanted, "MPI_", 4) != 0 && strncmp(name, "MPI_", 4) == 0;

    esi_nearest_try(nearest, in_short ? name + 4 : name);
}

static int operation_value(struct filter_parser *parser, struct filter_node *node)
{
    const struct es_operation *operation;
    struct esi_nearest nearest;
    const char *at = parser->at;
    char word[MAX_WORD];
    int result = take_word(parser, word, "expected the name of an operation");

    if (result < 0)
        return result;
    operation = es_operation_by_name(word);
    if (operation) {
        node->number = operation->code;
        return 0;
    }
    esi_nearest_init(&nearest, word);
    for (uint16_t code = 1; code < 4096; code++)
        if ((operation = es_operation_find(code)) != NULL)
            try_operation(&nearest, operation->name);
    return refuse_name(parser, at, "operation", &nearest);
}

static int class_value(struct filter_parser *parser, struct filter_node *node)
{
    struct esi_nearest nearest;
    const char *at = parser->at;
    char word[MAX_WORD];
    int result = take_word(parser, word, "expected the name of a class");

    if (result < 0)
        return result;
    node->number = es_class_by_name(word);
    if (node->number != ES_CLASS_NONE)
        return 0;
    esi_nearest_init(&nearest, word);
    for (int i = ES_CLASS_NONE + 1; i < ES_CLASS_COUNT; i++)
        esi_nearest_try(&nearest, es_class_name((enum es_class)i));
    return refuse_name(parser, at, "class", &nearest);
}

static int error_value(struct filter_parser *parser, struct filter_node *node)
{
    struct esi_nearest nearest;
    const char *at = parser->at;
    char word[MAX_WORD];
    int result = take_word(parser, word, "expected the class of an error, or none");

    if (result < 0 || strcmp(word, "none") == 0)
        return result;
    esi_nearest_init(&nearest, word);
    for (uint32_t i = 1; i <= ESI_ERROR_COUNT; i++) {
        if (strcmp(word, es_error_name(i)) == 0) {
            node->number = i;
            return 0;
        }
        esi_nearest_try(&nearest, es_error_name(i));
    }
    return refuse_name(parser, at, "class of errors", &nearest);
}

/* Reads an integer; *parser->at is a digit or a minus. */
static int take_number(struct filter_parser *parser, int64_t *ret_number)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(parser->at, &end, 10);
    if (errno || end == parser->at || is_word_character(*end))
        return fail_at(parser, parser->at, "expected a whole number");
    parser->at = end;
    *ret_number = number;
    return 0;
}

static int communicator_value(struct filter_parser *parser, struct filter_node *node)
{
    char word[MAX_WORD];
    int result;

    if (isdigit((unsigned char)*parser->at))
        return take_number(parser, &node->number);
    result =
        take_word(parser, word, "expected the name or the index of a communicator");
    if (result < 0)
        return result;
    node->name = strdup(word);
    return node->name ? 0 : -ENOMEM;
}

static int duration_value(struct filter_parser *parser, struct filter_node *node)
{
    const char *at = parser->at;
    char word[MAX_WORD];
    uint64_t duration_ns;
    int result = take_word(parser, word, "expected a time such as 10ms");

    if (result < 0)
        return result;
    if (es_duration_parse(word, &duration_ns) < 0 || duration_ns > INT64_MAX)
        return fail_at(parser, at, "expected a time with ns, us, ms, s, min or h");
    node->number = (int64_t)duration_ns;
    return 0;
}

static int bytes_value(struct filter_parser *parser, struct filter_node *node)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    const char *at = parser->at;
    char *end;
    long long number;

    errno = 0;
    number = strtoll(at, &end, 10);
    if (errno || end == at || number < 0 || number > UINT32_MAX)
        return fail_at(parser, at, "expected a number of bytes");
    for (int i = 0; i < 3; i++) {
        if (strncmp(end, units[i], 3) != 0)
            continue;
        number <<= 10 * (i + 1);
        end += 3;
        break;
    }
    if (is_word_character(*end))
        return fail_at(parser, at, "expected bytes, or KiB, MiB or GiB");
    parser->at = end;
    node->number = number;
    return 0;
}

/* peer and tag have the same words for the same values. */
static int partner_value(struct filter_parser *parser, struct filter_node *node)
{
    const char *at = parser->at;
    char word[MAX_WORD];
    int result;

    if (*at == '-' || isdigit((unsigned char)*at))
        return take_number(parser, &node->number);
    result = take_word(parser, word, "expected a number, any or none");
    if (result < 0)
        return result;
    if (strcmp(word, "any") == 0)
        node->number = ES_PEER_ANY;
    else if (strcmp(word, "none") == 0)
        node->number = ES_PEER_NONE;
    else
        return fail_at(parser, at, "expected a number, any or none");
    return 0;
}

_Static_assert(ES_TAG_ANY == ES_PEER_ANY, "peer and tag share their words");

static int take_value(struct filter_parser *parser, struct filter_node *node)
{
    skip_space(parser);
    switch (node->field) {
    case FIELD_OPERATION:
        return operation_value(parser, node);
    case FIELD_CLASS:
        return class_value(parser, node);
    case FIELD_FAILED:
        return error_value(parser, node);
    case FIELD_COMMUNICATOR:
        return communicator_value(parser, node);
    case FIELD_PEER:
    case FIELD_TAG:
        return partner_value(parser, node);
    case FIELD_BYTES:
        return bytes_value(parser, node);
    case FIELD_DURATION:
        return duration_value(parser, node);
    default:
        return take_number(parser, &node->number);
    }
}

/* --- Expressions ------------------------------------------------------------------ */

/* Returns the index of a new node, or -errno. */
static int add_node(struct filter_parser *parser, const struct filter_node *node)
{
    struct esi_filter *filter = parser->filter;

    if (filter->count == MAX_NODES)
        return fail_at(parser, parser->at, "the expression is too long");
    filter->nodes[filter->count] = *node;
    return filter->count++;
}

static int parse_field(struct filter_parser *parser, enum field *ret_field)
{
    struct esi_nearest nearest;
    const char *at;
    char word[MAX_WORD];
    int result;

    skip_space(parser);
    at = parser->at;
    result = take_word(parser, word, "expected a field, '!' or '('");
    if (result < 0)
        return result;
    esi_nearest_init(&nearest, word);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(word, field_names[i]) == 0) {
            *ret_field = (enum field)i;
            return 0;
        }
        esi_nearest_try(&nearest, field_names[i]);
    }
    return refuse_name(parser, at, "field", &nearest);
}

static int parse_sign(struct filter_parser *parser, struct filter_node *node)
{
    const char *at;

    skip_space(parser);
    at = parser->at;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (!take_sign(parser, comparisons[i].sign))
            continue;
        node->orders = comparisons[i].orders;
        if (node->field <= FIELD_COMMUNICATOR && node->orders != EQUAL &&
            node->orders != (LESS | GREATER))
            return fail_at(parser, at, "names can only be compared with == and !=");
        return 0;
    }
    return fail_at(parser, at, "expected ==, !=, <, <=, > or >=");
}

static int parse_comparison(struct filter_parser *parser)
{
    struct filter_node node = {.kind = NODE_COMPARE};
    int result = parse_field(parser, &node.field);

    if (result == 0)
        result = parse_sign(parser, &node);
    if (result == 0)
        result = take_value(parser, &node);
    if (result == 0)
        result = add_node(parser, &node);
    if (result < 0)
        free(node.name);
    return result;
}

static int parse_expression(struct filter_parser *parser);

static int parse_negation(struct filter_parser *parser);

static int parse_term(struct filter_parser *parser)
{
    int result;

    if (parser->depth == MAX_DEPTH)
        return fail_at(parser, parser->at, "too many parentheses or negations");
    parser->depth++;
    if (take_sign(parser, "!")) {
        result = parse_negation(parser);
    } else if (take_sign(parser, "(")) {
        result = parse_expression(parser);
        if (result >= 0 && !take_sign(parser, ")"))
            result = fail_at(parser, parser->at, "expected ')', '&&' or '||'");
    } else {
        result = parse_comparison(parser);
    }
    parser->depth--;
    return result;
}

static int parse_negation(struct filter_parser *parser)
{
    struct filter_node node = {.kind = NODE_NOT, .left = parse_term(parser)};

    return node.left < 0 ? node.left : add_node(parser, &node);
}

/* Parses operands separated by one operator, left-associative. */
static int parse_chain(struct filter_parser *parser,
                       const char *sign,
                       enum node_kind kind,
                       int (*parse_operand)(struct filter_parser *))
{
    int left = parse_operand(parser);

    while (left >= 0 && take_sign(parser, sign)) {
        struct filter_node node = {
            .kind = kind, .left = left, .right = parse_operand(parser)};

        left = node.right < 0 ? node.right : add_node(parser, &node);
    }
    return left;
}

static int parse_conjunction(struct filter_parser *parser)
{
    return parse_chain(parser, "&&", NODE_AND, parse_term);
}

static int parse_expression(struct filter_parser *parser)
{
    return parse_chain(parser, "||", NODE_OR, parse_conjunction);
}

int esi_filter_create(const char *text,
                      int line,
                      int column,
                      struct es_error *error,
                      struct esi_filter **ret_filter)
{
    struct filter_parser parser = {.text = text,
                                   .at = text,
                                   .line = line,
                                   .column = column > 0 ? column : 1,
                                   .error = error};
    int root = -ENOMEM;

    parser.filter = calloc(1, sizeof *parser.filter);
    if (!parser.filter)
        return -ENOMEM;
    parser.filter->nodes = calloc(MAX_NODES, sizeof *parser.filter->nodes);
    if (parser.filter->nodes)
        root = parse_expression(&parser);
    skip_space(&parser);
    if (root >= 0 && *parser.at)
        root = fail_at(&parser, parser.at, "expected '&&', '||' or the end");
    if (root < 0) {
        esi_filter_destroy(parser.filter);
        return root;
    }
    parser.filter->root = root;
    *ret_filter = parser.filter;
    return 0;
}

void esi_filter_destroy(struct esi_filter *filter)
{
    if (!filter)
        return;
    for (int i = 0; i < filter->count; i++)
        free(filter->nodes[i].name);
    free(filter->nodes);
    free(filter);
}

/* --- Evaluating ------------------------------------------------------------------- */

static int64_t duration_of(const struct esi_filter_event *event)
{
    const struct es_tuple *tuple = event->tuple;
    const struct es_clock *clock = event->origin->clock;
    uint64_t length_ns;

    if (tuple->stop) {
        length_ns = es_clock_span_ns(clock, tuple->stop - tuple->start);
    } else {
        uint64_t start_ns = es_origin_run_ns(event->origin, tuple->start, NULL);

        length_ns = event->realtime_ns > start_ns ? event->realtime_ns - start_ns : 0;
    }
    return length_ns > INT64_MAX ? INT64_MAX : (int64_t)length_ns;
}

static int64_t value_of(const struct esi_filter_event *event, enum field field)
{
    const struct es_tuple *tuple = event->tuple;
    const struct es_operation *operation;

    switch (field) {
    case FIELD_OPERATION:
        return es_tuple_operation(tuple);
    case FIELD_CLASS:
        operation = es_operation_find(tuple->operation);
        return operation ? operation->op_class : ES_CLASS_NONE;
    case FIELD_FAILED:
        return es_tuple_error(tuple);
    case FIELD_COMMUNICATOR:
        return tuple->communicator;
    case FIELD_PEER:
        return tuple->peer;
    case FIELD_TAG:
        return tuple->tag;
    case FIELD_BYTES:
        return es_tuple_bytes(tuple);
    case FIELD_SEQUENCE:
        return tuple->sequence;
    case FIELD_DURATION:
        return duration_of(event);
    case FIELD_RANK:
        return event->origin->rank;
    case FIELD_THREAD:
        return event->origin->thread;
    case FIELD_COUNT:
        break;
    }
    return 0;
}

/* Compares the event's value with the node's; a different name is greater. */
static unsigned order_of_event(const struct filter_node *node,
                               const struct esi_filter_event *event)
{
    const struct es_stage_context *context = event->context;
    int64_t value;

    if (node->name) {
        char name[64];

        es_stage_communicator_name(context, event->origin_index,
                                   event->tuple->communicator, name);
        return strcmp(name, node->name) == 0 ? EQUAL : GREATER;
    }
    value = value_of(event, node->field);
    return value < node->number ? LESS : value > node->number ? GREATER : EQUAL;
}

static bool node_matches(const struct esi_filter *filter,
                         int index,
                         const struct esi_filter_event *event)
{
    const struct filter_node *node = &filter->nodes[index];

    switch (node->kind) {
    case NODE_AND:
        return node_matches(filter, node->left, event) &&
               node_matches(filter, node->right, event);
    case NODE_OR:
        return node_matches(filter, node->left, event) ||
               node_matches(filter, node->right, event);
    case NODE_NOT:
        return !node_matches(filter, node->left, event);
    case NODE_COMPARE:
        return (node->orders & order_of_event(node, event)) != 0;
    }
    return false;
}

bool esi_filter_matches(const struct esi_filter *filter,
                        const struct esi_filter_event *event)
{
    return node_matches(filter, filter->root, event);
}

/* --- The stage -------------------------------------------------------------------- */

enum { PROPERTY_WHERE };
static const struct es_property_schema properties[] = {
    [PROPERTY_WHERE] = {.name = "where",
                        .type = ES_PROPERTY_TEXT,
                        .minimum = 1,
                        .maximum = 4095,
                        .help = "condition on the fields of a tuple"},
};

static int compile_where(const struct es_property_value *values,
                         struct es_error *error,
                         struct esi_filter **ret_filter)
{
    const struct es_property_value *where = &values[PROPERTY_WHERE];

    return esi_filter_create(where->text, where->line, where->column, error,
                             ret_filter);
}

static int check_filter(const struct es_property_value *values, struct es_error *error)
{
    struct esi_filter *filter;
    int result = compile_where(values, error, &filter);

    if (result == 0)
        esi_filter_destroy(filter);
    return result;
}

static int open_filter(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct esi_filter *filter;
    int result = compile_where(values, error, &filter);

    if (result == 0)
        stage->state = filter;
    return result;
}

static void close_filter(struct es_stage *stage)
{
    esi_filter_destroy(stage->state);
}

static int pull_filter(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    const struct es_stage_context *context = stage->context;
    struct esi_filter_event event = {.realtime_ns = pull->realtime_ns,
                                     .context = context};
    size_t kept = batch->count;
    size_t first = batch->count;
    int result =
        stage->child_count ? es_stage_pull(stage->children[0], pull, batch) : 0;

    if (result < 0)
        return result;
    for (size_t i = first; i < batch->count; i++) {
        event.tuple = &batch->tuples[i];
        event.origin_index = batch->marks[i].origin;
        event.origin = &context->origins->items[event.origin_index];
        if (esi_filter_matches(stage->state, &event))
            es_batch_move(batch, kept++, i);
    }
    batch->count = kept;
    return 0;
}

const struct es_stage_ops esi_stage_filter = {
    .name = "filter",
    .help = "passes on the tuples for which a condition holds",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = 1,
    .check = check_filter,
    .open = open_filter,
    .pull = pull_filter,
    .ask = esi_stage_ask_child,
    .close = close_filter,
};
