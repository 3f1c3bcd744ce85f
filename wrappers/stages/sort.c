/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sort.c - merges what its children emit into one sequence ordered by real time.
 *
 * Children emit their tuples nearly in order: only a receive whose number was undecided
 * is late.  So each child has a lane of a bounded number of tuples, kept in order by
 * insertion, and a heap finds the smallest of the lanes' heads (Knuth, The Art of
 * Computer Programming 3, 5.4.1).  The tuples before the other lanes' heads are a run:
 * its end is found by doubling steps, and it is emitted at once.  After a long run of
 * an element that has emptied its lane, the next tuples are read directly into the
 * batch, and move to the lane only if they are not all next.
 *
 * A tuple is emitted when it is older than the window (everything before it has arrived
 * by then) or when the stage is drained.  A tuple that arrives later is emitted at once
 * and counted as late.
 *
 * Tuples of one element are never reordered: the key of a tuple is its time, or the key
 * of the previous tuple in the element if that is greater.  So the tuples of an element
 * that the stage holds are a suffix. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "eventspace/summary.h"
#include "wrappers/stages/gather.h"
#include "wrappers/stages/lane.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_BY, PROPERTY_WINDOW, PROPERTY_BUFFER, PROPERTY_MODE };
/* Tuples taken from a child at once.  Fewer if there are many children, because the
 * contents of all lanes should stay in a cache, and from an element at first, because
 * the rest may follow without passing the lane. */
enum { FIRST_CHUNK = 8, LEAST_CHUNK = 16, MOST_CHUNK = 64, CACHED = 16384 };

static const char *const keys[] = {"stop", "start", NULL};

static const struct es_property_schema properties[] = {
    [PROPERTY_BY] = {.name = "by",
                     .type = ES_PROPERTY_CHOICE,
                     .fallback = "stop",
                     .choices = keys,
                     .help = "the time that orders"},
    [PROPERTY_WINDOW] = {.name = "window",
                         .type = ES_PROPERTY_DURATION,
                         .fallback = "10ms",
                         .maximum = INT64_C(3600000000000),
                         .help = "how long tuples are held back for late ones"},
    [PROPERTY_BUFFER] = {.name = "buffer",
                         .type = ES_PROPERTY_INTEGER,
                         .fallback = "1024",
                         .minimum = MOST_CHUNK,
                         .maximum = 1 << 24,
                         .help = "tuples kept per child at most"},
    [PROPERTY_MODE] = ESI_FAN_MODE,
};

struct sort {
    bool by_start;
    bool over_elements; /* all children are elements: a lane has tuples of one */
    bool sequential;    /* children are not asked before they are pulled */
    uint64_t asked;     /* serial of the announced pull; 0 if none */
    bool is_outermost;  /* see esi_stage_is_outermost() */
    uint64_t window_ns;
    size_t buffer;
    size_t chunk;
    size_t first;       /* index in the batch of this pull's first tuple */
    size_t least_run;   /* a run of an element that is extended: see extend_run() */
    uint64_t edge_ns;   /* of this pull: the largest key that may be emitted */
    uint64_t newest_ns; /* key of the last tuple emitted */
    uint64_t *keys_ns;  /* owned; by origin: key of the element's last tuple */
    size_t key_count;
    size_t key_capacity;
    struct esi_lane *lanes; /* one per child */
    struct esi_heap heap;   /* keys of the lanes' heads, and the lanes' indices */
};

static void destroy_sort(struct sort *sort, size_t lane_count)
{
    if (sort->lanes)
        for (size_t i = 0; i < lane_count; i++)
            esi_lane_fini(&sort->lanes[i]);
    free(sort->keys_ns);
    esi_heap_fini(&sort->heap);
    free(sort->lanes);
    free(sort);
}

static size_t chunk_of(size_t child_count)
{
    size_t chunk = CACHED / (child_count + 1);

    return chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk > MOST_CHUNK ? MOST_CHUNK : chunk;
}

static bool is_over_elements(const struct es_stage *stage)
{
    for (size_t i = 0; i < stage->child_count; i++)
        if (stage->children[i]->ops != &esi_stage_element)
            return false;
    return true;
}

