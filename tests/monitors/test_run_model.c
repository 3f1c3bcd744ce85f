/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_run_model.c - tests of who takes part in a run. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitors/run/run_model.h"
#include "tests/suites.h"

static struct esi_run_model run;

static int begin(void **state)
{
    (void)state;
    run = (struct esi_run_model){.process_count = 0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    esi_run_model_fini(&run);
    return 0;
}

static struct esi_run_process *add(const char *host, int rank, uint64_t identity)
{
    const struct esi_run_process config = {
        .host = host, .rank = rank, .identity = identity};
    struct esi_run_process *process;

    assert_int_equal(esi_run_model_add_process(&run, &config, &process), 0);
    return process;
}

static const struct esi_run_member *tell(struct esi_run_process *process,
                                         uint16_t index,
                                         struct esi_run_reported told)
{
    assert_int_equal(esi_run_model_set_communicator(&run, process, index, &told), 0);
    return esi_run_member(process, index);
}

/* A rank that comes again, on another host or later, is of another world. */
static void processes_are_found_by_their_identity(void **state)
{
    struct esi_run_process *first = add("a", 3, 7);

    (void)state;
    assert_ptr_equal(add("a", 3, 7), first);
    assert_ptr_not_equal(add("b", 3, 7), first);
    assert_int_equal(add("a", 3, 8)->world, 2);
    assert_int_equal(add("a", 4, 8)->world, 0);
    assert_int_equal(run.process_count, 4);
    for (int rank = 0; rank < 1000; rank++)
        add("a", rank + 10, 1);
    assert_ptr_equal(add("a", 3, 7), first);
}

static void processes_of_a_host_share_a_clock(void **state)
{
    const struct esi_run_process config = {
        .host = "a", .rank = 9, .identity = 9, .clock_kind = 1};
    struct esi_run_process *other;

    (void)state;
    assert_int_equal(add("a", 0, 1)->clock, 0);
    assert_int_equal(add("b", 1, 1)->clock, 1);
    assert_int_equal(add("a", 2, 1)->clock, 0);
    assert_int_equal(esi_run_model_add_process(&run, &config, &other), 0);
    assert_int_equal(other->clock, 2); /* of another kind */
    assert_int_equal(add("b", 3, 1)->clock, 1);
    assert_int_equal(run.clock_count, 3);
}

static void threads_are_found_by_their_number(void **state)
{
    struct esi_run_process *process = add("a", 0, 1);
    struct esi_run_thread *first, *second, *again;

    (void)state;
    assert_int_equal(esi_run_model_add_thread(&run, process, 0, &first), 0);
    assert_int_equal(esi_run_model_add_thread(&run, process, 5, &second), 0);
    assert_int_equal(esi_run_model_add_thread(&run, process, 0, &again), 0);
    assert_ptr_equal(first, again);
    assert_int_equal(second->number, 1);
    assert_int_equal(second->thread, 5);
    assert_ptr_equal(second->sibling, first);
}

static void members_share_a_communicator(void **state)
{
    const int32_t world[] = {4, 2};
    struct esi_run_process *four = add("a", 4, 1), *two = add("a", 2, 1);
    const struct esi_run_member *first =
        tell(four, 0, (struct esi_run_reported){.key = {1, 2}, .size = 2, .first = 4});
    const struct esi_run_member *second;

    (void)state;
    assert_null(esi_run_side_ranks(first->communicator, 0));
    assert_int_equal(esi_run_peer_rank(first, 1), -1);
    second =
        tell(two, 9,
             (struct esi_run_reported){
                 .key = {1, 2}, .name = "pair", .rank = 1, .size = 2, .world = world});
    assert_ptr_equal(second->communicator, first->communicator);
    assert_string_equal(first->communicator->name, "pair");
    assert_int_equal(esi_run_peer_rank(first, 1), 2);
    assert_int_equal(esi_run_peer_rank(first, 2), -1);
    assert_int_equal(esi_run_peer_rank(first, -1), -1);
    assert_ptr_equal(esi_run_slot_process(first->communicator, 1), two);
    assert_memory_equal(esi_run_side_ranks(first->communicator, 0), world,
                        sizeof world);
    assert_null(esi_run_member(two, 8));
    assert_null(esi_run_member(two, 10));
}

/* The side with the lower first world rank comes first, whoever tells. */
static void members_agree_on_the_sides(void **state)
{
    const int32_t low[] = {1, 5}, high[] = {2, 3, 4};
    struct esi_run_process *five = add("a", 5, 1), *two = add("a", 2, 1);
    const struct esi_run_member *of_low =
        tell(five, 0,
             (struct esi_run_reported){.key = {1, 2},
                                       .rank = 1,
                                       .size = 2,
                                       .remote_size = 3,
                                       .world = low,
                                       .remote_world = high});
    const struct esi_run_member *of_high = tell(
        two, 0,
        (struct esi_run_reported){
            .key = {1, 2}, .size = 3, .remote_size = 2, .first = 2, .remote_first = 1});

    (void)state;
    assert_ptr_equal(of_low->communicator, of_high->communicator);
    assert_int_equal(of_low->communicator->size, 5);
    assert_int_equal(of_low->side, 0);
    assert_int_equal(of_low->slot, 1);
    assert_int_equal(of_high->side, 1);
    assert_int_equal(of_high->slot, 2);
    assert_int_equal(esi_run_peer_slot(of_low, 2), 4);
    assert_int_equal(esi_run_peer_rank(of_low, 2), 4);
    assert_int_equal(esi_run_peer_rank(of_high, 1), 5);
    assert_int_equal(esi_run_peer_slot(of_high, 2), UINT32_MAX);
    assert_memory_equal(esi_run_side_ranks(of_low->communicator, 1), high, sizeof high);
}

/* Which side is which is not known without the first ranks. */
static void sides_may_be_unknown(void **state)
{
    const struct esi_run_member *member =
        tell(add("a", 0, 1), 0,
             (struct esi_run_reported){.key = {1, 2},
                                       .size = 1,
                                       .remote_size = 1,
                                       .first = -1,
                                       .remote_first = -1});

    (void)state;
    assert_false(member->communicator->has_sides);
    assert_int_equal(member->slot, UINT32_MAX);
    assert_int_equal(esi_run_peer_slot(member, 0), UINT32_MAX);
    assert_int_equal(esi_run_peer_rank(member, 0), -1);
}

/* Spawned worlds may have the same keys: each has its own communicator. */
static void worlds_with_one_key_are_apart(void **state)
{
    const struct esi_run_reported told = {.key = {1, 2}, .size = 1};
    const struct esi_run_member *first = tell(add("a", 0, 1), 0, told);
    const struct esi_run_member *second = tell(add("a", 0, 2), 0, told);

    (void)state;
    assert_ptr_not_equal(first->communicator, second->communicator);
    assert_int_equal(second->communicator->world, 1);
    assert_int_equal(run.communicator_count, 2);
}

static void an_index_may_come_again(void **state)
{
    struct esi_run_process *process = add("a", 0, 1);
    const struct esi_run_member *first =
        tell(process, 3, (struct esi_run_reported){.key = {1, 2}, .size = 1});
    const struct esi_run_member *second = tell(
        process, 3, (struct esi_run_reported){.key = {3, 4}, .size = 1, .freed = true});

    (void)state;
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(second->older, first);
    assert_false(first->freed);
    assert_true(second->freed);
}

/* A file may tell anything: only the members that it lists take memory. */
static void impossible_members_are_ignored(void **state)
{
    struct esi_run_process *process = add("a", 0, 1);

    (void)state;
    assert_null(tell(process, 0, (struct esi_run_reported){.key = {1, 2}, .size = 0}));
    assert_null(tell(process, 0,
                     (struct esi_run_reported){.key = {1, 2}, .rank = 2, .size = 2}));
    assert_null(
        tell(process, 0,
             (struct esi_run_reported){.key = {1, 2}, .size = 2, .remote_size = -1}));
    for (uint16_t i = 0; i < 1000; i++)
        assert_null(
            tell(process, i, (struct esi_run_reported){.key = {i, 1}, .size = 1 << 24})
                ->communicator->world_ranks);
}

SUITE(test_run_model)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_found_by_their_identity),
        cmocka_unit_test(processes_of_a_host_share_a_clock),
        cmocka_unit_test(threads_are_found_by_their_number),
        cmocka_unit_test(members_share_a_communicator),
        cmocka_unit_test(members_agree_on_the_sides),
        cmocka_unit_test(sides_may_be_unknown),
        cmocka_unit_test(worlds_with_one_key_are_apart),
        cmocka_unit_test(an_index_may_come_again),
        cmocka_unit_test(impossible_members_are_ignored),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, begin, end);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
