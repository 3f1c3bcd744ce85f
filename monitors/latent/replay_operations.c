/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* replay_operations.c - which operations are of which kind. */
#include "config.h"

#include "monitors/latent/replay_operations.h"

#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

uint16_t esi_replay_family(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation ? esi_operation_family(operation) : 0;
}

bool esi_replay_is_of_class(const struct es_tuple *tuple, enum es_class op_class)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && operation->op_class == op_class && !operation->persistent;
}

bool esi_replay_is_blocking_send(uint16_t family)
{
    return family == ES_OP_MPI_Send || family == ES_OP_MPI_Ssend ||
           family == ES_OP_MPI_Rsend || family == ES_OP_MPI_Sendrecv ||
           family == ES_OP_MPI_Sendrecv_replace;
}

bool esi_replay_is_blocking_receive(uint16_t family)
{
    return family == ES_OP_MPI_Recv || family == ES_OP_MPI_Mrecv ||
           family == ES_OP_MPI_Sendrecv_receive ||
           family == ES_OP_MPI_Sendrecv_replace_receive;
}

bool esi_replay_is_open_request(uint16_t family)
{
    switch (family) {
    case ES_OP_MPI_Start_partitioned_receive:
    case ES_OP_MPI_Rput:
    case ES_OP_MPI_Rget:
    case ES_OP_MPI_Raccumulate:
    case ES_OP_MPI_Rget_accumulate:
    case ES_OP_MPI_Grequest_start:
    case ES_OP_MPI_File_iread_at:
    case ES_OP_MPI_File_iread_at_all:
    case ES_OP_MPI_File_iwrite_at:
    case ES_OP_MPI_File_iwrite_at_all:
    case ES_OP_MPI_File_iread:
    case ES_OP_MPI_File_iread_all:
    case ES_OP_MPI_File_iwrite:
    case ES_OP_MPI_File_iwrite_all:
    case ES_OP_MPI_File_iread_shared:
    case ES_OP_MPI_File_iwrite_shared:
        return true;
    default:
        return false;
    }
}

bool esi_replay_is_completion(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    uint16_t family = operation ? esi_operation_family(operation) : 0;

    return family >= ES_OP_MPI_Wait && family <= ES_OP_MPI_Testsome;
}

bool esi_replay_is_collective(const struct es_operation *operation)
{
    return operation && operation->order != ES_ORDER_NONE &&
           operation->order != ES_ORDER_NEIGHBOURS;
}

bool esi_replay_waits_for_all(const struct es_operation *operation,
                              const struct es_tuple *tuple)
{
    return operation->synchronizing ||
           (operation->order == ES_ORDER_ALL_TO_ALL && tuple->bytes > 0);
}
