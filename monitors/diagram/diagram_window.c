/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_window.c - the content of a window: cells, groups, calls and messages. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "monitors/diagram/diagram_private.h"

/* --- Rows as tracks --------------------------------------------------------------- */

static struct esi_track_item call_at(const void *data, uint64_t number)
{
    const struct esi_diagram_thread *thread = data;
    const struct esi_diagram_span *span = esi_diagram_span_at(&thread->calls, number);

    return (struct esi_track_item){span->begin_ns, span->end_ns,
                                   (enum esi_diagram_state)span->state};
}

struct leveled_thread {
    const struct esi_diagram *diagram;
    const struct esi_diagram_thread *thread;
};

/* The activity of an event's thread. */
static enum esi_diagram_state state_of_event(const struct esi_diagram_thread *thread,
                                             const struct esi_diagram_moment *moment)
{
    uint32_t number = moment->call & ~ESI_DIAGRAM_FLIGHT;
    const struct esi_diagram_spans *spans =
        moment->call & ESI_DIAGRAM_FLIGHT ? &thread->flights : &thread->calls;

    if (moment->call == UINT32_MAX)
        return (enum esi_diagram_state)thread->open.state;
    if (number < spans->first || number - spans->first >= spans->count)
        return ESI_DIAGRAM_OTHER;
    return (enum esi_diagram_state)spans->items[number - spans->first].state;
}

static struct esi_track_item event_at(const void *data, uint64_t number)
{
    const struct esi_diagram_thread *thread = data;
    const struct esi_diagram_moment *moment =
        &thread->moments[number - thread->moment_first];

    return (struct esi_track_item){moment->level, (uint64_t)moment->level + 1,
                                   state_of_event(thread, moment)};
}

uint64_t esi_diagram_thread_end(const struct esi_diagram *diagram,
                                const struct esi_diagram_thread *thread)
{
    uint64_t end_ns = thread->tracks[ESI_DIAGRAM_TIME].end;
    uint64_t last_ns = thread->is_over ? 0 : diagram->now_ns;

    if (thread->is_open && thread->open_until_ns > 0)
        last_ns = thread->open_until_ns;
    if (thread->is_open && thread->open.begin_ns > last_ns)
        last_ns = thread->open.begin_ns;
    return last_ns > end_ns ? last_ns : end_ns;
}

/* The valid range of a row on an axis: from its first event to its end. */
struct row_range {
    uint64_t begin;
    uint64_t end;
};

static struct row_range range_of(const struct esi_diagram *diagram,
                                 const struct esi_diagram_thread *thread,
                                 enum esi_diagram_axis axis)
{
    const struct esi_track *track = &thread->tracks[axis];

    if (axis == ESI_DIAGRAM_TIME)
        return (struct row_range){thread->begin_ns,
                                  esi_diagram_thread_end(diagram, thread)};
    return (struct row_range){track->mark_count > 0 ? track->marks[0].begin : 0,
                              track->end};
}

/* --- Cells ------------------------------------------------------------------------ */

static uint64_t position_of(const struct esi_diagram_window *window, uint32_t column)
{
    return window->from + (uint64_t)((double)(window->to - window->from) *
                                     (double)column / (double)window->columns);
}

static uint64_t overlap_of(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    uint64_t first = from > begin ? from : begin;
    uint64_t last = to < end ? to : end;

    return last > first ? last - first : 0;
}

/* Adds the operation in progress, which has no end mark. */
static void add_open(const struct esi_diagram *diagram,
                     const struct esi_diagram_thread *thread,
                     uint64_t from,
                     uint64_t to,
                     struct esi_diagram_cell *cell)
{
    const struct row_range row = range_of(diagram, thread, ESI_DIAGRAM_TIME);
    uint64_t ns = overlap_of(from, to, thread->open.begin_ns, row.end);

    cell->of[thread->open.state] += (double)ns;
    cell->of[ESI_DIAGRAM_COMPUTING] -= (double)ns;
    cell->calls += thread->open.begin_ns >= from && thread->open.begin_ns < to;
}

static const struct esi_gaps *gaps_of(const struct esi_diagram *diagram,
                                      const struct esi_diagram_thread *thread)
{
    return &diagram->traces[thread->trace].gaps;
}

