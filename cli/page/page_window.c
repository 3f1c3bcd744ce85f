/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_window.c - replies about a window: cells, messages and profile. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/wire.h"
#include "cli/page/page_asked.h"

enum {
    REPLY_BYTES = 1 << 20,      /* maximum per window */
    GROUP_CELLS = 1 << 24,      /* maximum of all rows of all groups */
    PARTS = 15,                 /* per cell */
    HEAD_BYTES = 4 * 4 + 2 * 8, /* of the reply for a window */
};

/* --- Columns ---------------------------------------------------------------------- */

/* How requested columns are derived from those of the diagram. */
struct page_columns {
    struct esi_diagram_window window; /* of the diagram */
    uint32_t count;                   /* requested number */
    uint32_t skip;                    /* number of columns before position 0 */
    bool is_fine;                     /* narrower than a unit: each shows the unit
                                         that contains it */
    double first;                     /* if fine: start of the window, in units of
                                         the diagram */
    double step;
};

static struct page_columns columns_of(const struct esi_page_asked *asked)
{
    const struct esi_page_query *query = asked->query;
    struct page_columns columns = {.window = esi_page_window_of(asked),
                                   .count = query->columns,
                                   .step = (query->to - query->from) / query->columns};
    struct esi_diagram_window *window = &columns.window;

    if (window->to - window->from < query->columns) {
        columns.is_fine = true;
        columns.first =
            query->from - (window->axis == ESI_DIAGRAM_LEVEL ? (double)window->from
                                                             : floor(query->from));
        window->columns = (uint32_t)(window->to - window->from);
        return columns;
    }
    if (window->axis == ESI_DIAGRAM_LEVEL && query->from < 0) {
        columns.skip =
            (uint32_t)fmin(ceil(-query->from / columns.step), query->columns);
        window->from = (uint64_t)(query->from + columns.skip * columns.step + 0.5);
        if (window->to <= window->from)
            window->to = window->from + 1;
    }
    window->columns = query->columns - columns.skip;
    return columns;
}

/* The diagram's cell for a column; -1 = none. */
static int64_t cell_of(const struct page_columns *columns, uint32_t column)
{
    double at;

    if (!columns->is_fine)
        return (int64_t)column - columns->skip;
    at = floor(columns->first + (column + 0.5) * columns->step);
    return at >= 0 && at < columns->window.columns ? (int64_t)at : -1;
}

/* --- Cells ------------------------------------------------------------------------ */

/* Rounds to fifteenths with the largest remainder method, so that the sum is 15. */
static uint32_t pack_shares(const struct esi_diagram_cell *cell, double sum)
{
    double rest[ESI_DIAGRAM_STATES];
    uint32_t shares[ESI_DIAGRAM_STATES], packed = 0;
    int left = PARTS;

    for (int i = 0; i < ESI_DIAGRAM_STATES; i++) {
        double part = cell->of[i] / sum * PARTS;

        shares[i] = (uint32_t)part;
        rest[i] = part - shares[i];
        left -= (int)shares[i];
    }
    for (; left > 0; left--) {
        int largest = 0;

        for (int i = 1; i < ESI_DIAGRAM_STATES; i++)
            if (rest[i] > rest[largest])
                largest = i;
        shares[largest]++;
        rest[largest] = -1;
    }
    for (int i = 0; i < ESI_DIAGRAM_STATES; i++)
        packed |= shares[i] << 4 * i;
    return packed;
}

/* Seven shares, and the bit length of the number of calls. */
static uint32_t pack_cell(const struct esi_diagram_cell *cell)
{
    uint64_t calls = cell->calls > 0 ? (uint64_t)(cell->calls + 0.5) : 0;
    uint32_t packed = 0, bits = 0;
    double sum = 0;

    for (int i = 0; i < ESI_DIAGRAM_STATES; i++)
        sum += cell->of[i];
    if (sum > 0)
        packed = pack_shares(cell, sum);
    for (; calls > 0 && bits < PARTS; calls >>= 1)
        bits++;
    return packed | bits << 28;
}

