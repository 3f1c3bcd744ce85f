/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the encoding of replies: batches arrive as they were sent, in few bytes, and
 * invalid bytes are refused. */
#include "config.h"

#include "scopes/remote/batch_wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"

enum { ORIGINS = 50 };

/* Both ends of a connection. */
struct ends {
    struct esi_wire_state sender;
    struct esi_wire_state receiver;
    struct es_batch sent;
    struct es_batch got;
    uint64_t *positions; /* of the sender; NULL = reads the latest tuples only */
    struct esi_wire_moves moves_got;
    struct esi_wire_buffer buffer;
    struct esi_wire_cost cost;
    unsigned char *payload;
    size_t length;
    uint64_t seed;
};

static void ends_begin(struct ends *ends, size_t origins)
{
    *ends = (struct ends){.seed = random_seed()};
    assert_int_equal(esi_wire_state_init(&ends->sender, (uint32_t)origins), 0);
    assert_int_equal(esi_wire_state_init(&ends->receiver, (uint32_t)origins), 0);
    ends->positions = calloc(origins, sizeof(uint64_t));
    assert_non_null(ends->positions);
}

static void ends_end(struct ends *ends)
{
    esi_wire_state_fini(&ends->sender);
    esi_wire_state_fini(&ends->receiver);
    es_batch_fini(&ends->sent);
    es_batch_fini(&ends->got);
    free(ends->positions);
    esi_wire_moves_fini(&ends->moves_got);
    esi_wire_buffer_fini(&ends->buffer);
    free(ends->payload);
}

static int set_up(void **state)
{
    struct ends *ends = calloc(1, sizeof *ends);

    assert_non_null(ends);
    ends_begin(ends, ORIGINS);
    *state = ends;
    return 0;
}

static int tear_down(void **state)
{
    ends_end(*state);
    free(*state);
    return 0;
}

static void put(struct ends *ends, uint32_t origin, uint64_t position)
{
    struct es_batch *batch = &ends->sent;

    assert_int_equal(es_batch_reserve(batch, 1), 0);
    batch->tuples[batch->count] = (struct es_tuple){
        .stop = position + 1, .operation = 3, .sequence = origin, .peer = -1};
    batch->marks[batch->count++] =
        (struct es_mark){.position = position, .origin = origin};
}

/* Encodes `sent` into one memory block of the exact size. */
static void encode(struct ends *ends)
{
    const struct esi_wire_cost cost = {123, UINT64_MAX};
    struct esi_wire_buffer *buffer = &ends->buffer;
    size_t words;

    assert_int_equal(
        esi_batch_encode(&ends->sender, &ends->sent, ends->positions, &cost, buffer),
        0);
    free(ends->payload);
    words = buffer->word_count * sizeof *buffer->words;
    ends->length = ES_WIRE_HEAD_BYTES + words + buffer->tail_bytes;
    ends->payload = malloc(ends->length);
    assert_non_null(ends->payload);
    memcpy(ends->payload, buffer->head, ES_WIRE_HEAD_BYTES);
    memcpy(ends->payload + ES_WIRE_HEAD_BYTES, buffer->words, words);
    memcpy(ends->payload + ES_WIRE_HEAD_BYTES + words, buffer->tail,
           buffer->tail_bytes);
}

static int decode(struct ends *ends, const struct esi_wire_source *source)
{
    es_batch_clear(&ends->got);
    return esi_batch_decode(&ends->receiver, source, ends->payload, ends->length,
                            &ends->got, &ends->moves_got, &ends->cost, NULL);
}