static int open_sort(struct es_stage *stage,
                     const struct es_property_value *values,
                     struct es_error *error)
{
    struct sort *sort = calloc(1, sizeof *sort);

    (void)error;
    if (!sort)
        return -ENOMEM;
    sort->by_start = values[PROPERTY_BY].integer == 1;
    sort->over_elements = is_over_elements(stage);
    sort->sequential = values[PROPERTY_MODE].integer != 0;
    sort->window_ns = (uint64_t)values[PROPERTY_WINDOW].integer;
    sort->buffer = (size_t)values[PROPERTY_BUFFER].integer;
    sort->chunk = chunk_of(stage->child_count);
    sort->least_run = FIRST_CHUNK;
    sort->lanes = calloc(stage->child_count + 1, sizeof *sort->lanes);
    if (!sort->lanes || esi_heap_reserve(&sort->heap, stage->child_count) < 0) {
        destroy_sort(sort, stage->child_count);
        return -ENOMEM;
    }
    stage->state = sort;
    return 0;
}

static void close_sort(struct es_stage *stage)
{
    destroy_sort(stage->state, stage->child_count);
}

/* Makes room for the keys of all current origins. */
static int reserve_keys(const struct es_stage *stage, struct sort *sort)
{
    size_t count = stage->context->origins->count;

    if (ESI_ARRAY_RESERVE(sort->keys_ns, sort->key_capacity, count) < 0)
        return -ENOMEM;
    for (; sort->key_count < count; sort->key_count++)
        sort->keys_ns[sort->key_count] = 0;
    return 0;
}

/* The number of marks at the front that belong to one element, or to tuples without a
 * place in an element's order. */
static size_t count_alike(const struct sort *sort,
                          const struct es_mark *marks,
                          size_t count)
{
    size_t alike = sort->over_elements ? count : 1;

    while (alike < count && marks[alike].origin == marks->origin &&
           marks[alike].flags == marks->flags)
        alike++;
    return alike;
}

/* Assigns keys to `count` tuples of the lane starting at `index`, all of one kind.
 * Times of summaries are real time already. */
static void key_tuples(const struct es_stage *stage,
                       struct sort *sort,
                       struct esi_lane *lane,
                       size_t index,
                       size_t count)
{
    const struct es_tuple *tuples = esi_lane_tuples(lane) + index;
    const struct es_mark *mark = esi_lane_marks(lane) + index;
    uint64_t *keys_ns = esi_lane_keys(lane) + index;
    uint64_t last_ns = sort->keys_ns[mark->origin];

    for (size_t i = 0; i < count; i++)
        keys_ns[i] = sort->by_start ? tuples[i].start : tuples[i].stop;
    if (!es_mark_is_summary(mark))
        esi_origin_run_each(&stage->context->origins->items[mark->origin], keys_ns,
                            count);
    for (size_t i = 0; mark->flags == 0 && i < count; i++)
        last_ns = keys_ns[i] = keys_ns[i] > last_ns ? keys_ns[i] : last_ns;
    sort->keys_ns[mark->origin] = last_ns;
}

/* Sorts the tuples of a lane emitted by a child, starting at `first`. */
static int queue_tuples(const struct es_stage *stage,
                        struct sort *sort,
                        struct esi_lane *lane,
                        size_t first)
{
    const struct es_places *places = stage->context->places;
    const struct es_mark *marks = esi_lane_marks(lane);
    size_t end = esi_lane_count(lane);
    int result = ESI_ARRAY_RESERVE(lane->keys, lane->key_capacity, lane->batch.count);

    if (result == 0)
        result = reserve_keys(stage, sort);
    if (result < 0)
        return result;
    for (size_t i = first, count; i < end; i += count) {
        count = count_alike(sort, &marks[i], end - i);
        key_tuples(stage, sort, lane, i, count);
        if (places && marks[i].flags == 0)
            esi_place_keep(&places->items[marks[i].origin], marks[i].position, count);
    }
    for (size_t i = first ? first : 1; i < end && !sort->over_elements; i++)
        if (esi_lane_keys(lane)[i - 1] > esi_lane_keys(lane)[i])
            esi_lane_settle(lane, i);
    return 0;
}