static uint32_t pack_share(float share)
{
    return share > 0 ? (uint32_t)(share * 255 + 0.5f) : 0;
}

/* Minimum, median, maximum, and the index of the outlier in the group. */
static uint32_t pack_spread(const struct esi_diagram_spread *spread,
                            const uint32_t *rows,
                            size_t count)
{
    uint32_t outlier = 255;

    for (size_t i = 0; i < count && i < 255; i++)
        if (rows[i] == spread->outlier)
            outlier = (uint32_t)i;
    return pack_share(spread->least) | pack_share(spread->median) << 8 |
           pack_share(spread->most) << 16 | outlier << 24;
}

/* --- Lines ------------------------------------------------------------------------ */

/* Lines of one or several rows each; the rows of a line are adjacent. */
struct page_lines {
    struct esi_page_row_list rows; /* owned */
    size_t *counts;                /* owned; by line */
    size_t count;
    bool is_grouped;
};

/* Whether rows are grouped by a common property, wherever they are. */
static bool has_keys(int32_t group)
{
    return group == ESI_PAGE_GROUP_HOST || group == ESI_PAGE_GROUP_RANK ||
           group == ESI_PAGE_GROUP_CLUSTER;
}

/* The common property of a line: cluster, host or rank. */
static uint64_t key_of(const struct esi_page_asked *asked, uint32_t number)
{
    struct esi_diagram_row row;

    if (esi_diagram_row(asked->diagram, number, &row) < 0)
        return 0;
    switch (asked->query->group) {
    case ESI_PAGE_GROUP_CLUSTER:
        return (uintptr_t)row.cluster;
    case ESI_PAGE_GROUP_HOST:
        return (uintptr_t)row.host;
    default:
        return (uint64_t)row.rank + 1;
    }
}

/* Makes the rows with the same key adjacent, in the order of their first ones.  Returns
 * 0 or -ENOMEM. */
static int sort_by_key(const struct esi_page_asked *asked, struct page_lines *lines)
{
    size_t count = lines->rows.count, placed = 0;
    uint32_t *sorted = calloc(count + 1, sizeof *sorted);
    uint64_t *keys = calloc(count + 1, sizeof *keys); /* by line */
    size_t *line_of = calloc(count + 1, sizeof *line_of);
    size_t *places = calloc(count + 1, sizeof *places); /* by line: of its next row */
    struct esi_hash table = {.count = 0};
    int result =
        sorted && keys && line_of && places ? esi_hash_reserve(&table, count) : -ENOMEM;

    for (size_t i = 0; i < count && result == 0; i++) {
        uint64_t key = key_of(asked, lines->rows.items[i]);
        size_t line = lines->count;

        ESI_HASH_FOREACH(slot, &table, esi_hash_u64(key))
            if (keys[esi_hash_index(&table, slot)] == key)
                line = esi_hash_index(&table, slot);
        if (line == lines->count) {
            esi_hash_insert(&table, esi_hash_u64(key), line);
            keys[lines->count++] = key;
        }
        line_of[i] = line;
        lines->counts[line]++;
    }
    for (size_t line = 0; line < lines->count && result == 0; line++) {
        places[line] = placed;
        placed += lines->counts[line];
    }
    for (size_t i = 0; i < count && result == 0; i++)
        sorted[places[line_of[i]]++] = lines->rows.items[i];
    if (placed > 0)
        memcpy(lines->rows.items, sorted, placed * sizeof *sorted);
    free(sorted);
    free(keys);
    free(line_of);
    free(places);
    esi_hash_fini(&table);
    return result;
}

static bool list_lines(const struct esi_page_asked *asked, struct page_lines *lines)
{
    int32_t group = asked->query->group;
    size_t size = 1, count;

    if (!esi_page_list_rows(asked, &lines->rows))
        return false;
    count = lines->rows.count;
    lines->is_grouped = group != ESI_PAGE_GROUP_NONE;
    lines->counts = calloc(count + 1, sizeof *lines->counts);
    if (!lines->counts || (has_keys(group) && sort_by_key(asked, lines) < 0)) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return false;
    }
    if (lines->count > 0)
        return true;
    if (lines->is_grouped)
        size = group > 0 ? (size_t)group : count;
    for (size_t i = 0; i < count; i += size)
        lines->counts[lines->count++] = count - i < size ? count - i : size;
    return true;
}

