/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * event_details.c - attributes of events of runs, compressed.
 *
 * The events of a trace are stored consecutively in blocks.  Each event is encoded as
 * the difference of its index, the set of values that differ from those of the previous
 * event, and these differences.  The first event of a block is relative to zeros, so
 * each block can be decoded alone.
 */
#include "config.h"

#include "monitors/search/domains/event_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/search/domains/event_value.h"

enum {
    BLOCK_BYTES = 1024,
    VARINT_BYTES = 10,    /* 64 bits, 7 per byte */
    PRESENT = ES_DETAILS, /* the set of existing values, stored as an additional
                             value */
    VALUES,
    RECORD_BYTES = (2 + VALUES) * VARINT_BYTES,
};

/* Numbers; for texts their number in `texts`; `stop` is relative to `start`. */
struct record {
    uint64_t values[VALUES];
};

struct block {
    struct block *newer; /* in the list of all traces */
    uint32_t trace;
    uint32_t first; /* index of its first event */
    uint32_t used;
    uint8_t bytes[];
};

/* A trace.  Its blocks are in the order of their events. */
struct lane {
    struct block **blocks; /* owned, with its elements */
    size_t begin;          /* blocks before it were forgotten */
    size_t end;
    size_t capacity;
    bool is_open;     /* the last block accepts further events */
    uint32_t last;    /* index of the newest event in it */
    struct record at; /* its values */
};

struct esi_details {
    struct esi_texts texts;
    struct lane *lanes; /* owned: by trace */
    size_t lane_count;
    struct block *oldest;
    struct block *newest;
    uint64_t most_bytes;
    uint64_t block_count;
    uint64_t lane_bytes;
    int64_t earliest; /* start time; INT64_MAX: none */
    bool is_begun;    /* `earliest` is final */
};

static const struct {
    const char *name;
    bool is_text;
} names[ES_DETAILS] = {
    [ES_DETAIL_START] = {"start", false},
    [ES_DETAIL_STOP] = {"stop", false},
    [ES_DETAIL_TYPE] = {"type", true},
    [ES_DETAIL_PEER] = {"peer", false},
    [ES_DETAIL_BYTES] = {"bytes", false},
    [ES_DETAIL_TAG] = {"tag", false},
    [ES_DETAIL_CLASS] = {"class", true},
    [ES_DETAIL_INSTANCE] = {"instance", false},
    [ES_DETAIL_COMMUNICATOR] = {"communicator", true},
    [ES_DETAIL_SOURCE] = {"source", true},
    [ES_DETAIL_WINDOW] = {"window", false},
    [ES_DETAIL_STATE] = {"state", true},
    [ES_DETAIL_RANK] = {"rank", false},
    [ES_DETAIL_HOST] = {"host", true},
};

int esi_details_create(uint64_t most_bytes, struct esi_details **ret_details)
{
    struct esi_details *details = calloc(1, sizeof *details);

    if (!details)
        return -ENOMEM;
    details->most_bytes = most_bytes;
    details->earliest = INT64_MAX;
    esi_texts_init(&details->texts);
    *ret_details = details;
    return 0;
}

void esi_details_destroy(struct esi_details *details)
{
    if (!details)
        return;
    for (struct block *block = details->oldest, *newer; block; block = newer) {
        newer = block->newer;
        free(block);
    }
    for (size_t i = 0; i < details->lane_count; i++)
        free(details->lanes[i].blocks);
    free(details->lanes);
    esi_texts_fini(&details->texts);
    free(details);
}

/* --- Numbers ---------------------------------------------------------------------- */

static size_t put_number(uint8_t *out, uint64_t number)
{
    size_t length = 0;

    for (; number >= 0x80; number >>= 7)
        out[length++] = (uint8_t)(number | 0x80);
    out[length++] = (uint8_t)number;
    return length;
}

static uint64_t take_number(const uint8_t **in)
{
    uint64_t number = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*in)++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

