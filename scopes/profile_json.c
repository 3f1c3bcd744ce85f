/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_json.c - a profile as rows of numbers, most of which JSON represents
 * exactly. */
#include "config.h"

#include "scopes/profile_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_COLUMNS = 9, PEER_COLUMNS = 3, OPEN_COLUMNS = 4 };
enum { MOST_COLUMNS = ROW_COLUMNS + 2 * ESI_PROFILE_SIZES };

/* --- Writing ---------------------------------------------------------------------- */

static void write_numbers(struct esi_json_out *out,
                          const uint64_t *numbers,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        esi_json_out_signed(out, NULL, (int64_t)numbers[i]);
}

/* Writes the columns, then pairs of a size class and its calls. */
static void write_profile_row(struct esi_json_out *out,
                              const struct esi_profile_row *row)
{
    const uint64_t columns[ROW_COLUMNS] = {(uint64_t)(int64_t)row->thread,
                                           row->operation,
                                           row->site,
                                           esi_json_bounded(row->calls),
                                           row->ticks,
                                           row->shortest,
                                           row->longest,
                                           row->bytes,
                                           row->has_sizes};

    esi_json_out_begin_array(out, NULL);
    write_numbers(out, columns, ROW_COLUMNS);
    for (uint64_t i = 0; i < ESI_PROFILE_SIZES; i++)
        if (row->sizes[i] != 0)
            write_numbers(out, (const uint64_t[]){i, esi_json_bounded(row->sizes[i])},
                          2);
    esi_json_out_end(out);
}

static void write_peer(struct esi_json_out *out, const struct esi_profile_peer *peer)
{
    esi_json_out_begin_array(out, NULL);
    esi_json_out_signed(out, NULL, peer->world);
    write_numbers(out,
                  (const uint64_t[]){esi_json_bounded(peer->messages),
                                     esi_json_bounded(peer->bytes)},
                  PEER_COLUMNS - 1);
    esi_json_out_end(out);
}

static void write_call(struct esi_json_out *out, const struct esi_profile_call *call)
{
    esi_json_out_begin_array(out, NULL);
    esi_json_out_signed(out, NULL, call->thread);
    write_numbers(out, (const uint64_t[]){call->operation, call->site, call->ticks},
                  OPEN_COLUMNS - 1);
    esi_json_out_end(out);
}

void esi_profile_json_write(const struct esi_profile *profile, struct esi_json_out *out)
{
    esi_json_out_begin_array(out, "rows");
    for (size_t i = 0; i < profile->row_count; i++)
        write_profile_row(out, &profile->rows[i]);
    esi_json_out_end(out);
    esi_json_out_begin_array(out, "peers");
    for (size_t i = 0; i < profile->peer_count; i++)
        write_peer(out, &profile->peers[i]);
    esi_json_out_end(out);
    esi_json_out_begin_array(out, "open");
    for (size_t i = 0; i < profile->open_count; i++)
        write_call(out, &profile->open[i]);
    esi_json_out_end(out);
    esi_json_out_unsigned(out, "began", esi_json_bounded(profile->began));
    esi_json_out_unsigned(out, "until", esi_json_bounded(profile->until));
    esi_json_out_bool(out, "ended", profile->ended);
    esi_json_out_bool(out, "partial", profile->partial);
}

/* --- Reading ---------------------------------------------------------------------- */

/* Reads the numbers of a list; returns 0 if there are too many, or other items. */
static size_t read_numbers(const struct es_member *list, int64_t numbers[MOST_COLUMNS])
{
    size_t count = esi_member_count(list);

    if (count > MOST_COLUMNS)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!esi_member_number(esi_member_at(list, i), &numbers[i]))
            return 0;
    return count;
}

static bool fits_thread(int64_t number)
{
    return number >= INT32_MIN && number <= INT32_MAX;
}

static bool fits_operation(int64_t number)
{
    return number > 0 && number <= UINT16_MAX;
}

