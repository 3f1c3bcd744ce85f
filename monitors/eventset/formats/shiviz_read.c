/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* shiviz_read.c - reads logs for ShiViz: file, header, and executions one by one. */
#include "config.h"

#include "monitors/eventset/formats/shiviz_read.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/input.h"
#include "monitors/eventset/formats/shiviz_log.h"
#include "monitors/eventset/formats/shiviz_match.h"

/* Gives the events of an execution, as an ordered stream. */

/* === Delivery of an execution ===================================================== */

/*
 * Delivers the events of an execution in the order of the log, but predecessors first.
 */

/* The event made from an event of the log. */
struct given {
    struct es_event_id last; /* the only one, or the send of both; index 0 = not yet */
};

struct giving {
    const struct esi_shiviz_order *order;
    const struct esi_shiviz_log *log;
    const struct es_set_sink *sink;
    struct esi_shiviz_statistics *statistics;
    uint32_t first_trace;
    size_t event_group;
    int type_group;               /* -1 = none */
    struct given *given;          /* per event of the log */
    uint32_t *indexes;            /* latest index per host */
    struct esi_segmented waiting; /* uint32_t: stack of events that wait for others */
    uint64_t waiting_count;       /* used entries of the stack */
    struct es_event_id *partners; /* of the current event; space for one per host */
    struct es_event_attribute *attributes;
    char *texts; /* the texts of the current event, each terminated by 0 */
    size_t texts_capacity;
};

/* --- One event -------------------------------------------------------------------- */

static int reserve_texts(struct giving *giving, const struct esi_shiviz_event *event)
{
    size_t names = esi_match_names(giving->log->match);
    size_t bytes = 1;

    for (size_t i = 0; i < names; i++)
        if (event->groups[i].length != SIZE_MAX)
            bytes += event->groups[i].length + 1;
    return ESI_ARRAY_RESERVE(giving->texts, giving->texts_capacity, bytes);
}

/* Copies a group's text to *next; "" if the group did not participate. */
static const char *copy_text(const struct giving *giving,
                             struct esi_shiviz_piece piece,
                             char **next)
{
    char *text = *next;

    if (piece.length == SIZE_MAX)
        return "";
    memcpy(text, giving->log->text->text + piece.start, piece.length);
    text[piece.length] = '\0';
    *next += piece.length + 1;
    return text;
}

static bool is_attribute(const struct giving *giving, size_t group)
{
    return group != giving->log->host && group != giving->log->clock &&
           group != giving->event_group && (int)group != giving->type_group;
}

static int give_describe(struct giving *giving,
                         const struct esi_shiviz_event *event,
                         struct es_set_event *ret_event)
{
    const struct esi_shiviz_pair *match = giving->log->match;
    char *next;

    if (reserve_texts(giving, event) < 0)
        return -ENOMEM;
    next = giving->texts;
    *ret_event = (struct es_set_event){
        .type = giving->type_group < 0
                    ? ""
                    : copy_text(giving, event->groups[giving->type_group], &next),
        .text = copy_text(giving, event->groups[giving->event_group], &next),
        .attributes = giving->attributes,
    };
    for (size_t i = 0; i < esi_match_names(match); i++)
        if (is_attribute(giving, i) && event->groups[i].length != SIZE_MAX)
            giving->attributes[ret_event->attribute_count++] =
                (struct es_event_attribute){
                    .name = esi_match_name(match, i),
                    .text = copy_text(giving, event->groups[i], &next),
                };
    return 0;
}

static int give_one(struct giving *giving, uint32_t host, struct es_set_event *event)
{
    event->id = (struct es_event_id){
        .trace = giving->first_trace + esi_shiviz_log_host(giving->log, host)->trace,
        .index = ++giving->indexes[host],
    };
    giving->statistics->events++;
    return giving->sink->event(giving->sink->data, event);
}

/* Delivers a receive, then the send. */
static int give_halves(struct giving *giving, uint32_t host, struct es_set_event *event)
{
    struct es_event_attribute *half = &giving->attributes[event->attribute_count++];
    int result;

    *half = (struct es_event_attribute){.name = "half", .text = "receive"};
    result = give_one(giving, host, event);
    if (result < 0)
        return result;
    half->text = "send";
    event->kind = ES_EVENT_SEND;
    event->partners = NULL;
    event->partner_count = 0;
    giving->statistics->split_events++;
    return give_one(giving, host, event);
}

static int give_give(struct giving *giving, uint32_t number)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(giving->log, number);
    const struct esi_shiviz_place *place = &giving->order->places[number];
    struct es_set_event out;
    int result = give_describe(giving, event, &out);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < place->count; i++)
        giving->partners[i] = giving->given[place->sends[i]].last;
    out.partners = place->count ? giving->partners : NULL;
    out.partner_count = place->count;
    out.kind = place->count      ? ES_EVENT_RECEIVE
               : place->is_named ? ES_EVENT_SEND
                                 : ES_EVENT_UNARY;
    result = place->count && place->is_named ? give_halves(giving, event->host, &out)
                                             : give_one(giving, event->host, &out);
    giving->given[number].last = out.id;
    giving->statistics->log_events++;
    return result;
}