static void expect_same(const struct ends *ends)
{
    const struct es_batch *sent = &ends->sent, *got = &ends->got;

    assert_int_equal(got->count, sent->count);
    assert_int_equal(got->more, sent->more);
    if (sent->count) {
        assert_memory_equal(got->tuples, sent->tuples,
                            sent->count * sizeof *sent->tuples);
        assert_memory_equal(got->marks, sent->marks, sent->count * sizeof *sent->marks);
    }
    assert_int_equal(got->report_count, sent->report_count);
    if (sent->report_count)
        assert_memory_equal(got->reports, sent->reports,
                            sent->report_count * sizeof *sent->reports);
    assert_int_equal(got->notice_count, sent->notice_count);
    if (sent->notice_count)
        assert_memory_equal(got->notices, sent->notices,
                            sent->notice_count * sizeof *sent->notices);
    assert_memory_equal(ends->sender.next, ends->positions,
                        ends->sender.count * sizeof *ends->sender.next);
    assert_memory_equal(ends->sender.next, ends->receiver.next,
                        ends->sender.count * sizeof *ends->sender.next);
    assert_memory_equal(ends->sender.last, ends->receiver.last,
                        ends->sender.count * sizeof *ends->sender.last);
    assert_int_equal(ends->cost.cpu_ns, 123);
    assert_true(ends->cost.wall_ns == UINT64_MAX);
}

/* Adds a tuple that equals one of the last reply except for some words. */
static void put_like_last(struct ends *ends, uint32_t origin, uint64_t position)
{
    uint32_t words[ES_TUPLE_WORDS];
    struct es_tuple *tuple;

    put(ends, origin, position);
    tuple = &ends->sent.tuples[ends->sent.count - 1];
    memcpy(words, &ends->sender.last[ends->sent.count % ORIGINS], sizeof words);
    for (int i = random_int(&ends->seed, 5); i > 0; i--)
        words[random_below(&ends->seed, ES_TUPLE_WORDS)] =
            (uint32_t)random_number(&ends->seed);
    memcpy(tuple, words, sizeof words);
    if (random_int(&ends->seed, 20) == 0)
        tuple->stop = 0;
    else if (tuple->stop == 0)
        tuple->stop = 1;
    else if (random_int(&ends->seed, 10) == 0)
        ends->sent.marks[ends->sent.count - 1].flags =
            random_int(&ends->seed, 2) ? ES_MARK_SUMMARY : ES_MARK_DERIVED;
}

/* Adds some tuples of one origin, or one each of some origins. */
static void put_some(struct ends *ends)
{
    uint32_t origin = random_below(&ends->seed, ORIGINS);
    uint64_t position = random_int(&ends->seed, 3) ? ends->sender.next[origin]
                                                   : random_number(&ends->seed);
    uint32_t length = random_int(&ends->seed, 2) ? 1 : random_below(&ends->seed, 300);

    if (random_int(&ends->seed, 2))
        for (; length > 0 && origin < ORIGINS; length--, origin++)
            put_like_last(ends, origin, ends->sender.next[origin] - length % 3);
    else
        for (; length > 0; length--)
            put_like_last(ends, origin, position++);
}

static void fill(struct ends *ends)
{
    es_batch_clear(&ends->sent);
    for (int runs = random_int(&ends->seed, 30); runs > 0; runs--)
        put_some(ends);
    for (int i = random_int(&ends->seed, 4); i > 0; i--) {
        struct es_report report = {.origin = random_below(&ends->seed, ORIGINS),
                                   .lost = random_number(&ends->seed),
                                   .head = random_number(&ends->seed),
                                   .polls = UINT64_MAX,
                                   .flags = random_below(&ends->seed, 2)};

        assert_int_equal(es_batch_report(&ends->sent, &report), 0);
    }
    for (int i = random_int(&ends->seed, 3); i > 0; i--) {
        struct es_notice notice = {.code = -random_int(&ends->seed, 200),
                                   .silent_ns = random_number(&ends->seed)};

        memset(notice.part, 'x', random_below(&ends->seed, sizeof notice.part));
        notice.part[sizeof notice.part - 1] = '\0';
        assert_int_equal(es_batch_notice(&ends->sent, &notice), 0);
    }
    for (uint32_t origin = 0; origin < ORIGINS; origin++)
        if (random_int(&ends->seed, 4) == 0)
            ends->positions[origin] = random_number(&ends->seed);
    ends->sent.more = random_int(&ends->seed, 2);
}

/* --- Transfer ----------------------------------------------------------------- */