/* Checks that the reply and its temporary data are not too large. */
static bool check_size(const struct esi_page_asked *asked,
                       const struct page_lines *lines)
{
    size_t columns = asked->query->columns;
    size_t line_bytes = 8 + columns * (lines->is_grouped ? 8 : 4);

    if (lines->count * line_bytes > REPLY_BYTES - HEAD_BYTES)
        esi_page_reply_fail(asked->reply, 400,
                            "rows: %zu lines of %zu columns are more than 1 MiB; ask "
                            "for %zu at a time",
                            lines->count, columns,
                            (REPLY_BYTES - HEAD_BYTES) / line_bytes);
    else if (lines->is_grouped && lines->rows.count * columns > GROUP_CELLS)
        esi_page_reply_fail(asked->reply, 400,
                            "rows: %zu rows of %zu columns are too many for groups",
                            lines->rows.count, columns);
    else
        return true;
    return false;
}

/* State of filling lines. */
struct line_fill {
    struct esi_diagram *diagram;
    struct page_columns columns;
    bool is_grouped;
    struct esi_diagram_cell *cells; /* owned, like the next */
    struct esi_diagram_spread *spreads;
};

static unsigned char *put_line(const struct line_fill *fill,
                               const uint32_t *rows,
                               size_t count,
                               unsigned char *out)
{
    const struct esi_diagram_window *window = &fill->columns.window;
    int result = fill->is_grouped
                     ? esi_diagram_group_cells(fill->diagram, rows, count, window,
                                               fill->cells, fill->spreads)
                     : esi_diagram_cells(fill->diagram, rows[0], window, fill->cells);

    esi_wire_store(out, rows[0], 4);
    esi_wire_store(out + 4, count, 4);
    out += 8;
    for (uint32_t i = 0; i < fill->columns.count; i++, out += 4) {
        int64_t cell = cell_of(&fill->columns, i);

        if (result == 0 && cell >= 0)
            esi_wire_store(out, pack_cell(&fill->cells[cell]), 4);
    }
    for (uint32_t i = 0; i < fill->columns.count && fill->is_grouped; i++, out += 4) {
        int64_t cell = cell_of(&fill->columns, i);

        esi_wire_store(out, UINT32_C(255) << 24, 4);
        if (result == 0 && cell >= 0)
            esi_wire_store(out, pack_spread(&fill->spreads[cell], rows, count), 4);
    }
    return out;
}

static unsigned char *put_head(const struct esi_page_query *query,
                               const struct page_lines *lines,
                               unsigned char *out)
{
    uint64_t from, to;

    memcpy(&from, &query->from, sizeof from);
    memcpy(&to, &query->to, sizeof to);
    memcpy(out, "ESW1", 4);
    esi_wire_store(out + 4, query->columns, 4);
    esi_wire_store(out + 8, lines->count, 4);
    esi_wire_store(out + 12, lines->is_grouped, 4);
    esi_wire_store(out + 16, from, 8);
    esi_wire_store(out + 24, to, 8);
    return out + HEAD_BYTES;
}

static void fill_window(const struct esi_page_asked *asked,
                        const struct page_lines *lines)
{
    struct line_fill fill = {.diagram = asked->diagram,
                             .columns = columns_of(asked),
                             .is_grouped = lines->is_grouped};
    size_t column_bytes = lines->is_grouped ? 8 : 4;
    size_t length = HEAD_BYTES + lines->count * (8 + fill.columns.count * column_bytes);
    unsigned char *bytes = calloc(1, length), *out = bytes;
    const uint32_t *rows = lines->rows.items;

    fill.cells = calloc(fill.columns.window.columns + 1, sizeof *fill.cells);
    fill.spreads = calloc(fill.columns.window.columns + 1, sizeof *fill.spreads);
    if (!fill.cells || !fill.spreads || !bytes) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        free(bytes);
    } else {
        out = put_head(asked->query, lines, out);
        for (size_t i = 0; i < lines->count; rows += lines->counts[i++])
            out = put_line(&fill, rows, lines->counts[i], out);
        *asked->reply = (struct esi_page_reply){.status = 200,
                                                .type = "application/octet-stream",
                                                .bytes = (char *)bytes,
                                                .length = length};
    }
    free(fill.cells);
    free(fill.spreads);
}