/* The next request to a child.  A remote one is asked for all that fits, because each
 * request costs a round trip. */
static struct es_pull request_of(const struct es_stage *stage,
                                 size_t child,
                                 size_t chunk,
                                 const struct es_pull *pull)
{
    const struct sort *sort = stage->state;
    const struct esi_lane *lane = &sort->lanes[child];
    struct es_pull part = *pull;

    part.serial = lane->serial + 1;
    part.max =
        stage->children[child]->asks ? sort->buffer - esi_lane_count(lane) : chunk;
    return part;
}

/* How many more tuples this pull may emit. */
static size_t room_left(const struct sort *sort,
                        const struct es_pull *pull,
                        const struct es_batch *batch)
{
    return pull->max - (batch->count - sort->first);
}

/* Pulls one child once.  Operations under way leave room for a completed one, so that
 * each pull makes progress. */
static int refill_once(struct es_stage *stage,
                       size_t child,
                       size_t chunk,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct sort *sort = stage->state;
    struct esi_lane *lane = &sort->lanes[child];
    struct es_pull part = request_of(stage, child, chunk, pull);
    size_t before = esi_lane_count(lane);
    size_t room = room_left(sort, pull, batch);
    int result = esi_lane_pull(lane, stage->children[child], &part,
                               room > 0 ? room - 1 : 0, batch);

    return result < 0 ? result : queue_tuples(stage, sort, lane, before);
}

/* Returns whether the child must be pulled when `emitted` more tuples have left its
 * lane: it then no longer reaches beyond the window.  The keys of an element never
 * decrease, so it is pulled only for the next tuple, or to hold all that this pull may
 * not emit. */
static bool has_room(const struct sort *sort,
                     const struct esi_lane *lane,
                     size_t emitted)
{
    const uint64_t *keys_ns = esi_lane_keys(lane);
    size_t count = esi_lane_count(lane);

    if (count == emitted)
        return true;
    if (count - emitted + sort->chunk > sort->buffer)
        return false;
    return sort->over_elements
               ? keys_ns[count - 1] > sort->edge_ns
               : keys_ns[count - 1] - keys_ns[emitted] < sort->window_ns;
}

/* Fills a lane until it reaches far enough, is full, or the child has no more. */
static int sort_refill(struct es_stage *stage,
                       size_t child,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct sort *sort = stage->state;
    struct esi_lane *lane = &sort->lanes[child];

    while (!lane->exhausted && has_room(sort, lane, 0)) {
        int result = refill_once(stage, child, sort->chunk, pull, batch);

        if (result < 0)
            return result;
    }
    return 0;
}

/* Returns whether a run of the lane ends before the tuple at `index`: its key is above
 * `last_ns`, or the child must be pulled by then. */
static bool ends_run(const struct sort *sort,
                     const struct esi_lane *lane,
                     size_t index,
                     uint64_t last_ns)
{
    return esi_lane_keys(lane)[index] > last_ns ||
           (!lane->exhausted && has_room(sort, lane, index));
}

/* How many tuples of a lane, at most `room`, are next: up to the key `last_ns`, or
 * until the child must be pulled.  The first one is. */
static size_t run_length(const struct sort *sort,
                         const struct esi_lane *lane,
                         uint64_t last_ns,
                         size_t room)
{
    size_t count = esi_lane_count(lane);
    size_t end = count < room ? count : room; /* maximum end of the run */
    size_t length = 1;                        /* minimum length */

    for (size_t step = 1; length + step < end; step *= 2) {
        if (ends_run(sort, lane, length + step - 1, last_ns)) {
            end = length + step - 1;
            break;
        }
        length += step;
    }
    while (length < end) {
        size_t middle = length + (end - length) / 2;

        if (ends_run(sort, lane, middle, last_ns))
            end = middle;
        else
            length = middle + 1;
    }
    return length;
}