static void random_batches_arrive_as_they_were_sent(void **state)
{
    struct ends *ends = *state;
    const struct esi_wire_source source = {.swapped = false};

    for (int i = 0; i < 2000; i++) {
        fill(ends);
        encode(ends);
        assert_int_equal(decode(ends, &source), 0);
        expect_same(ends);
    }
}

static bool is_whole(struct ends *ends)
{
    struct esi_wire_size size;

    encode(ends);
    assert_int_equal(esi_batch_wire_size(ends->payload, ends->length, &size), 0);
    assert_int_equal(size.tuples, ends->sent.count);
    es_batch_clear(&ends->sent);
    return size.whole;
}

static void what_cannot_be_divided_says_so(void **state)
{
    struct ends *ends = *state;

    put(ends, 1, 0);
    put(ends, 1, 2); /* a filter has removed one */
    ends->positions[1] = 5;
    assert_false(is_whole(ends));
    put(ends, 1, 7);
    put(ends, 1, 6); /* out of order */
    ends->positions[1] = 8;
    assert_true(is_whole(ends));
    put(ends, 1, 3);
    ends->sent.marks[0].flags = ES_MARK_SUMMARY;
    assert_true(is_whole(ends));
    put(ends, 1, 3);
    ends->sent.tuples[0].stop = 0;
    assert_false(is_whole(ends));
}

static void positions_that_follow_from_the_marks_take_nothing(void **state)
{
    struct ends *ends = *state;
    const struct esi_wire_source source = {.swapped = false};

    for (uint32_t i = 0; i < ORIGINS; i++) {
        put(ends, i, 0);
        ends->positions[i] = 1;
    }
    encode(ends);
    assert_int_equal(decode(ends, &source), 0);
    assert_int_equal(ends->moves_got.count, 0);
    expect_same(ends);
    /* One row: its begin and count, then a mask and a difference for each tuple. */
    assert_int_equal(ends->length, ES_WIRE_HEAD_BYTES + ends->buffer.word_count * 4 +
                                       1 + 4 + ORIGINS * 2);
}

static void a_batch_is_appended_under_the_receivers_numbers(void **state)
{
    struct ends *ends = *state;
    uint32_t origins[ORIGINS];
    const struct esi_wire_source source = {.origins = origins};
    struct es_report report = {.origin = 7, .lost = 1};

    for (uint32_t i = 0; i < ORIGINS; i++)
        origins[i] = 1000 - i;
    put(ends, 3, 0);
    put(ends, 7, 5);
    assert_int_equal(es_batch_report(&ends->sent, &report), 0);
    encode(ends);
    assert_int_equal(decode(ends, &source), 0);
    assert_int_equal(ends->got.marks[0].origin, 997);
    assert_int_equal(ends->got.marks[1].origin, 993);
    assert_int_equal(ends->got.marks[1].position, 5);
    assert_int_equal(ends->got.reports[0].origin, 993);
}

static void the_other_byte_order_is_turned(void **state)
{
    struct ends *ends = *state;
    const struct esi_wire_source source = {.swapped = true};
    struct es_tuple *tuple;

    put(ends, 1, 0);
    *ends->sent.tuples = (struct es_tuple){.stop = UINT64_C(0x0102030405060708),
                                           .operation = 0x0102,
                                           .communicator = 0x0304,
                                           .start = UINT64_C(0x1112131415161718),
                                           .sequence = 0x01020304,
                                           .peer = 0x01020305,
                                           .tag = 0x01020306,
                                           .bytes = 0x01020307};
    encode(ends);
    assert_int_equal(decode(ends, &source), 0);
    tuple = ends->got.tuples;
    assert_true(tuple->stop == UINT64_C(0x0807060504030201));
    assert_int_equal(tuple->operation, 0x0201);
    assert_int_equal(tuple->communicator, 0x0403);
    assert_true(tuple->start == UINT64_C(0x1817161514131211));
    assert_int_equal(tuple->sequence, 0x04030201);
    assert_int_equal(tuple->peer, 0x05030201);
    assert_int_equal(tuple->tag, 0x06030201);
    assert_int_equal(tuple->bytes, 0x07030201);
}

/* --- Size ---------------------------------------------------------------------- */

