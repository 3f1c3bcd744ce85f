/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Turns the structs of a segment by tables of their numbers. */
#include "config.h"

#include "tuplespace/byte_order.h"

#include <string.h>

#include "tuplespace/tree_board_layout.h"

/* `count` numbers of `bytes` each from `offset` on. */
struct number {
    uint16_t offset;
    uint8_t bytes;
    uint8_t count;
};

#define NUMBER(type, field)                                                            \
    {                                                                                  \
        offsetof(type, field), sizeof(((type *)0)->field), 1                           \
    }
#define CLOCK(field)                                                                   \
    {                                                                                  \
        offsetof(struct es_segment_layout, clock) + offsetof(struct es_clock, field),  \
            sizeof(((struct es_clock *)0)->field), 1                                   \
    }
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void turn_number(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes / 2; i++) {
        unsigned char kept = at[i];

        at[i] = at[bytes - 1 - i];
        at[bytes - 1 - i] = kept;
    }
}

static void turn(void *base, const struct number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < numbers[i].count; j++)
            turn_number((unsigned char *)base + numbers[i].offset +
                            j * numbers[i].bytes,
                        numbers[i].bytes);
}

void es_byte_order_turn_tuples(struct es_tuple *tuples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tuples[i] = (struct es_tuple){
            .stop = __builtin_bswap64(tuples[i].stop),
            .operation = __builtin_bswap16(tuples[i].operation),
            .communicator = __builtin_bswap16(tuples[i].communicator),
            .start = __builtin_bswap64(tuples[i].start),
            .sequence = __builtin_bswap32(tuples[i].sequence),
            .peer = (int32_t)__builtin_bswap32((uint32_t)tuples[i].peer),
            .tag = (int32_t)__builtin_bswap32((uint32_t)tuples[i].tag),
            .bytes = __builtin_bswap32(tuples[i].bytes),
        };
}

void es_byte_order_turn_words(uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
}

#define HEADER(field) NUMBER(struct es_segment_layout, field)

void es_byte_order_turn_header(struct es_segment_layout *header)
{
    static const struct number numbers[] = {
        HEADER(magic),
        HEADER(endian),
        HEADER(major),
        HEADER(minor),
        HEADER(header_bytes),
        HEADER(element_bytes),
        HEADER(communicator_bytes),
        HEADER(max_elements),
        HEADER(max_communicators),
        HEADER(flags),
        HEADER(segment_bytes),
        HEADER(elements_offset),
        HEADER(communicators_offset),
        HEADER(arena_offset),
        HEADER(pid),
        HEADER(uid),
        HEADER(pid_start),
        HEADER(world_rank),
        HEADER(world_size),
        CLOCK(kind),
        CLOCK(reserved),
        CLOCK(frequency_hz),
        CLOCK(frequency_error_ppb),
        CLOCK(base_ticks),
        CLOCK(base_realtime_ns),
        CLOCK(base_monotonic_ns),
        CLOCK(base_error_ns),
        HEADER(state),
        HEADER(ended),
        HEADER(exit_status),
        HEADER(abort_code),
        HEADER(ended_realtime_ns),
        HEADER(element_count),
        HEADER(communicator_count),
        HEADER(arena_used),
        HEADER(elements_refused),
        HEADER(elements_shrunk),
        HEADER(communicators_refused),
        HEADER(warnings),
        HEADER(folder),
        HEADER(tree_board_offset),
        HEADER(watchers),
    };

    turn(header, numbers, COUNT(numbers));
}

#define ELEMENT(field) NUMBER(struct es_element_layout, field)

void es_byte_order_turn_element(struct es_element_layout *element)
{
    static const struct number numbers[] = {
        ELEMENT(ring_offset),  ELEMENT(capacity),
        ELEMENT(tuple_bytes),  ELEMENT(kind),
        ELEMENT(threshold),    ELEMENT(enabled),
        ELEMENT(on_full),      ELEMENT(waiters),
        ELEMENT(limit),        ELEMENT(head),
        ELEMENT(withdrawn),    ELEMENT(polls),
        ELEMENT(held),         ELEMENT(blocked),
        ELEMENT(discarded),    ELEMENT(reader_position),
        ELEMENT(reader),       ELEMENT(reader_wake),
        ELEMENT(writer_waits), ELEMENT(rank),
        ELEMENT(thread),       ELEMENT(classes),
        ELEMENT(peer),         ELEMENT(communicator),
        ELEMENT(moved),        ELEMENT(thread_id),
        ELEMENT(lost_moving),  ELEMENT(moved_before),
        ELEMENT(passed_at),
    };

    turn(element, numbers, COUNT(numbers));
}

static void turn_group(struct es_group_layout *group)
{
    static const struct number numbers[] = {
        NUMBER(struct es_group_layout, kind),   NUMBER(struct es_group_layout, size),
        NUMBER(struct es_group_layout, first),  NUMBER(struct es_group_layout, stride),
        NUMBER(struct es_group_layout, offset),
    };

    turn(group, numbers, COUNT(numbers));
}

#define COMMUNICATOR(field) NUMBER(struct es_communicator_layout, field)

void es_byte_order_turn_communicator(struct es_communicator_layout *communicator)
{
    /* The name's words are text. */
    static const struct number numbers[] = {
        {offsetof(struct es_communicator_layout, key), 8, 2},
        COMMUNICATOR(rank),
        COMMUNICATOR(parent),
        COMMUNICATOR(reserved0),
        COMMUNICATOR(flags),
        COMMUNICATOR(name_version),
    };

    turn(communicator, numbers, COUNT(numbers));
    turn_group(&communicator->local);
    turn_group(&communicator->remote);
}

#define BOARD(field) NUMBER(struct es_tree_board_layout, field)

void es_byte_order_turn_tree_board(struct es_tree_board_layout *board)
{
    static const struct number numbers[] = {
        BOARD(header_bytes), BOARD(wish_bytes),
        BOARD(entry_bytes),  BOARD(log_slots),
        BOARD(wish_version), {offsetof(struct es_tree_board_layout, wish_length), 4, 2},
        BOARD(reserved),     BOARD(writer),
        BOARD(log_head),
    };

    turn(board, numbers, COUNT(numbers));
}

#define ENTRY(field) NUMBER(struct es_tree_log_entry, field)

void es_byte_order_turn_tree_log_entry(struct es_tree_log_entry *entry)
{
    static const struct number numbers[] = {
        ENTRY(communicator), ENTRY(reserved),  ENTRY(version),   ENTRY(first_instance),
        ENTRY(operations),   ENTRY(min_bytes), ENTRY(max_bytes), ENTRY(since_ticks),
    };

    turn(entry, numbers, COUNT(numbers));
}