/* Emits the first `count` tuples of a lane. */
static int emit_run(struct es_stage *stage,
                    struct esi_lane *lane,
                    size_t count,
                    struct es_batch *batch)
{
    struct sort *sort = stage->state;
    const struct es_places *places = stage->context->places;
    const uint64_t *keys_ns = esi_lane_keys(lane);
    const struct es_mark *marks = esi_lane_marks(lane);

    for (size_t i = 0; i < count && keys_ns[i] < sort->newest_ns; i++)
        stage->cost.late++;
    if (keys_ns[count - 1] > sort->newest_ns)
        sort->newest_ns = keys_ns[count - 1];
    for (size_t i = 0, alike; places && i < count; i += alike) {
        alike = count_alike(sort, &marks[i], count - i);
        if (marks[i].flags == 0)
            esi_place_release(&places->items[marks[i].origin],
                              marks[i + alike - 1].position, alike, sort->is_outermost);
    }
    return esi_lane_emit(lane, count, batch);
}

/* Returns whether these tuples of an element are all next, and none is late; then they
 * count as emitted.  Only the first and the greatest time are converted. */
static bool take_run(const struct es_stage *stage,
                     struct sort *sort,
                     const struct es_tuple *tuples,
                     size_t count,
                     uint32_t origin,
                     uint64_t last_ns)
{
    uint64_t key_ns = sort->keys_ns[origin];
    uint64_t ends[2] = {0, 0};

    for (size_t i = count; i-- > 0;) {
        ends[0] = sort->by_start ? tuples[i].start : tuples[i].stop;
        ends[1] = ends[0] > ends[1] ? ends[0] : ends[1];
    }
    esi_origin_run_each(&stage->context->origins->items[origin], ends, 2);
    if (ends[0] < sort->newest_ns && key_ns < sort->newest_ns)
        return false;
    key_ns = ends[1] > key_ns ? ends[1] : key_ns;
    if (key_ns > last_ns)
        return false;
    sort->keys_ns[origin] = sort->newest_ns = key_ns;
    return true;
}

/* Pulls the element of an empty lane into the batch.  Tuples that are not all next move
 * to the lane. */
static int pull_run(struct es_stage *stage,
                    size_t child,
                    const struct es_pull *pull,
                    uint64_t last_ns,
                    struct es_batch *batch)
{
    struct sort *sort = stage->state;
    struct esi_lane *lane = &sort->lanes[child];
    size_t first = batch->count, count;
    bool more = batch->more;
    int result;

    batch->more = false;
    result = es_stage_pull(stage->children[child], pull, batch);
    lane->exhausted = !batch->more;
    batch->more = more;
    count = batch->count - first;
    /* An operation under way is the last, and is not held. */
    if (count > 0 && es_batch_is_open(batch, batch->count - 1))
        count--;
    sort->least_run = FIRST_CHUNK;
    if (result < 0 || count == 0 ||
        take_run(stage, sort, batch->tuples + first, count,
                 stage->children[child]->origin, last_ns))
        return result;
    sort->least_run = sort->chunk;
    result = esi_batch_append_tuples(&lane->batch, batch, first, count);
    if (first + count < batch->count)
        es_batch_move(batch, first, first + count);
    batch->count -= count;
    return result < 0 ? result : queue_tuples(stage, sort, lane, 0);
}

/* Continues a run of an element that has emptied its lane; the last key is `last_ns`.
 * Once that was in vain, a run must be as long as a chunk to be continued. */
static int extend_run(struct es_stage *stage,
                      size_t child,
                      const struct es_pull *pull,
                      uint64_t last_ns,
                      struct es_batch *batch)
{
    struct sort *sort = stage->state;
    struct esi_lane *lane = &sort->lanes[child];
    size_t room;
    int result = 0;

    while (result == 0 && esi_lane_count(lane) == 0 && !lane->exhausted &&
           (room = room_left(sort, pull, batch)) > 0) {
        struct es_pull part = *pull;

        part.serial = ++lane->serial;
        part.max = room < MOST_CHUNK ? room : MOST_CHUNK;
        result = pull_run(stage, child, &part, last_ns, batch);
    }
    return result;
}