/* In a gap nothing is known, even if some calls are. */
static void hatch_gaps(const struct esi_gaps *gaps,
                       uint64_t from,
                       uint64_t to,
                       struct esi_diagram_cell *cell)
{
    uint64_t lost = esi_gaps_overlap(gaps, from, to);

    if (lost == 0)
        return;
    for (int state = 0; state < ESI_DIAGRAM_STATES; state++)
        cell->of[state] *= (double)(to - from - lost) / (double)(to - from);
    cell->of[ESI_DIAGRAM_LOST] = (double)lost;
}

static void fill_cells(const struct esi_diagram *diagram,
                       const struct esi_diagram_thread *thread,
                       const struct esi_diagram_window *window,
                       struct esi_diagram_cell *cells)
{
    bool is_time = window->axis == ESI_DIAGRAM_TIME;
    const struct esi_track_items items = {.at = is_time ? call_at : event_at,
                                          .data = thread,
                                          .first = is_time ? thread->calls.first
                                                           : thread->moment_first};
    const struct row_range row = range_of(diagram, thread, window->axis);
    struct esi_track_walk walk = esi_track_walk(&thread->tracks[window->axis], &items);
    struct esi_track_sums before, after;
    uint64_t from = window->from;

    esi_track_sums_at(&walk, from, &before);
    for (uint32_t i = 0; i < window->columns; i++) {
        uint64_t to = position_of(window, i + 1);
        double rest = (double)overlap_of(from, to, row.begin, row.end);

        esi_track_sums_at(&walk, to, &after);
        for (int state = 1; state < ESI_DIAGRAM_STATES; state++) {
            cells[i].of[state] = (double)(after.of[state] - before.of[state]);
            rest -= cells[i].of[state];
        }
        cells[i].of[ESI_DIAGRAM_COMPUTING] = rest;
        cells[i].calls = (double)(after.items - before.items);
        if (is_time && thread->is_open)
            add_open(diagram, thread, from, to, &cells[i]);
        if (cells[i].of[ESI_DIAGRAM_COMPUTING] < 0)
            cells[i].of[ESI_DIAGRAM_COMPUTING] = 0;
        if (is_time)
            hatch_gaps(gaps_of(diagram, thread), from, to, &cells[i]);
        before = after;
        from = to;
    }
}

static bool is_window(const struct esi_diagram_window *window)
{
    return window->columns > 0 && window->to > window->from;
}

int esi_diagram_cells(struct esi_diagram *diagram,
                      uint32_t row,
                      const struct esi_diagram_window *window,
                      struct esi_diagram_cell *ret_cells)
{
    const struct esi_diagram_thread *thread;

    if (!is_window(window))
        return -EINVAL;
    pthread_mutex_lock(&diagram->lock);
    thread = esi_diagram_thread(diagram, row);
    if (thread)
        fill_cells(diagram, thread, window, ret_cells);
    pthread_mutex_unlock(&diagram->lock);
    return thread ? 0 : -EINVAL;
}

/* --- Groups ----------------------------------------------------------------------- */

/* The share of a cell outside computing; negative if the cell is empty. */
static float busy_share(const struct esi_diagram_cell *cell)
{
    double busy = 0;

    for (int state = 1; state < ESI_DIAGRAM_STATES; state++)
        busy += cell->of[state];
    if (busy + cell->of[ESI_DIAGRAM_COMPUTING] <= 0)
        return -1;
    return (float)(busy / (busy + cell->of[ESI_DIAGRAM_COMPUTING]));
}