void esi_page_make_window(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct page_lines lines = {.count = 0};

    (void)row;
    if (list_lines(asked, &lines) && check_size(asked, &lines))
        fill_window(asked, &lines);
    free(lines.rows.items);
    free(lines.counts);
}

/* --- Profile ---------------------------------------------------------------------- */

/* Adds the shares of a thread's states, by column. */
static void add_profile(double *sums,
                        const struct page_columns *columns,
                        const struct esi_diagram_cell *cells)
{
    double width = columns->is_fine ? 1 : columns->step;

    for (uint32_t i = 0; i < columns->count; i++) {
        int64_t cell = cell_of(columns, i);

        for (int state = 0; state < ESI_DIAGRAM_STATES && cell >= 0; state++)
            sums[(size_t)state * columns->count + i] += cells[cell].of[state] / width;
    }
}

static void put_profile(struct esi_row *row, const double *sums, uint32_t columns)
{
    esi_row_unsigned(row, "columns", NULL, columns);
    esi_row_begin_array(row, "states");
    for (int state = 0; state < ESI_DIAGRAM_STATES; state++) {
        esi_row_begin_array(row, NULL);
        for (uint32_t i = 0; i < columns; i++)
            esi_row_real(row, NULL, NULL, round(*sums++ * 1000) / 1000);
        esi_row_end(row);
    }
    esi_row_end(row);
}

void esi_page_make_profile(const struct esi_page_asked *asked, struct esi_row *row)
{
    const struct page_columns columns = columns_of(asked);
    struct esi_diagram_cell *cells = calloc(columns.window.columns + 1, sizeof *cells);
    double *sums = calloc((size_t)columns.count * ESI_DIAGRAM_STATES, sizeof *sums);
    struct esi_page_row_list rows;

    if (!cells || !sums) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else if (esi_page_list_rows(asked, &rows)) {
        for (size_t i = 0; i < rows.count; i++)
            if (esi_diagram_cells(asked->diagram, rows.items[i], &columns.window,
                                  cells) == 0)
                add_profile(sums, &columns, cells);
        put_profile(row, sums, columns.count);
        free(rows.items);
    }
    free(cells);
    free(sums);
}

/* --- Messages --------------------------------------------------------------------- */

enum { BUCKETS = 64 }; /* maximum per side of a matrix */

struct message_sum {
    uint64_t messages;
    uint64_t bytes;
    double late_ns;
};

/* Messages of a window and their sums. */
struct message_list {
    struct esi_page_row_list rows;
    bool *is_wanted;                   /* owned; by row, like `buckets` */
    uint32_t *buckets;                 /* owned */
    size_t bucket;                     /* rows per bucket */
    size_t size;                       /* number of buckets */
    struct message_sum *sums;          /* owned; by sender's bucket, then receiver's */
    struct esi_diagram_message *items; /* owned: the first ones */
    size_t room;
    uint64_t count;
};

static int take_message(void *data, const struct esi_diagram_message *message)
{
    struct message_list *list = data;
    struct message_sum *sum = &list->sums[list->buckets[message->rows[0]] * list->size +
                                          list->buckets[message->rows[1]]];

    if (list->count < list->room)
        list->items[list->count] = *message;
    list->count++;
    sum->messages++;
    sum->bytes += message->bytes;
    sum->late_ns += (double)message->late_ns;
    return 0;
}

static void free_messages(struct message_list *list)
{
    free(list->rows.items);
    free(list->is_wanted);
    free(list->buckets);
    free(list->sums);
    free(list->items);
}

/* Lists the first `room` messages of the window, and sums up all.  Returns false if the
 * reply contains an error. */