static int fill_heap(struct es_stage *stage,
                     const struct es_pull *pull,
                     struct es_batch *batch)
{
    struct sort *sort = stage->state;

    sort->heap.count = 0;
    for (size_t i = 0; i < stage->child_count; i++) {
        int result = 0;

        sort->lanes[i].exhausted = false;
        if (sort->over_elements && esi_lane_count(&sort->lanes[i]) == 0)
            result = refill_once(stage, i, FIRST_CHUNK, pull, batch);
        if (result == 0)
            result = sort_refill(stage, i, pull, batch);
        if (result < 0)
            return result;
        if (esi_lane_count(&sort->lanes[i]))
            esi_heap_push(&sort->heap, *esi_lane_keys(&sort->lanes[i]), i);
    }
    return 0;
}

/* The largest key with which a tuple of the first lane is next. */
static uint64_t last_key(const struct sort *sort)
{
    const struct esi_heap *heap = &sort->heap;
    struct esi_heap_entry second;
    uint64_t last_ns;

    if (heap->count < 2)
        return sort->edge_ns;
    second = esi_heap_second(heap);
    last_ns = second.key - (second.item < esi_heap_top(heap).item);
    return last_ns < sort->edge_ns ? last_ns : sort->edge_ns;
}

/* The largest key that may be emitted. */
static uint64_t window_edge(const struct sort *sort, const struct es_pull *pull)
{
    if (pull->drain)
        return UINT64_MAX;
    return pull->realtime_ns > sort->window_ns ? pull->realtime_ns - sort->window_ns
                                               : 0;
}

/* Emits the smallest tuples, run by run, up to the limit and the end of the window. */
static int sort_merge(struct es_stage *stage,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    struct sort *sort = stage->state;

    while (sort->heap.count) {
        struct esi_heap_entry top = esi_heap_top(&sort->heap);
        struct esi_lane *lane = &sort->lanes[top.item];
        size_t room = room_left(sort, pull, batch);
        uint64_t last_ns = last_key(sort);
        size_t length;
        int result;

        if (top.key > sort->edge_ns)
            return 0;
        if (room == 0) {
            batch->more = true;
            return 0;
        }
        length = run_length(sort, lane, last_ns, room);
        result = emit_run(stage, lane, length, batch);
        if (result == 0 && sort->over_elements && length >= sort->least_run)
            result = extend_run(stage, (size_t)top.item, pull, last_ns, batch);
        if (result == 0)
            result = sort_refill(stage, (size_t)top.item, pull, batch);
        if (result < 0)
            return result;
        if (esi_lane_count(lane))
            esi_heap_replace_top(&sort->heap, *esi_lane_keys(lane), top.item);
        else
            esi_heap_pop(&sort->heap);
    }
    return 0;
}

/* Announces to each child its first request. */
static void ask_sort(struct es_stage *stage, const struct es_pull *pull)
{
    struct sort *sort = stage->state;

    if (sort->sequential || pull->max == 0)
        return;
    sort->asked = pull->serial;
    for (size_t i = 0; i < stage->child_count; i++)
        if (has_room(sort, &sort->lanes[i], 0)) {
            struct es_pull part = request_of(stage, i, sort->chunk, pull);

            es_stage_ask(stage->children[i], &part);
        }
}

static int pull_sort(struct es_stage *stage,
                     const struct es_pull *pull,
                     struct es_batch *batch)
{
    struct sort *sort = stage->state;
    int result;

    if (pull->max == 0)
        return 0;
    if (stage->asks && sort->asked != pull->serial)
        ask_sort(stage, pull);
    sort->asked = 0;
    sort->first = batch->count;
    sort->is_outermost = esi_stage_is_outermost(stage);
    sort->edge_ns = window_edge(sort, pull);
    result = fill_heap(stage, pull, batch);
    if (result == 0)
        result = sort_merge(stage, pull, batch);
    return result;
}

const struct es_stage_ops esi_stage_sort = {
    .name = "sort",
    .help = "merges what its children emit in order of real time",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = SIZE_MAX,
    .open = open_sort,
    .pull = pull_sort,
    .ask = ask_sort,
    .keeps = true,
    .close = close_sort,
};
