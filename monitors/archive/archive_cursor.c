/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * archive_cursor.c - an element's tuples in the order in which they were published.
 *
 * The ordered stream holds most of them; the late ones know their places by themselves.
 * The tuples of the ordered stream take the places that are left, which is checked at
 * each packet: a place that nobody has is a tuple that was lost with its packet.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/archive/archive_place.h"
#include "monitors/archive/archive_reader.h"

struct es_archive_cursor {
    uint32_t element;
    struct esi_ctf_reader *ordered; /* owned; NULL = there is none */
    struct esi_ctf_reader **late;   /* owned, as they are */
    size_t late_count;
    uint64_t index; /* of the next tuple */
    bool told_end;
};

static int open_late(struct es_archive_reader *reader,
                     struct es_archive_cursor *cursor,
                     struct es_error *error)
{
    for (unsigned late = 1; late <= ESI_ARCHIVE_LATE_MAX; late++) {
        struct esi_ctf_reader **streams;
        struct esi_ctf_reader *stream;
        int result =
            esi_archive_stream_open(reader, cursor->element, late, error, &stream);

        if (result < 0)
            return result == -ENOENT ? 0 : result;
        streams = reallocarray(cursor->late, late, sizeof(struct esi_ctf_reader *));
        if (!streams) {
            esi_ctf_reader_destroy(stream);
            return -ENOMEM;
        }
        cursor->late = streams;
        cursor->late[cursor->late_count++] = stream;
    }
    return 0;
}

int es_archive_cursor_create(struct es_archive_reader *reader,
                             uint32_t element,
                             struct es_error *error,
                             struct es_archive_cursor **ret_cursor)
{
    struct es_archive_cursor *cursor;
    int result;

    if (element >= reader->tables.element_count)
        return es_error_set(error, -EINVAL, "the archive has no element %u", element);
    cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return es_error_set(error, -ENOMEM, "no memory left for an element");
    cursor->element = element;
    result = esi_archive_stream_open(reader, element, 0, error, &cursor->ordered);
    if (result == 0 || result == -ENOENT)
        result = open_late(reader, cursor, error);
    if (result < 0) {
        es_archive_cursor_destroy(cursor);
        return result;
    }
    *ret_cursor = cursor;
    return 0;
}

void es_archive_cursor_destroy(struct es_archive_cursor *cursor)
{
    int saved_errno = errno;

    if (!cursor)
        return;
    esi_ctf_reader_destroy(cursor->ordered);
    for (size_t i = 0; i < cursor->late_count; i++)
        esi_ctf_reader_destroy(cursor->late[i]);
    free(cursor->late);
    free(cursor);
    errno = saved_errno;
}

/* What may come next. */
struct next {
    struct esi_ctf_reader *stream; /* NULL = nothing more */
    const struct esi_ctf_record *record;
    uint64_t index;
};

static int look_at_late(struct es_archive_cursor *cursor,
                        struct next *next,
                        struct es_error *error)
{
    for (size_t i = 0; i < cursor->late_count; i++) {
        const struct esi_ctf_record *record;
        int result = esi_ctf_reader_peek(cursor->late[i], &record, error);

        if (result < 0)
            return result;
        if (result > 0 && (!next->stream || record->index < next->index))
            *next = (struct next){cursor->late[i], record, record->index};
    }
    return 0;
}

/* The ordered stream's tuple has the next place that no late one claims, unless its
 * packet says otherwise. */
static int look_at_ordered(struct es_archive_cursor *cursor,
                           struct next *next,
                           struct es_error *error)
{
    const struct esi_ctf_record *record;
    uint64_t index = cursor->index;
    int result =
        cursor->ordered ? esi_ctf_reader_peek(cursor->ordered, &record, error) : 0;

    if (result <= 0)
        return result;
    if (record->begins_packet && record->index > index)
        index = record->index;
    if (!next->stream || index < next->index)
        *next = (struct next){cursor->ordered, record, index};
    return 0;
}

static int give_end(struct es_archive_cursor *cursor, struct es_archive_item *item)
{
    if (!cursor->told_end && cursor->ordered)
        item->lost = esi_ctf_reader_lost_at_end(cursor->ordered);
    cursor->told_end = true;
    return item->lost > 0;
}

int es_archive_cursor_next(struct es_archive_cursor *cursor,
                           struct es_archive_item *ret_item,
                           struct es_error *error)
{
    struct next next = {.stream = NULL};
    int result = look_at_late(cursor, &next, error);

    *ret_item =
        (struct es_archive_item){.element = cursor->element, .index = cursor->index};
    if (result == 0)
        result = look_at_ordered(cursor, &next, error);
    if (result < 0)
        return result;
    if (!next.stream)
        return give_end(cursor, ret_item);
    if (next.record->lost > 0) {
        ret_item->lost = esi_ctf_reader_take_lost(next.stream);
        return 1;
    }
    if (next.index > cursor->index) {
        ret_item->lost = next.index - cursor->index;
        cursor->index = next.index;
        return 1;
    }
    ret_item->tuple = next.record->tuple;
    cursor->index++;
    esi_ctf_reader_next(next.stream);
    return 1;
}