/* --- All events ------------------------------------------------------------------- */

/* An event that must be delivered first; NO_EVENT if there is none. */
enum { NO_EVENT = UINT32_MAX };

static uint32_t find_missing(const struct giving *giving, uint32_t number)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(giving->log, number);
    const struct esi_shiviz_place *place = &giving->order->places[number];

    if (event->own > 1) {
        uint32_t before =
            esi_shiviz_order_event(giving->order, event->host, event->own - 1);

        if (giving->given[before].last.index == 0)
            return before;
    }
    for (uint32_t i = 0; i < place->count; i++)
        if (giving->given[place->sends[i]].last.index == 0)
            return place->sends[i];
    return NO_EVENT;
}

static int wait_for(struct giving *giving, uint32_t number)
{
    if (giving->waiting_count < esi_segmented_count(&giving->waiting))
        *(uint32_t *)esi_segmented_at(&giving->waiting, giving->waiting_count) = number;
    else if (esi_segmented_push(&giving->waiting, &number) < 0)
        return -ENOMEM;
    giving->waiting_count++;
    return 0;
}

/* The clocks were checked, so there is no cycle. */
static int give_with_missing(struct giving *giving, uint32_t number)
{
    int result = wait_for(giving, number);

    while (result == 0 && giving->waiting_count > 0) {
        uint32_t last =
            *(uint32_t *)esi_segmented_at(&giving->waiting, giving->waiting_count - 1);
        uint32_t missing = find_missing(giving, last);

        if (missing != NO_EVENT) {
            result = wait_for(giving, missing);
            continue;
        }
        giving->waiting_count--;
        result = give_give(giving, last);
    }
    return result;
}

static int tell_traces(const struct giving *giving, const char *prefix)
{
    uint32_t hosts = (uint32_t)esi_segmented_count(&giving->log->hosts);
    const char **names = calloc(hosts + 1u, sizeof *names);
    int result = names ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i < hosts; i++) {
        const struct esi_shiviz_host *host = esi_shiviz_log_host(giving->log, i);

        names[host->trace] = host->name;
    }
    for (uint32_t i = 0; result == 0 && i < hosts; i++) {
        char *name;

        if (asprintf(&name, "%s%s", prefix, names[i]) < 0) {
            result = -ENOMEM;
            break;
        }
        result = giving->sink->trace(giving->sink->data, giving->first_trace + i, name);
        free(name);
    }
    free(names);
    return result;
}

static int give_all(struct giving *giving, const char *prefix)
{
    uint32_t events = (uint32_t)esi_segmented_count(&giving->log->events);
    uint32_t hosts = (uint32_t)esi_segmented_count(&giving->log->hosts);
    int result;

    giving->given = calloc(events + 1u, sizeof *giving->given);
    giving->indexes = calloc(hosts + 1u, sizeof *giving->indexes);
    giving->partners = calloc(hosts + 1u, sizeof *giving->partners);
    giving->attributes =
        calloc(esi_match_names(giving->log->match) + 1, sizeof *giving->attributes);
    if (!giving->given || !giving->indexes || !giving->partners || !giving->attributes)
        return -ENOMEM;
    result = tell_traces(giving, prefix);
    for (uint32_t i = 0; result == 0 && i < events; i++)
        if (giving->given[i].last.index == 0)
            result = give_with_missing(giving, i);
    giving->statistics->traces += hosts;
    return result;
}

/* Adds the traces, with `prefix` before their names and numbered from
 * statistics->traces on, and delivers the events; updates `statistics`. Returns 0,
 * -ENOMEM, or the error of the sink. */
static int shiviz_give(const struct esi_shiviz_order *order,
                       const char *prefix,
                       const struct es_set_sink *sink,
                       struct esi_shiviz_statistics *statistics)
{
    struct esi_shiviz_pair *match = order->log->match;
    struct giving giving = {
        .order = order,
        .log = order->log,
        .sink = sink,
        .statistics = statistics,
        .first_trace = statistics->traces,
        .event_group = (size_t)esi_match_find_name(match, "event"),
        .type_group = esi_match_find_name(match, "type"),
    };
    int result;

    esi_segmented_init(&giving.waiting, sizeof(uint32_t), 6);
    result = give_all(&giving, prefix);
    esi_segmented_fini(&giving.waiting);
    free(giving.given);
    free(giving.indexes);
    free(giving.partners);
    free(giving.attributes);
    free(giving.texts);
    return result;
}

