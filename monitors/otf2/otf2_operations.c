/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_operations.c - maps MPI operations to OTF2. */
#include "config.h"

#include "monitors/otf2/otf2_operations.h"

#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

/* --- Collective operations -------------------------------------------------------- */

/* Amounts of data, in units of the tuple's bytes. */
enum amount {
    NOTHING, /* or not known */
    ONCE,
    ONCE_AT_ROOT,
    ONCE_ELSEWHERE,
    FOR_EACH, /* once per rank of the communicator */
    FOR_EACH_AT_ROOT,
};

struct collective {
    OTF2_CollectiveOp name;
    enum amount sent;
    enum amount received;
};

/* The blocking ones; nonblocking and persistent ones have the same order from 140 and
 * 180 on. */
static const struct collective collectives[] = {
    {OTF2_COLLECTIVE_OP_BARRIER, NOTHING, NOTHING},
    {OTF2_COLLECTIVE_OP_BCAST, ONCE_AT_ROOT, ONCE_ELSEWHERE},
    {OTF2_COLLECTIVE_OP_GATHER, ONCE, FOR_EACH_AT_ROOT},
    {OTF2_COLLECTIVE_OP_GATHERV, ONCE, NOTHING},
    {OTF2_COLLECTIVE_OP_SCATTER, FOR_EACH_AT_ROOT, ONCE},
    {OTF2_COLLECTIVE_OP_SCATTERV, NOTHING, ONCE},
    {OTF2_COLLECTIVE_OP_ALLGATHER, ONCE, FOR_EACH},
    {OTF2_COLLECTIVE_OP_ALLGATHERV, NOTHING, ONCE},
    {OTF2_COLLECTIVE_OP_ALLTOALL, FOR_EACH, FOR_EACH},
    {OTF2_COLLECTIVE_OP_ALLTOALLV, ONCE, NOTHING},
    {OTF2_COLLECTIVE_OP_ALLTOALLW, NOTHING, NOTHING},
    {OTF2_COLLECTIVE_OP_REDUCE, ONCE, ONCE_AT_ROOT},
    {OTF2_COLLECTIVE_OP_ALLREDUCE, ONCE, ONCE},
    {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, FOR_EACH, ONCE},
    {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, ONCE, NOTHING},
    {OTF2_COLLECTIVE_OP_SCAN, ONCE, ONCE},
    {OTF2_COLLECTIVE_OP_EXSCAN, ONCE, ONCE},
};

enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

_Static_assert(ES_OP_MPI_Exscan - ES_OP_MPI_Barrier == COLLECTIVES - 1, "blocking");
_Static_assert(ES_OP_MPI_Iexscan - ES_OP_MPI_Ibarrier == COLLECTIVES - 1,
               "nonblocking");
_Static_assert(ES_OP_MPI_Exscan_init - ES_OP_MPI_Barrier_init == COLLECTIVES - 1,
               "persistent");

/* NULL if it is not a collective operation, or a neighbourhood one, which OTF2
 * lacks. */
static const struct collective *find_collective(const struct es_operation *operation)
{
    static const unsigned firsts[] = {ES_OP_MPI_Barrier, ES_OP_MPI_Ibarrier,
                                      ES_OP_MPI_Barrier_init};
    unsigned code = esi_operation_family(operation);

    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++)
        if (code >= firsts[i] && code - firsts[i] < COLLECTIVES)
            return &collectives[code - firsts[i]];
    return NULL;
}

/* Objects that all members create or free together. */
static OTF2_CollectiveOp handle_of(const struct es_operation *operation)
{
    switch (esi_operation_family(operation)) {
    case ES_OP_MPI_Comm_free:
    case ES_OP_MPI_Comm_disconnect:
    case ES_OP_MPI_Win_free:
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    case ES_OP_MPI_Win_allocate:
    case ES_OP_MPI_Win_allocate_shared:
        return OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;
    case ES_OP_MPI_Win_fence:
        return OTF2_COLLECTIVE_OP_BARRIER;
    default:
        return operation->order == ES_ORDER_ALL_TO_ALL
                   ? OTF2_COLLECTIVE_OP_CREATE_HANDLE
                   : ESI_OTF2_NO_COLLECTIVE;
    }
}

OTF2_CollectiveOp esi_otf2_collective(const struct es_operation *operation)
{
    const struct collective *found = find_collective(operation);

    if (found)
        return found->name;
    return operation->op_class == ES_CLASS_COMMUNICATOR ||
                   operation->op_class == ES_CLASS_ONE_SIDED
               ? handle_of(operation)
               : ESI_OTF2_NO_COLLECTIVE;
}