/* Maps numbers of small magnitude, of either sign, to small unsigned numbers. */
static uint64_t fold_number(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfold_number(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

static size_t put_record(uint8_t *out,
                         const struct record *before,
                         const struct record *record,
                         uint32_t step)
{
    size_t length = put_number(out, step);
    uint32_t differ = 0;

    for (unsigned i = 0; i < VALUES; i++)
        if (record->values[i] != before->values[i])
            differ |= UINT32_C(1) << i;
    length += put_number(out + length, differ);
    for (unsigned i = 0; i < VALUES; i++)
        if (differ >> i & 1)
            length += put_number(out + length,
                                 fold_number(record->values[i] - before->values[i]));
    return length;
}

/* Decodes the next record from the previous one. */
static void take_record(const uint8_t **in, struct record *record, uint32_t *index)
{
    uint64_t differ;

    *index += (uint32_t)take_number(in);
    differ = take_number(in);
    for (unsigned i = 0; i < VALUES; i++)
        if (differ >> i & 1)
            record->values[i] += unfold_number(take_number(in));
}

/* --- Storing ---------------------------------------------------------------------- */

/* ES_DETAILS if the attribute is not stored. */
static unsigned find_name(const char *name)
{
    for (unsigned i = 0; i < ES_DETAILS; i++)
        if (names[i].name[0] == name[0] && strcmp(names[i].name, name) == 0)
            return i;
    return ES_DETAILS;
}

/* Most texts are those of the previous event. */
static int take_text(struct esi_details *details, const char *text, uint64_t *number)
{
    uint32_t added;
    int result;

    if (*number < esi_texts_count(&details->texts) &&
        strcmp(esi_texts_at(&details->texts, (uint32_t)*number), text) == 0)
        return 0;
    result = esi_texts_add(&details->texts, text, strlen(text), &added);
    if (result == 0)
        *number = added;
    return result;
}

/* `record` is that of the previous event.  Returns 1 if the value was stored in it; 0
 * if it cannot be represented, and then nothing is changed. */
static int take_value(struct esi_details *details,
                      const struct es_event_attribute *attribute,
                      unsigned name,
                      struct record *record)
{
    const struct esi_event_value value = {attribute->text, attribute->number};
    char room[ESI_NUMBER_TEXT];
    int64_t number;
    int result;

    if (names[name].is_text) {
        result = take_text(details, esi_event_value_text(&value, room),
                           &record->values[name]);
        return result < 0 ? result : 1;
    }
    if (!esi_event_value_number(&value, &number))
        return 0;
    record->values[name] = (uint64_t)number;
    return 1;
}

/* Values that the event does not have stay unchanged in the record. */
static int take_values(struct esi_details *details,
                       const struct es_set_event *event,
                       struct record *record)
{
    const struct es_event_attribute type = {.name = "type", .text = event->type};
    uint32_t present = UINT32_C(1) << ES_DETAIL_TYPE;
    int result = take_value(details, &type, ES_DETAIL_TYPE, record);

    for (size_t i = 0; result >= 0 && i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        unsigned name = find_name(attribute->name);

        if (name == ES_DETAILS || (present >> name & 1))
            continue;
        result = take_value(details, attribute, name, record);
        if (result > 0)
            present |= UINT32_C(1) << name;
    }
    record->values[PRESENT] = present;
    return result < 0 ? result : 0;
}

/* From here on, `stop` is stored relative to `start`. */
static void note_times(struct esi_details *details, struct record *record)
{
    uint64_t present = record->values[PRESENT];
    int64_t start = (int64_t)record->values[ES_DETAIL_START];

    if (!details->is_begun && (present >> ES_DETAIL_START & 1) &&
        start < details->earliest)
        details->earliest = start;
    if (present >> ES_DETAIL_STOP & 1)
        record->values[ES_DETAIL_STOP] -= (uint64_t)start;
}

static int reserve_lane(struct esi_details *details, uint32_t trace)
{
    size_t count = details->lane_count;

    if (trace < count)
        return 0;
    if (ESI_ARRAY_RESERVE(details->lanes, details->lane_count, (size_t)trace + 1) < 0)
        return -ENOMEM;
    memset(details->lanes + count, 0,
           (details->lane_count - count) * sizeof *details->lanes);
    details->lane_bytes += (details->lane_count - count) * sizeof *details->lanes;
    return 0;
}

/* Makes room for one more block, reusing the slots of forgotten ones. */
static int reserve_block(struct esi_details *details, struct lane *lane)
{
    size_t capacity = lane->capacity;

    if (lane->end < lane->capacity)
        return 0;
    if (lane->begin > lane->capacity / 2) {
        lane->end -= lane->begin;
        memmove(lane->blocks, lane->blocks + lane->begin,
                lane->end * sizeof *lane->blocks);
        lane->begin = 0;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(lane->blocks, lane->capacity, lane->end + 1) < 0)
        return -ENOMEM;
    details->lane_bytes += (lane->capacity - capacity) * sizeof *lane->blocks;
    return 0;
}

static void forget_oldest(struct esi_details *details)
{
    struct block *block = details->oldest;
    struct lane *lane = &details->lanes[block->trace];

    details->oldest = block->newer;
    if (!details->oldest)
        details->newest = NULL;
    details->block_count--;
    if (++lane->begin == lane->end)
        lane->is_open = false;
    free(block);
}

static int open_block(struct esi_details *details, struct es_event_id id)
{
    struct lane *lane = &details->lanes[id.trace];
    struct block *block = NULL;
    int result = reserve_block(details, lane);

    if (result == 0)
        block = malloc(BLOCK_BYTES);
    if (!block)
        return -ENOMEM;
    *block = (struct block){.trace = id.trace, .first = id.index};
    if (details->newest)
        details->newest->newer = block;
    else
        details->oldest = block;
    details->newest = block;
    details->block_count++;
    lane->blocks[lane->end++] = block;
    lane->is_open = true;
    return 0;
}

/* Appends to the open block; false if there is none with room. */
static bool put_byte(struct lane *lane, uint32_t index, const struct record *record)
{
    struct block *block = lane->is_open ? lane->blocks[lane->end - 1] : NULL;
    uint8_t bytes[RECORD_BYTES];
    size_t length;

    if (!block)
        return false;
    length = put_record(bytes, &lane->at, record, index - lane->last);
    if (length > BLOCK_BYTES - sizeof *block - block->used)
        return false;
    memcpy(block->bytes + block->used, bytes, length);
    block->used += (uint32_t)length;
    lane->at = *record;
    lane->last = index;
    return true;
}

static int put_in_new(struct esi_details *details,
                      struct es_event_id id,
                      const struct record *record)
{
    struct lane *lane = &details->lanes[id.trace];
    int result = open_block(details, id);

    if (result < 0)
        return result;
    lane->last = id.index;
    lane->at = (struct record){.values = {0}};
    put_byte(lane, id.index, record);
    while (details->most_bytes && details->oldest != details->newest &&
           esi_details_bytes(details) > details->most_bytes)
        forget_oldest(details);
    return 0;
}

static bool is_of_run(const struct es_set_event *event)
{
    struct esi_event_value operation;

    return esi_event_value(event, "", ES_FIELD_ATTRIBUTE, "operation", &operation);
}

void esi_details_pass(struct esi_details *details, const struct es_set_event *event)
{
    struct esi_event_value value;
    int64_t start;

    if (!details->is_begun && is_of_run(event) &&
        esi_event_value(event, "", ES_FIELD_ATTRIBUTE, "start", &value) &&
        esi_event_value_number(&value, &start) && start < details->earliest)
        details->earliest = start;
}

int64_t esi_details_begin(struct esi_details *details)
{
    if (details->earliest == INT64_MAX)
        return 0;
    details->is_begun = true;
    return details->earliest;
}

int esi_details_add(struct esi_details *details, const struct es_set_event *event)
{
    struct lane *lane;
    struct record record;
    int result;

    if (!is_of_run(event))
        return 0;
    result = reserve_lane(details, event->id.trace);
    if (result < 0)
        return result;
    lane = &details->lanes[event->id.trace];
    record = lane->at;
    result = take_values(details, event, &record);
    if (result < 0)
        return result;
    note_times(details, &record);
    return put_byte(lane, event->id.index, &record)
               ? 0
               : put_in_new(details, event->id, &record);
}

/* --- Finding ---------------------------------------------------------------------- */

/* The block that would contain the event; NULL if all blocks begin after it. */
static const struct block *find_block(const struct lane *lane, uint32_t index)
{
    size_t low = lane->begin, high = lane->end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lane->blocks[middle]->first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low > lane->begin ? lane->blocks[low - 1] : NULL;
}

static void emit_details(const struct esi_details *details,
                         const struct record *record,
                         struct esi_detail *detail)
{
    *detail = (struct esi_detail){.present = (uint32_t)record->values[PRESENT]};
    for (unsigned i = 0; i < ES_DETAILS; i++) {
        if (!esi_detail_has(detail, (enum esi_detail_name)i))
            continue;
        if (names[i].is_text)
            detail->values[i].text =
                esi_texts_at(&details->texts, (uint32_t)record->values[i]);
        else
            detail->values[i].number = (int64_t)record->values[i];
    }
    if (esi_detail_has(detail, ES_DETAIL_STOP))
        detail->values[ES_DETAIL_STOP].number =
            (int64_t)(record->values[ES_DETAIL_STOP] + record->values[ES_DETAIL_START]);
}

bool esi_details_find(const struct esi_details *details,
                      struct es_event_id id,
                      struct esi_detail *ret_detail)
{
    const struct block *block = id.trace < details->lane_count
                                    ? find_block(&details->lanes[id.trace], id.index)
                                    : NULL;
    struct record record = {.values = {0}};
    const uint8_t *in, *end;
    uint32_t index;

    if (!block)
        return false;
    index = block->first;
    in = block->bytes;
    end = in + block->used;
    while (in < end) {
        take_record(&in, &record, &index);
        if (index == id.index) {
            emit_details(details, &record, ret_detail);
            return true;
        }
    }
    return false;
}

uint64_t esi_details_bytes(const struct esi_details *details)
{
    return sizeof *details + details->lane_bytes + details->block_count * BLOCK_BYTES +
           esi_texts_bytes(&details->texts);
}