/* === The file ===================================================================== */

/* A log being read. */
struct log_reading {
    struct esi_shiviz_text text;
    const struct esi_shiviz_config *config;
    struct esi_shiviz_pair *match;
    struct esi_shiviz_pair *delimiter; /* NULL = one execution */
    int label;                         /* its group "trace"; -1 = none */
    json_t *labels; /* an object whose members are the labels used so far */
    struct esi_shiviz_statistics statistics;
    struct es_error *error;
};

/* --- Executions ------------------------------------------------------------------- */

static bool is_blank(const char *text, size_t start, size_t end)
{
    while (start < end && strchr(" \t\n", text[start]))
        start++;
    return start >= end;
}

static int line_of(const struct log_reading *reading, size_t at)
{
    int line = reading->text.first_line;

    for (size_t i = 0; i < at; i++)
        line += reading->text.text[i] == '\n';
    return line;
}

/* Reads an execution's events, if it has any. */
static int read_events(struct log_reading *reading,
                       const char *prefix,
                       size_t start,
                       size_t end)
{
    struct esi_shiviz_order order;
    struct esi_shiviz_log log;
    int result = esi_shiviz_log_init(&log, &reading->text, reading->match);

    if (result == 0)
        result = esi_shiviz_log_parse(&log, start, end, reading->error);
    if (result == 0 && esi_segmented_count(&log.events) == 0)
        result = es_error_set_at(reading->error, -EINVAL, reading->text.source,
                                 line_of(reading, start), 0,
                                 "the regular expression finds no event from here on");
    if (result == 0) {
        result = esi_shiviz_order_init(&order, &log, reading->error);
        if (result == 0)
            result = shiviz_give(&order, prefix, &reading->config->sink,
                                 &reading->statistics);
        esi_shiviz_order_fini(&order);
    }
    esi_shiviz_log_fini(&log);
    return result;
}

/* Checks that the label of the execution is unique, and reads it. */
static int read_execution(struct log_reading *reading,
                          const char *label,
                          size_t start,
                          size_t end)
{
    char *prefix;
    int result;

    if (is_blank(reading->text.text, start, end))
        return 0;
    if (json_object_get(reading->labels, label))
        return es_error_set_at(reading->error, -EINVAL, reading->text.source,
                               line_of(reading, start), 0,
                               "there are two executions '%s'", label);
    if (json_object_set_new_nocheck(reading->labels, label, json_true()) < 0 ||
        asprintf(&prefix, "%s%s", label, *label ? "/" : "") < 0)
        return -ENOMEM;
    reading->statistics.executions++;
    result = read_events(reading, prefix, start, end);
    free(prefix);
    return result;
}

/* The label of the execution after a delimiter.  Caller frees; NULL if out of
 * memory. */
static char *make_label(const struct log_reading *reading)
{
    struct esi_shiviz_piece piece = {0, 0};
    char *label;

    if (reading->label < 0)
        return asprintf(&label, "%u", reading->statistics.executions + 1) < 0 ? NULL
                                                                              : label;
    piece = esi_match_group(reading->delimiter, (size_t)reading->label);
    if (piece.length == SIZE_MAX)
        piece.length = 0;
    return strndup(reading->text.text + piece.start, piece.length);
}

static int read_executions(struct log_reading *reading)
{
    const char *text = reading->text.text;
    size_t end = reading->text.length;
    size_t start = 0;
    size_t from = 0; /* where the search for the next delimiter starts */
    char *label = strdup(reading->delimiter && reading->label < 0 ? "1" : "");
    struct esi_shiviz_piece whole;
    int result = label ? 0 : -ENOMEM;

    while (result == 0 && reading->delimiter && from <= end) {
        result = esi_match_next(reading->delimiter, text, from, end, &whole);
        if (result <= 0)
            break;
        from = whole.start + whole.length;
        result = 0;
        if (whole.length == 0) {
            from = esi_match_step(text, from, end);
            continue;
        }
        result = read_execution(reading, label, start, whole.start);
        free(label);
        label = make_label(reading);
        start = from;
        if (!label)
            result = -ENOMEM;
    }
    if (result == -E2BIG)
        result = es_error_set_at(reading->error, -EINVAL, reading->text.source,
                                 line_of(reading, from), 0,
                                 "matching the delimiter takes too long from here on");
    if (result == 0)
        result = read_execution(reading, label, start, end);
    free(label);
    return result;
}

/* --- The text --------------------------------------------------------------------- */

static int check_text(struct log_reading *reading)
{
    const struct esi_shiviz_text *text = &reading->text;
    const char *zero = memchr(text->text, '\0', text->length);
    size_t at;

    if (zero)
        return es_error_set_at(reading->error, -EINVAL, text->source,
                               line_of(reading, (size_t)(zero - text->text)), 0,
                               "a byte 0, which a text must not have");
    if (!esi_match_check_text(reading->match, text->text, text->length, &at))
        return es_error_set_at(reading->error, -EINVAL, text->source,
                               line_of(reading, at), 0, "not UTF-8");
    return 0;
}