static uint64_t amount_of(enum amount amount,
                          uint32_t bytes,
                          bool is_root,
                          uint32_t ranks)
{
    switch (amount) {
    case ONCE:
        return bytes;
    case ONCE_AT_ROOT:
        return is_root ? bytes : 0;
    case ONCE_ELSEWHERE:
        return is_root ? 0 : bytes;
    case FOR_EACH:
        return (uint64_t)bytes * ranks;
    case FOR_EACH_AT_ROOT:
        return is_root ? (uint64_t)bytes * ranks : 0;
    default:
        return 0;
    }
}

struct esi_otf2_sizes esi_otf2_sizes(const struct es_operation *operation,
                                     uint32_t bytes,
                                     bool is_root,
                                     uint32_t ranks)
{
    const struct collective *found = find_collective(operation);

    if (!found)
        return (struct esi_otf2_sizes){0, 0};
    return (struct esi_otf2_sizes){
        .sent = amount_of(found->sent, bytes, is_root, ranks),
        .received = amount_of(found->received, bytes, is_root, ranks)};
}

/* The receiving half of a call that also sends; 0 if it is not one. */
static uint16_t receiving_half(const struct es_operation *operation)
{
    switch (esi_operation_family(operation)) {
    case ES_OP_MPI_Sendrecv:
        return ES_OP_MPI_Sendrecv_receive;
    case ES_OP_MPI_Sendrecv_replace:
        return ES_OP_MPI_Sendrecv_replace_receive;
    case ES_OP_MPI_Isendrecv:
        return ES_OP_MPI_Isendrecv_receive;
    case ES_OP_MPI_Isendrecv_replace:
        return ES_OP_MPI_Isendrecv_replace_receive;
    default:
        return 0;
    }
}

uint16_t esi_otf2_code_for(const struct es_operation *region,
                           enum es_class op_class,
                           bool nonblocking,
                           uint16_t otherwise)
{
    if (!region)
        return otherwise;
    if (region->starts)
        return op_class == ES_CLASS_SEND ? ES_OP_MPI_Start_send
                                         : ES_OP_MPI_Start_receive;
    if (op_class == ES_CLASS_RECEIVE && receiving_half(region) != 0)
        return receiving_half(region);
    return region->op_class == op_class && region->nonblocking == nonblocking &&
                   !region->persistent
               ? region->code
               : otherwise;
}

uint16_t esi_otf2_code_of(OTF2_CollectiveOp collective, bool persistent)
{
    unsigned first = persistent ? ES_OP_MPI_Barrier_init : ES_OP_MPI_Barrier;

    for (unsigned i = 0; i < COLLECTIVES; i++)
        if (collectives[i].name == collective)
            return (uint16_t)(first + i);
    return collective == OTF2_COLLECTIVE_OP_CREATE_HANDLE ? ES_OP_MPI_Comm_dup : 0;
}

uint16_t esi_otf2_window_code_of(OTF2_CollectiveOp collective)
{
    switch (collective) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return ES_OP_MPI_Win_fence;
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
        return ES_OP_MPI_Win_create;
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE:
        return ES_OP_MPI_Win_allocate;
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE:
        return ES_OP_MPI_Win_free;
    default:
        return 0;
    }
}

uint32_t esi_otf2_bytes_of(OTF2_CollectiveOp collective,
                           struct esi_otf2_sizes sizes,
                           uint32_t ranks)
{
    /* The smaller one is a single amount, unless each rank sends to each. */
    uint64_t bytes =
        sizes.sent > 0 && (sizes.sent < sizes.received || sizes.received == 0)
            ? sizes.sent
            : sizes.received;

    if (collective == OTF2_COLLECTIVE_OP_ALLTOALL && ranks > 0)
        bytes /= ranks;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* --- Roles ------------------------------------------------------------------------ */

static OTF2_RegionRole collective_role(const struct es_operation *operation)
{
    switch (operation->order) {
    case ES_ORDER_ALL_TO_ALL:
        return operation->synchronizing ? OTF2_REGION_ROLE_BARRIER
                                        : OTF2_REGION_ROLE_COLL_ALL2ALL;
    case ES_ORDER_ROOT_TO_ALL:
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case ES_ORDER_ALL_TO_ROOT:
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    default:
        return OTF2_REGION_ROLE_COLL_OTHER;
    }
}

OTF2_RegionRole esi_otf2_role(const struct es_operation *operation)
{
    switch (operation->op_class) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COMPLETION:
        return OTF2_REGION_ROLE_POINT2POINT;
    case ES_CLASS_COLLECTIVE:
        return collective_role(operation);
    case ES_CLASS_ONE_SIDED:
        return OTF2_REGION_ROLE_RMA;
    case ES_CLASS_IO:
        return OTF2_REGION_ROLE_FILE_IO;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}
