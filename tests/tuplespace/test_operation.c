/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Looking up operations, classes and routines. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

static const struct {
    uint16_t code;
    const char *name;
    enum es_class op_class;
    enum es_order_kind order;
    bool nonblocking;
    bool synchronizing;
} expected[] = {
    {ES_OP_MPI_Send, "MPI_Send", ES_CLASS_SEND, ES_ORDER_NONE, false, false},
    {ES_OP_MPI_Ssend, "MPI_Ssend", ES_CLASS_SEND, ES_ORDER_NONE, false, true},
    {ES_OP_MPI_Irecv, "MPI_Irecv", ES_CLASS_RECEIVE, ES_ORDER_NONE, true, false},
    {ES_OP_MPI_Irecv_c, "MPI_Irecv_c", ES_CLASS_RECEIVE, ES_ORDER_NONE, true, false},
    {ES_OP_MPI_Waitall, "MPI_Waitall", ES_CLASS_COMPLETION, ES_ORDER_NONE, false,
     false},
    {ES_OP_MPI_Barrier, "MPI_Barrier", ES_CLASS_COLLECTIVE, ES_ORDER_ALL_TO_ALL, false,
     true},
    {ES_OP_MPI_Ibcast, "MPI_Ibcast", ES_CLASS_COLLECTIVE, ES_ORDER_ROOT_TO_ALL, true,
     false},
    {ES_OP_MPI_Gatherv_c, "MPI_Gatherv_c", ES_CLASS_COLLECTIVE, ES_ORDER_ALL_TO_ROOT,
     false, false},
    {ES_OP_MPI_Scan, "MPI_Scan", ES_CLASS_COLLECTIVE, ES_ORDER_PREFIX, false, false},
    {ES_OP_MPI_Exscan, "MPI_Exscan", ES_CLASS_COLLECTIVE, ES_ORDER_EXCLUSIVE_PREFIX,
     false, false},
    {ES_OP_MPI_Neighbor_alltoallw, "MPI_Neighbor_alltoallw", ES_CLASS_COLLECTIVE,
     ES_ORDER_NEIGHBOURS, false, false},
    {ES_OP_MPI_Comm_split, "MPI_Comm_split", ES_CLASS_COMMUNICATOR, ES_ORDER_ALL_TO_ALL,
     false, false},
    {ES_OP_MPI_Put, "MPI_Put", ES_CLASS_ONE_SIDED, ES_ORDER_NONE, false, false},
    {ES_OP_MPI_File_open, "MPI_File_open", ES_CLASS_IO, ES_ORDER_NONE, false, false},
    {ES_OP_MPI_Init, "MPI_Init", ES_CLASS_OTHER, ES_ORDER_NONE, false, false},
    {ES_OP_MPI_Sendrecv_receive, "MPI_Sendrecv receive", ES_CLASS_RECEIVE,
     ES_ORDER_NONE, false, false},
    {ES_OP_EventSpace_pull, "EventSpace pull", ES_CLASS_MONITOR, ES_ORDER_NONE, false,
     false},
};

static void operations_are_found_by_code_and_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct es_operation *operation = es_operation_find(expected[i].code);

        assert_non_null(operation);
        assert_ptr_equal(operation, es_operation_by_name(expected[i].name));
        assert_int_equal(operation->code, expected[i].code);
        assert_string_equal(operation->name, expected[i].name);
        assert_string_equal(es_operation_name(expected[i].code), expected[i].name);
        assert_int_equal(operation->op_class, expected[i].op_class);
        assert_int_equal(operation->order, expected[i].order);
        assert_int_equal(operation->nonblocking, expected[i].nonblocking);
        assert_int_equal(operation->synchronizing, expected[i].synchronizing);
    }
}