static bool list_messages(const struct esi_page_asked *asked,
                          size_t room,
                          struct message_list *list)
{
    const struct esi_diagram_window window = esi_page_window_of(asked);
    size_t all = asked->extent.rows;

    if (!esi_page_list_rows(asked, &list->rows))
        return false;
    list->bucket = (list->rows.count + BUCKETS - 1) / BUCKETS;
    if (list->bucket == 0)
        list->bucket = 1;
    list->size = (list->rows.count + list->bucket - 1) / list->bucket;
    list->room = room;
    list->is_wanted = calloc(all + 1, sizeof *list->is_wanted);
    list->buckets = calloc(all + 1, sizeof *list->buckets);
    list->sums = calloc(list->size * list->size + 1, sizeof *list->sums);
    list->items = calloc(room + 1, sizeof *list->items);
    if (!list->is_wanted || !list->buckets || !list->sums || !list->items) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return false;
    }
    for (size_t i = 0; i < list->rows.count; i++) {
        list->is_wanted[list->rows.items[i]] = true;
        list->buckets[list->rows.items[i]] = (uint32_t)(i / list->bucket);
    }
    esi_diagram_foreach_message(asked->diagram, &window, list->is_wanted, take_message,
                                list);
    return true;
}

static void put_message(const struct esi_page_asked *asked,
                        struct esi_row *row,
                        const struct esi_diagram_message *message)
{
    esi_row_begin_array(row, NULL);
    for (int end = 0; end < 2; end++) {
        esi_row_unsigned(row, NULL, NULL, message->rows[end]);
        esi_row_unsigned(row, NULL, NULL, message->events[end].index);
        esi_row_real(row, NULL, NULL, esi_page_ns(asked, message->ns[end]));
        esi_row_unsigned(row, NULL, NULL, message->level[end]);
    }
    esi_row_unsigned(row, NULL, NULL, message->bytes);
    esi_row_unsigned(row, NULL, NULL, message->late_ns);
    esi_row_end(row);
}

/* Writes the sums that are not empty; `name_of` names the buckets. */
static void put_sums(struct esi_row *row,
                     const char *key,
                     const struct message_list *list,
                     uint32_t (*name_of)(const struct message_list *list,
                                         size_t bucket))
{
    esi_row_begin_array(row, key);
    for (size_t i = 0; i < list->size * list->size; i++) {
        const struct message_sum *sum = &list->sums[i];

        if (sum->messages == 0)
            continue;
        esi_row_begin_array(row, NULL);
        esi_row_unsigned(row, NULL, NULL, name_of(list, i / list->size));
        esi_row_unsigned(row, NULL, NULL, name_of(list, i % list->size));
        esi_row_unsigned(row, NULL, NULL, sum->messages);
        esi_row_unsigned(row, NULL, NULL, sum->bytes);
        esi_row_real(row, NULL, NULL, sum->late_ns);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static uint32_t first_row_of(const struct message_list *list, size_t bucket)
{
    return list->rows.items[bucket * list->bucket];
}

static uint32_t number_of(const struct message_list *list, size_t bucket)
{
    (void)list;
    return (uint32_t)bucket;
}

void esi_page_make_messages(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct message_list list = {.count = 0};
    bool is_complete;

    if (list_messages(asked, asked->query->limit, &list)) {
        is_complete = list.count <= list.room;
        esi_row_bool(row, "complete", NULL, is_complete);
        esi_row_unsigned(row, "count", NULL, list.count);
        if (is_complete) {
            esi_row_begin_array(row, "messages");
            for (size_t i = 0; i < list.count; i++)
                put_message(asked, row, &list.items[i]);
            esi_row_end(row);
        } else {
            esi_row_unsigned(row, "bucket", NULL, list.bucket);
            put_sums(row, "pairs", &list, first_row_of);
        }
    }
    free_messages(&list);
}

void esi_page_make_matrix(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct message_list list = {.count = 0};

    if (list_messages(asked, 0, &list)) {
        esi_row_unsigned(row, "bucket", NULL, list.bucket);
        esi_row_unsigned(row, "size", NULL, list.size);
        put_sums(row, "messages", &list, number_of);
    }
    free_messages(&list);
}