static void add_cell(struct esi_diagram_cell *sum, const struct esi_diagram_cell *cell)
{
    for (int state = 0; state < ESI_DIAGRAM_STATES; state++)
        sum->of[state] += cell->of[state];
    sum->calls += cell->calls;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The distribution of one column; `shares` are by row, and `room` has the same size. */
static struct esi_diagram_spread spread_of(const float *shares,
                                           const uint32_t *rows,
                                           size_t count,
                                           float *room)
{
    struct esi_diagram_spread spread = {.outlier = UINT32_MAX};
    float farthest = -1;
    size_t there = 0;

    for (size_t i = 0; i < count; i++)
        if (shares[i] >= 0)
            room[there++] = shares[i];
    if (there == 0)
        return spread;
    qsort(room, there, sizeof *room, compare_floats);
    spread.least = room[0];
    spread.median = room[there / 2];
    spread.most = room[there - 1];
    for (size_t i = 0; i < count; i++) {
        float distance = fabsf(shares[i] - spread.median);

        if (shares[i] >= 0 && distance > farthest) {
            farthest = distance;
            spread.outlier = rows[i];
        }
    }
    return spread;
}

/* Memory for a group of rows. */
struct group_room {
    struct esi_diagram_cell *cells; /* of one row */
    float *shares;                  /* by column, then by row */
    float *sorted;
};

static int fill_group(struct esi_diagram *diagram,
                      const uint32_t *rows,
                      size_t row_count,
                      const struct esi_diagram_window *window,
                      struct esi_diagram_cell *cells,
                      const struct group_room *room)
{
    for (size_t i = 0; i < row_count; i++) {
        int result = esi_diagram_cells(diagram, rows[i], window, room->cells);

        if (result < 0)
            return result;
        for (uint32_t column = 0; column < window->columns; column++) {
            add_cell(&cells[column], &room->cells[column]);
            room->shares[column * row_count + i] = busy_share(&room->cells[column]);
        }
    }
    return 0;
}

int esi_diagram_group_cells(struct esi_diagram *diagram,
                            const uint32_t *rows,
                            size_t row_count,
                            const struct esi_diagram_window *window,
                            struct esi_diagram_cell *ret_cells,
                            struct esi_diagram_spread *ret_spreads)
{
    const struct group_room room = {
        .cells = calloc(window->columns, sizeof *room.cells),
        .shares = calloc(row_count * window->columns + 1, sizeof *room.shares),
        .sorted = calloc(row_count + 1, sizeof *room.sorted)};
    int result = room.cells && room.shares && room.sorted ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < window->columns; i++)
        ret_cells[i] = (struct esi_diagram_cell){.calls = 0};
    if (result == 0)
        result = fill_group(diagram, rows, row_count, window, ret_cells, &room);
    for (uint32_t i = 0; i < window->columns && result == 0; i++)
        ret_spreads[i] =
            spread_of(&room.shares[i * row_count], rows, row_count, room.sorted);
    free(room.cells);
    free(room.shares);
    free(room.sorted);
    return result;
}

/* --- Calls ------------------------------------------------------------------------ */

static bool is_in(const struct esi_diagram_window *window,
                  const struct esi_diagram_call *call,
                  uint64_t now_ns)
{
    uint64_t end_ns = call->end_ns == 0 ? now_ns : call->end_ns;

    if (window->axis == ESI_DIAGRAM_LEVEL)
        return call->level[0] < window->to && call->level[1] >= window->from;
    return call->begin_ns < window->to && end_ns >= window->from;
}

struct call_list {
    const struct esi_diagram *diagram;
    const struct esi_diagram_thread *thread;
    const struct esi_diagram_window *window;
    struct esi_diagram_call *calls;
    size_t room;
    int64_t count;
};

static void list_call(struct call_list *list, const struct esi_diagram_span *span)
{
    struct esi_diagram_call call;

    esi_diagram_fill_call(list->diagram, list->thread, span, &call);
    if (!is_in(list->window, &call,
               esi_diagram_thread_end(list->diagram, list->thread)))
        return;
    if ((size_t)list->count < list->room)
        list->calls[list->count] = call;
    list->count++;
}