/* For every set of changed words: the words of a group are sent all or not at all. */
static void a_tuple_takes_the_words_in_which_it_differs(void **state)
{
    static const unsigned groups[] = {1u << 0 | 1u << 3 | 1u << 5, 1u << 1 | 1u << 4,
                                      1u << 2, 1u << 6 | 1u << 7 | 1u << 8};
    struct ends *ends = *state;
    const struct esi_wire_source source = {.swapped = false};

    for (unsigned choice = 0; choice < 1u << ES_TUPLE_WORDS; choice++) {
        uint32_t words[ES_TUPLE_WORDS];
        unsigned sent = 0;

        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            sent |= choice & groups[i] ? groups[i] : 0;
        memcpy(words, ends->sender.last, sizeof words);
        for (size_t i = 0; i < ES_TUPLE_WORDS; i++)
            words[i] += choice >> i & 1;
        es_batch_clear(&ends->sent);
        put(ends, 3, choice);
        memcpy(ends->sent.tuples, words, sizeof words);
        ends->positions[3] = words[0] || words[1] ? choice + 1 : choice;
        encode(ends);
        assert_int_equal(ends->buffer.word_count, __builtin_popcount(sent));
        assert_int_equal(decode(ends, &source), 0);
        expect_same(ends);
    }
}

/* Encodes the latest tuples of all elements; `newer` of 8 are new. */
static size_t bytes_of_latest(struct ends *ends, uint64_t *written, unsigned newer)
{
    es_batch_clear(&ends->sent);
    for (uint32_t i = 0; i < ends->sender.count; i++) {
        written[i] += i % 8 < newer;
        put(ends, i, written[i]);
    }
    encode(ends);
    return ends->length;
}

/* The largest view of the paper: an unchanged tuple takes a mask and a difference. */
static void latest_tuples_take_little_where_they_are_the_same(void **state)
{
    enum { ELEMENTS = 1948, EACH = 2 /* a mask and a difference */, TIMES = 12 };
    static uint64_t written[ELEMENTS];
    struct ends ends;

    (void)state;
    ends_begin(&ends, ELEMENTS);
    free(ends.positions);
    ends.positions = NULL;
    (void)bytes_of_latest(&ends, written, 8);
    assert_true(bytes_of_latest(&ends, written, 0) <=
                ELEMENTS * EACH + ES_WIRE_HEAD_BYTES + 5);
    /* A new tuple differs in its times and nothing else. */
    assert_true(bytes_of_latest(&ends, written, 1) <=
                ELEMENTS * EACH + (ELEMENTS / 8 + 1) * TIMES + ES_WIRE_HEAD_BYTES + 5);
    assert_true(bytes_of_latest(&ends, written, 8) <=
                ELEMENTS * (EACH + TIMES) + ES_WIRE_HEAD_BYTES + 5);
    ends_end(&ends);
}

static void tuples_that_follow_each_other_take_what_is_new(void **state)
{
    struct ends *ends = *state;

    for (uint64_t i = 0; i < 10000; i++)
        put(ends, 5, i);
    ends->positions[5] = 10000;
    encode(ends);
    /* The times with the sequence, and the mask. */
    assert_true(ends->length <= 10000 * 13 + 36 + ES_WIRE_HEAD_BYTES + 5);
}

/* --- Refusals ------------------------------------------------------------------ */

static void expect_refusal(struct ends *ends, const char *words)
{
    const struct esi_wire_source source = {.swapped = false};
    struct es_error error = {.text = ""};

    es_batch_clear(&ends->got);
    assert_int_equal(esi_batch_decode(&ends->receiver, &source, ends->payload,
                                      ends->length, &ends->got, &ends->moves_got,
                                      &ends->cost, &error),
                     -EPROTO);
    assert_non_null(strstr(error.text, words));
    assert_int_equal(ends->got.count, 0);
    assert_int_equal(ends->got.report_count, 0);
    assert_int_equal(ends->got.notice_count, 0);
}