static void facts_of_an_operation_are_told(void **state)
{
    (void)state;
    assert_true(es_operation_find(ES_OP_MPI_Ssend_init)->persistent);
    assert_false(es_operation_find(ES_OP_MPI_Ssend)->persistent);
    assert_true(es_operation_find(ES_OP_MPI_Isendrecv_c)->combined);
    assert_true(es_operation_find(ES_OP_MPI_Start_send)->posts);
    assert_false(es_operation_find(ES_OP_MPI_Send_init)->posts);
    assert_true(es_operation_find(ES_OP_MPI_File_iread_c)->posts);
    assert_true(es_operation_find(ES_OP_MPI_Ibsend_c)->buffered);
    assert_true(es_operation_find(ES_OP_MPI_Irsend)->ready);
    assert_false(es_operation_find(ES_OP_MPI_Isend)->ready);
    assert_true(es_operation_find(ES_OP_MPI_Startall)->starts);
    assert_true(es_operation_find(ES_OP_MPI_Testsome)->completes);
    assert_false(es_operation_find(ES_OP_MPI_Iprobe)->completes);
    assert_int_equal(es_operation_find(ES_OP_MPI_Rput_c)->rma, ES_RMA_PUT);
    assert_int_equal(es_operation_find(ES_OP_MPI_Win_flush_all)->rma, ES_RMA_FLUSH);
    assert_int_equal(es_operation_find(ES_OP_MPI_Win_create)->rma, ES_RMA_NONE);
    assert_true(es_operation_find(ES_OP_MPI_Waitsome)->waits);
    assert_true(es_operation_find(ES_OP_MPI_Waitsome)->any);
    assert_false(es_operation_find(ES_OP_MPI_Testall)->waits);
    assert_int_equal(es_operation_find(ES_OP_MPI_Bcast)->counts, ES_COUNTS_ALIKE);
    assert_int_equal(es_operation_find(ES_OP_MPI_Allgatherv)->counts, ES_COUNTS_VECTOR);
    assert_int_equal(es_operation_find(ES_OP_MPI_Gatherv_c)->counts, ES_COUNTS_OWN);
    assert_int_equal(esi_operation_family(es_operation_find(ES_OP_MPI_Gatherv_c)),
                     ES_OP_MPI_Gatherv);
}

static void every_operation_is_found_by_its_code_and_its_name(void **state)
{
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < esi_operation_count; i++) {
        const struct es_operation *operation = &esi_operations[i];

        assert_int_not_equal(operation->code, 0);
        assert_in_range(operation->op_class, ES_CLASS_SEND, ES_CLASS_COUNT - 1);
        assert_ptr_equal(es_operation_find(operation->code), operation);
        assert_ptr_equal(es_operation_by_name(operation->name), operation);
    }
    for (unsigned code = 0; code < ES_OPERATION_FAILED; code++)
        found += es_operation_find((uint16_t)code) != NULL;
    assert_int_equal(found, esi_operation_count);
}

static void receives_and_probes_from_any_source_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < esi_operation_count; i++) {
        const struct es_operation *operation = &esi_operations[i];
        uint16_t code = operation->code | ES_OPERATION_ANY_SOURCE;

        assert_ptr_equal(es_operation_find(code),
                         operation->op_class == ES_CLASS_RECEIVE ||
                                 strstr(operation->name, "robe")
                             ? operation
                             : NULL);
    }
    assert_non_null(es_operation_find(ES_OP_MPI_Improbe | ES_OPERATION_ANY_SOURCE));
    assert_null(es_operation_find(ES_OPERATION_ANY_SOURCE));
}

static void failed_operations_are_found_with_their_error(void **state)
{
    struct es_tuple tuple = {.operation = ES_OP_MPI_Recv, .bytes = 6};

    (void)state;
    assert_int_equal(es_tuple_bytes(&tuple), 6);
    assert_int_equal(es_tuple_error(&tuple), 0);
    tuple.operation |= ES_OPERATION_FAILED | ES_OPERATION_ANY_SOURCE;
    assert_string_equal(es_operation_name(tuple.operation), "MPI_Recv");
    assert_int_equal(es_tuple_operation(&tuple), ES_OP_MPI_Recv);
    assert_int_equal(es_tuple_bytes(&tuple), 0);
    assert_string_equal(es_error_name(es_tuple_error(&tuple)), "MPI_ERR_RANK");
    assert_string_equal(es_error_name(1), "MPI_ERR_BUFFER");
    assert_string_equal(es_error_name(0), "unknown class");
    assert_string_equal(es_error_name(UINT16_MAX), "unknown class");
}