/* The first of the spans, which are sorted, that may end in the window or after it. */
static size_t first_span(const struct esi_diagram_thread *thread,
                         const struct esi_diagram_spans *spans,
                         const struct esi_diagram_window *window)
{
    size_t low = 0, high = spans->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct esi_diagram_span *span = &spans->items[middle];
        const struct esi_diagram_moment *moment =
            esi_diagram_moment_at(thread, span->event);
        bool is_before = window->axis == ESI_DIAGRAM_TIME
                             ? span->end_ns < window->from
                             : moment && moment->level < window->from;

        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

static bool is_behind(const struct esi_diagram_thread *thread,
                      const struct esi_diagram_span *span,
                      const struct esi_diagram_window *window)
{
    const struct esi_diagram_moment *moment =
        esi_diagram_moment_at(thread, span->event);

    return window->axis == ESI_DIAGRAM_TIME ? span->begin_ns >= window->to
                                            : moment && moment->level >= window->to;
}

static void list_sorted(struct call_list *list, const struct esi_diagram_spans *spans)
{
    for (size_t i = first_span(list->thread, spans, list->window);
         i < spans->count && !is_behind(list->thread, &spans->items[i], list->window);
         i++)
        list_call(list, &spans->items[i]);
}

/* Flights overlap on run time. */
static void list_flights(struct call_list *list)
{
    const struct esi_diagram_thread *thread = list->thread;
    const struct esi_diagram_spans *flights = &thread->flights;
    uint64_t last = flights->first + flights->count;

    for (uint64_t i = flights->first;
         (i = esi_bounds_next(&thread->bounds, i, last, list->window->from,
                              list->window->to)) < last;
         i++)
        list_call(list, esi_diagram_span_at(flights, i));
}

/* The calls that are known in a gap are drawn above it. */
static void list_gap(struct call_list *list, const struct esi_gap *gap)
{
    const struct esi_diagram_span span = {
        .begin_ns = gap->begin_ns,
        .end_ns = gap->end_ns,
        .event = esi_diagram_lower_bound(list->thread, ESI_DIAGRAM_TIME, gap->end_ns),
        .what = UINT32_MAX,
        .peer = ES_PEER_NONE,
        .state = ESI_DIAGRAM_LOST,
    };

    if (list->window->axis == ESI_DIAGRAM_TIME)
        list_call(list, &span);
}

int64_t esi_diagram_calls(struct esi_diagram *diagram,
                          uint32_t row,
                          const struct esi_diagram_window *window,
                          struct esi_diagram_call *ret_calls,
                          size_t room)
{
    struct call_list list = {
        .diagram = diagram, .window = window, .calls = ret_calls, .room = room};
    const struct esi_diagram_thread *thread;

    if (!is_window(window))
        return -EINVAL;
    pthread_mutex_lock(&diagram->lock);
    list.thread = thread = esi_diagram_thread(diagram, row);
    if (!thread) {
        pthread_mutex_unlock(&diagram->lock);
        return -EINVAL;
    }
    for (size_t i = 0; i < gaps_of(diagram, thread)->count; i++)
        list_gap(&list, &gaps_of(diagram, thread)->items[i]);
    list_sorted(&list, &thread->calls);
    if (thread->is_open)
        list_call(&list, &thread->open);
    if (window->axis == ESI_DIAGRAM_LEVEL) /* in the order of their events */
        list_sorted(&list, &thread->flights);
    else
        list_flights(&list);
    pthread_mutex_unlock(&diagram->lock);
    return list.count;
}

/* --- Messages --------------------------------------------------------------------- */

uint32_t esi_diagram_lower_bound(const struct esi_diagram_thread *thread,
                                 enum esi_diagram_axis axis,
                                 uint64_t position)
{
    size_t low = 0, high = thread->moment_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct esi_diagram_moment *moment = &thread->moments[middle];

        if ((axis == ESI_DIAGRAM_TIME ? moment->ns : moment->level) < position)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)(thread->moment_first + low + 1);
}

/* How long a call of the receiver had waited when the message was sent. */
static uint64_t late_of(const struct esi_diagram *diagram,
                        const struct esi_diagram_thread *receiver,
                        const struct esi_diagram_moment *received,
                        uint64_t sent_ns)
{
    const struct esi_diagram_spans *calls = &receiver->calls;
    const struct esi_diagram_span *call;
    uint64_t begin_ns;

    if (received->waiter < calls->first ||
        received->waiter - calls->first >= calls->count)
        return 0;
    call = esi_diagram_span_at(calls, received->waiter);
    begin_ns = esi_diagram_wait_begin(diagram, call);
    if (sent_ns > call->end_ns)
        sent_ns = call->end_ns;
    return sent_ns > begin_ns ? sent_ns - begin_ns : 0;
}