static void wrong_payloads_are_refused(void **state)
{
    struct ends *ends = *state;
    size_t masks, marks;

    put(ends, 0, 0);
    put(ends, 0, 1);
    ends->positions[0] = 2;
    encode(ends);
    /* Seven words of the first tuple, then three for the times of the second. */
    assert_int_equal(ends->buffer.word_count, 10);
    masks = ES_WIRE_HEAD_BYTES + 10 * sizeof(uint32_t);
    marks = masks + 2;

    memset(ends->payload, 0xff, 4);
    expect_refusal(ends, "fewer tuples");
    memset(ends->payload, 0, 4);
    ends->payload[0] = 5;
    expect_refusal(ends, "fewer tuples");
    ends->payload[0] = 2;
    ends->payload[20] = 12;
    expect_refusal(ends, "fewer tuples");
    ends->payload[20] = 10;
    ends->payload[5] = 1;
    expect_refusal(ends, "fewer entries");
    ends->payload[5] = 0;
    ends->payload[masks + 1] = 0;
    expect_refusal(ends, "number of words");
    ends->payload[masks + 1] = 0x80;
    expect_refusal(ends, "number of words");
    ends->payload[masks + 1] = 1;
    ends->payload[marks + 1] = 3;
    expect_refusal(ends, "longer than its tuples");
    ends->payload[marks + 1] = 0;
    expect_refusal(ends, "longer than its tuples");
    ends->payload[marks + 1] = 1;
    expect_refusal(ends, "marks end early");
    ends->payload[marks] = 0x7f;
    expect_refusal(ends, "marks end early");
    ends->payload[marks] = 0x6c;
    expect_refusal(ends, "an origin that does not exist");
    ends->length = ES_WIRE_HEAD_BYTES - 1;
    expect_refusal(ends, "within its head");
}

static void a_row_beyond_the_last_origin_is_refused(void **state)
{
    struct ends *ends = *state;

    put(ends, ORIGINS - 2, 0);
    put(ends, ORIGINS - 1, 0);
    encode(ends);
    ends->receiver.count--;
    expect_refusal(ends, "an origin that does not exist");
    ends->receiver.count++;
}

/* A run takes one mark, so the row has marks for all tuples but one: the last
 * tuple begins another row. */
static void a_row_longer_than_its_places_is_refused(void **state)
{
    struct ends *ends = *state;
    const struct esi_wire_source source = {.swapped = false};
    size_t count_at;

    put(ends, 0, 7);
    for (uint32_t i = 0; i < ORIGINS; i++)
        put(ends, i, 0);
    for (uint32_t i = 0; i < ORIGINS; i++)
        ends->positions[i] = 1;
    encode(ends);
    assert_int_equal(decode(ends, &source), 0);
    expect_same(ends);
    /* After the masks the run has two bytes and the row one. */
    count_at = ES_WIRE_HEAD_BYTES + ends->buffer.word_count * 4 + ORIGINS + 1 + 3;
    assert_int_equal(ends->payload[count_at], ORIGINS - 1);
    ends->payload[count_at] = ORIGINS;
    expect_refusal(ends, "longer than its places");
}

static void what_follows_the_end_is_refused(void **state)
{
    struct ends *ends = *state;

    put(ends, 0, 0);
    put(ends, 1, 0);
    encode(ends);
    ends->payload[0] = 1;
    expect_refusal(ends, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(test_batch_wire)
{
    const struct CMUnitTest tests[] = {
        TEST(random_batches_arrive_as_they_were_sent),
        TEST(what_cannot_be_divided_says_so),
        TEST(positions_that_follow_from_the_marks_take_nothing),
        TEST(a_batch_is_appended_under_the_receivers_numbers),
        TEST(the_other_byte_order_is_turned),
        TEST(a_tuple_takes_the_words_in_which_it_differs),
        cmocka_unit_test(latest_tuples_take_little_where_they_are_the_same),
        TEST(tuples_that_follow_each_other_take_what_is_new),
        TEST(wrong_payloads_are_refused),
        TEST(a_row_beyond_the_last_origin_is_refused),
        TEST(a_row_longer_than_its_places_is_refused),
        TEST(what_follows_the_end_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