static void unknown_operations_are_not_found(void **state)
{
    (void)state;
    assert_null(es_operation_find(0));
    assert_null(es_operation_find(99));
    assert_null(es_operation_find((uint16_t)(esi_operation_last + 1)));
    assert_null(es_operation_find(UINT16_MAX));
    assert_null(es_operation_by_name(""));
    assert_null(es_operation_by_name("MPI_Sen"));
    assert_null(es_operation_by_name("MPI_Comm_rank"));
    assert_string_equal(es_operation_name(0), "?");
}

static void people_write_names_in_short(void **state)
{
    const struct es_operation *send = es_operation_by_name("MPI_Send");

    (void)state;
    assert_ptr_equal(es_operation_by_name("Send"), send);
    assert_ptr_equal(es_operation_by_name("send"), send);
    assert_ptr_equal(es_operation_by_name("mpi_SEND"), send);
    assert_string_equal(es_operation_by_name("sendrecv receive")->name,
                        "MPI_Sendrecv receive");
    assert_null(es_operation_by_name("MPI_"));
    assert_null(es_operation_by_name("MPI_MPI_Send"));
}

static void large_counts_have_codes_2000_above(void **state)
{
    size_t found = 0;

    (void)state;
    for (uint16_t code = 2001; code <= esi_operation_last; code++) {
        const struct es_operation *large = es_operation_find(code);
        const struct es_operation *plain = es_operation_find((uint16_t)(code - 2000));
        char name[64];

        if (large == NULL)
            continue;
        assert_non_null(plain);
        snprintf(name, sizeof name, "%s_c", plain->name);
        assert_string_equal(large->name, name);
        assert_int_equal(large->op_class, plain->op_class);
        assert_int_equal(large->order, plain->order);
        found++;
    }
    assert_int_not_equal(found, 0);
}

static void classes_have_names(void **state)
{
    (void)state;
    for (enum es_class op_class = ES_CLASS_SEND; op_class < ES_CLASS_COUNT; op_class++)
        assert_int_equal(es_class_by_name(es_class_name(op_class)), op_class);
    assert_string_equal(es_class_name(ES_CLASS_ONE_SIDED), "one-sided");
    assert_string_equal(es_class_name(ES_CLASS_NONE), "none");
    assert_string_equal(es_class_name(ES_CLASS_COUNT), "?");
    assert_int_equal(es_class_by_name("none"), ES_CLASS_NONE);
    assert_int_equal(es_class_by_name("sends"), ES_CLASS_NONE);
    assert_int_equal(es_class_by_name(""), ES_CLASS_NONE);
}

static void every_routine_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < esi_routine_count; i++) {
        const struct es_routine *routine = &esi_routines[i];

        assert_ptr_equal(es_routine_find(routine->name), routine);
        assert_int_equal(routine->operation == 0, routine->why != NULL);
        if (routine->operation != 0)
            assert_string_equal(es_operation_name(routine->operation), routine->name);
    }
}

static void routines_that_are_not_collected_say_why(void **state)
{
    const struct es_routine *rank = es_routine_find("MPI_Comm_rank");
    const struct es_routine *send = es_routine_find("MPI_Send_c");

    (void)state;
    assert_non_null(rank);
    assert_int_equal(rank->operation, 0);
    assert_string_equal(rank->why, "local: moves no data");
    assert_non_null(send);
    assert_int_equal(send->operation, ES_OP_MPI_Send_c);
    assert_null(send->why);
    assert_null(es_routine_find("MPI_Sendrecv receive"));
    assert_null(es_routine_find("MPI_Not_a_routine"));
}

SUITE(test_operation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_found_by_code_and_by_name),
        cmocka_unit_test(facts_of_an_operation_are_told),
        cmocka_unit_test(every_operation_is_found_by_its_code_and_its_name),
        cmocka_unit_test(receives_and_probes_from_any_source_are_found),
        cmocka_unit_test(failed_operations_are_found_with_their_error),
        cmocka_unit_test(unknown_operations_are_not_found),
        cmocka_unit_test(people_write_names_in_short),
        cmocka_unit_test(large_counts_have_codes_2000_above),
        cmocka_unit_test(classes_have_names),
        cmocka_unit_test(every_routine_is_found_by_its_name),
        cmocka_unit_test(routines_that_are_not_collected_say_why),
    };

    return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