static int make_expressions(struct log_reading *reading,
                            const char *regex,
                            const char *delimiter)
{
    static const char *const groups[] = {"host", "clock", "event"};
    int result = esi_match_create(regex ? regex : ES_SHIVIZ_REGEX, "regular expression",
                                  reading->error, &reading->match);

    for (size_t i = 0; result == 0 && i < sizeof groups / sizeof groups[0]; i++)
        if (esi_match_find_name(reading->match, groups[i]) < 0)
            result = es_error_set(reading->error, -EINVAL,
                                  "the regular expression has no group (?<%s>...); it "
                                  "needs host, clock and event",
                                  groups[i]);
    if (result == 0 && delimiter)
        result = esi_match_create(delimiter, "delimiter", reading->error,
                                  &reading->delimiter);
    if (result == 0 && reading->delimiter)
        reading->label = esi_match_find_name(reading->delimiter, "trace");
    return result;
}

static int read_all(struct log_reading *reading,
                    const char *regex,
                    const char *delimiter)
{
    int result = make_expressions(reading, regex, delimiter);

    reading->labels = json_object();
    if (result == 0 && !reading->labels)
        result = -ENOMEM;
    if (result == 0)
        result = check_text(reading);
    if (result == 0)
        result = read_executions(reading);
    if (result == 0 && reading->statistics.log_events == 0)
        result = es_error_set_at(reading->error, -EINVAL, reading->text.source, 0, 0,
                                 "the regular expression finds no event");
    json_decref(reading->labels);
    esi_match_destroy(reading->match);
    esi_match_destroy(reading->delimiter);
    return result;
}

/* Removes the first line; "" counts as none.  Caller frees *ret_line. */
static int cut_line(struct esi_shiviz_text *text, char **ret_line)
{
    const char *end = memchr(text->text, '\n', text->length);
    size_t length = end ? (size_t)(end - text->text) : text->length;
    char *line = NULL;

    if (length > 0) {
        line = strndup(text->text, length);
        if (!line)
            return -ENOMEM;
    }
    text->text += length + (end != NULL);
    text->length -= length + (end != NULL);
    text->first_line++;
    *ret_line = line;
    return 0;
}

static int read_with_header(struct log_reading *reading)
{
    const struct esi_shiviz_config *config = reading->config;
    char *regex = NULL;
    char *delimiter = NULL;
    int result = 0;

    if (config->header)
        result = cut_line(&reading->text, &regex);
    if (result == 0 && config->header)
        result = cut_line(&reading->text, &delimiter);
    if (result == 0)
        result = read_all(reading, config->regex ? config->regex : regex,
                          config->delimiter ? config->delimiter : delimiter);
    free(regex);
    free(delimiter);
    return result;
}

/* Copies the text with "\n" for "\r\n", terminated by 0. */
static char *read_copy_text(const char *text, size_t length, size_t *ret_length)
{
    char *copy = malloc(length + 1);
    size_t count = 0;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\r' || i + 1 == length || text[i + 1] != '\n')
            copy[count++] = text[i];
    copy[count] = '\0';
    *ret_length = count;
    return copy;
}

int esi_shiviz_read_text(const char *text,
                         size_t length,
                         const char *name,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error)
{
    struct log_reading reading = {
        .text = {.source = name, .first_line = 1},
        .config = config,
        .error = error,
        .label = -1,
    };
    size_t mark = esi_input_mark(text, length); /* byte order mark, which some
                                                   editors write */
    char *copy;
    int result = esi_input_check(text + mark, length - mark, name, error);

    if (result < 0)
        return result;
    copy = read_copy_text(text + mark, length - mark, &reading.text.length);
    if (!copy)
        return -ENOMEM;
    reading.text.text = copy;
    result = read_with_header(&reading);
    free(copy);
    if (result == 0 && ret_statistics)
        *ret_statistics = reading.statistics;
    return result;
}

/* --- Files ------------------------------------------------------------------------ */

int esi_shiviz_read_file(const char *path,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    const char *name = standard ? "standard input" : path;
    char *text = NULL;
    size_t length = 0;
    int result;

    if (fd < 0)
        return es_error_set_at(error, -errno, name, 0, 0, "%s", strerror(errno));
    result = esi_file_read_all(fd, (size_t)PTRDIFF_MAX / 2, &text, &length);
    if (!standard)
        close(fd);
    if (result < 0)
        return es_error_set_at(error, result, name, 0, 0, "cannot be read: %s",
                               strerror(-result));
    result = esi_shiviz_read_text(text, length, name, config, ret_statistics, error);
    free(text);
    return result;
}