/* Sums are not limited: a program may have made them arbitrarily large. */
static bool parse_profile_row(const int64_t *numbers, size_t count, void *item)
{
    struct esi_profile_row *row = item;

    if (count < ROW_COLUMNS || (count - ROW_COLUMNS) % 2 != 0 ||
        !fits_thread(numbers[0]) || !fits_operation(numbers[1]) || numbers[3] < 0 ||
        numbers[8] < 0 || numbers[8] > 1)
        return false;
    *row = (struct esi_profile_row){.thread = (int32_t)numbers[0],
                                    .operation = (uint16_t)numbers[1],
                                    .site = (uint64_t)numbers[2],
                                    .calls = (uint64_t)numbers[3],
                                    .ticks = (uint64_t)numbers[4],
                                    .shortest = (uint64_t)numbers[5],
                                    .longest = (uint64_t)numbers[6],
                                    .bytes = (uint64_t)numbers[7],
                                    .has_sizes = numbers[8] != 0};
    for (size_t i = ROW_COLUMNS; i < count; i += 2) {
        if (numbers[i] < 0 || numbers[i] >= ESI_PROFILE_SIZES || numbers[i + 1] < 0)
            return false;
        row->sizes[numbers[i]] = (uint64_t)numbers[i + 1];
    }
    return true;
}

static bool parse_peer(const int64_t *numbers, size_t count, void *item)
{
    struct esi_profile_peer *peer = item;

    if (count != PEER_COLUMNS || numbers[0] < -1 || numbers[0] > INT32_MAX)
        return false;
    *peer = (struct esi_profile_peer){.world = (int32_t)numbers[0],
                                      .messages = (uint64_t)numbers[1],
                                      .bytes = (uint64_t)numbers[2]};
    return true;
}

static bool parse_call(const int64_t *numbers, size_t count, void *item)
{
    struct esi_profile_call *call = item;

    if (count != OPEN_COLUMNS || !fits_thread(numbers[0]) ||
        !fits_operation(numbers[1]))
        return false;
    *call = (struct esi_profile_call){.thread = (int32_t)numbers[0],
                                      .operation = (uint16_t)numbers[1],
                                      .site = (uint64_t)numbers[2],
                                      .ticks = (uint64_t)numbers[3]};
    return true;
}

/* Creates an array of the rows of a table.  A missing table is empty. */
static int read_rows(const struct es_member *object,
                     const char *name,
                     size_t item_bytes,
                     bool (*parse)(const int64_t *numbers, size_t count, void *item),
                     struct es_error *error,
                     void *ret_items,
                     size_t *ret_count)
{
    const struct es_member *list = esi_member_find(object, name);
    size_t count = esi_member_count(list);
    char *items = calloc(count + 1, item_bytes);
    int64_t numbers[MOST_COLUMNS];

    if (items == NULL)
        return -ENOMEM;
    memcpy(ret_items, &items, sizeof items);
    for (size_t i = 0; i < count; i++)
        if (!parse(numbers, read_numbers(esi_member_at(list, i), numbers),
                   items + i * item_bytes))
            return es_error_set(error, -EINVAL,
                                "row %zu of \"%s\" has impossible values", i, name);
    *ret_count = count;
    return 0;
}

int esi_profile_json_read(const struct es_member *object,
                          struct es_error *error,
                          struct esi_profile *ret_profile)
{
    struct esi_profile profile = {
        .began = esi_member_counter(object, "began"),
        .until = esi_member_counter(object, "until"),
        .ended = esi_member_boolean_or(object, "ended", false),
        .partial = esi_member_boolean_or(object, "partial", false),
    };
    int rc = read_rows(object, "rows", sizeof *profile.rows, parse_profile_row, error,
                       &profile.rows, &profile.row_count);

    if (rc == 0)
        rc = read_rows(object, "peers", sizeof *profile.peers, parse_peer, error,
                       &profile.peers, &profile.peer_count);
    if (rc == 0)
        rc = read_rows(object, "open", sizeof *profile.open, parse_call, error,
                       &profile.open, &profile.open_count);
    if (rc < 0) {
        esi_profile_fini(&profile);
        return rc;
    }
    *ret_profile = profile;
    return 0;
}