static uint32_t bytes_of(const struct esi_diagram_thread *receiver,
                         const struct esi_diagram_moment *received)
{
    uint64_t number = received->call & ~ESI_DIAGRAM_FLIGHT;
    const struct esi_diagram_spans *spans =
        received->call & ESI_DIAGRAM_FLIGHT ? &receiver->flights : &receiver->calls;

    return number >= spans->first && number - spans->first < spans->count
               ? esi_diagram_span_at(spans, number)->bytes
               : 0;
}

static uint64_t place_of(const struct esi_diagram_moment *moment,
                         enum esi_diagram_axis axis)
{
    return axis == ESI_DIAGRAM_TIME ? moment->ns : moment->level;
}

struct message_visit {
    const struct esi_diagram *diagram;
    const struct esi_diagram_window *window;
    const bool *is_wanted;
    int (*visit)(void *data, const struct esi_diagram_message *message);
    void *data;
};

/* Whether an event is the end of a message, or the like. */
static bool is_receipt(const struct esi_diagram_moment *moment)
{
    return moment->kind == ES_EVENT_RECEIVE ||
           (moment->kind == ES_EVENT_SYNC && moment->role == ESI_ROLE_RECEIVE);
}

/* Visits a message from either end; if both are in the window, only from the
 * receive. */
static int visit_message(const struct message_visit *visit,
                         const struct esi_diagram_thread *thread,
                         uint32_t index)
{
    const struct esi_diagram_moment *moment = esi_diagram_moment_at(thread, index);
    struct esi_diagram_thread *other =
        moment->partner.index > 0
            ? esi_diagram_thread_of(visit->diagram, moment->partner.trace)
            : NULL;
    const struct esi_diagram_moment *end =
        other ? esi_diagram_moment_at(other, moment->partner.index) : NULL;
    bool is_receive = is_receipt(moment);
    const struct esi_diagram_moment *sent = is_receive ? end : moment;
    const struct esi_diagram_moment *received = is_receive ? moment : end;
    const struct esi_diagram_thread *sender = is_receive ? other : thread;
    const struct esi_diagram_thread *receiver = is_receive ? thread : other;
    uint64_t place = end ? place_of(end, visit->window->axis) : 0;
    struct esi_diagram_message message;

    if (!end || !is_receipt(received) ||
        (!is_receive && place >= visit->window->from && place < visit->window->to))
        return 0;
    message = (struct esi_diagram_message){
        .rows = {visit->diagram->traces[sender->trace].row,
                 visit->diagram->traces[receiver->trace].row},
        .events = {{sender->trace, (uint32_t)(sender->moment_first +
                                              (uint64_t)(sent - sender->moments) + 1)},
                   {receiver->trace,
                    (uint32_t)(receiver->moment_first +
                               (uint64_t)(received - receiver->moments) + 1)}},
        .ns = {sent->ns, received->ns},
        .level = {sent->level, received->level},
        .bytes = bytes_of(receiver, received),
        .late_ns = late_of(visit->diagram, receiver, received, sent->ns),
    };
    if (visit->is_wanted &&
        !(visit->is_wanted[message.rows[0]] && visit->is_wanted[message.rows[1]]))
        return 0;
    return visit->visit(visit->data, &message);
}

int esi_diagram_foreach_message(struct esi_diagram *diagram,
                                const struct esi_diagram_window *window,
                                const bool *is_wanted,
                                int (*visit)(void *data,
                                             const struct esi_diagram_message *message),
                                void *data)
{
    const struct message_visit all = {diagram, window, is_wanted, visit, data};
    int result = 0;

    pthread_mutex_lock(&diagram->lock);
    for (size_t row = 0; row < diagram->thread_count && result == 0; row++) {
        const struct esi_diagram_thread *thread = diagram->threads[row];
        uint32_t index, last;

        if (is_wanted && !is_wanted[row])
            continue;
        index = esi_diagram_lower_bound(thread, window->axis, window->from);
        last = esi_diagram_lower_bound(thread, window->axis, window->to);
        for (; index < last && result == 0; index++)
            result = visit_message(&all, thread, index);
    }
    pthread_mutex_unlock(&diagram->lock);
    return result;
}
