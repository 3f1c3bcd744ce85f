/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The program's data: which parts are transferred, and copying them.
 *
 * Only what the type map names is read or written.  Packing and copying of anything but
 * plain bytes is left to MPI.
 */
#include "config.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/match.h"
#include "wrappers/trees/run_private.h"

void *esi_run_alloc(struct esi_tree_run *run, size_t bytes)
{
    size_t rounded = (bytes + ESI_RUN_ALIGN - 1) / ESI_RUN_ALIGN * ESI_RUN_ALIGN;
    size_t head = ESI_RUN_ALIGN > sizeof(struct esi_run_block)
                      ? ESI_RUN_ALIGN
                      : sizeof(struct esi_run_block);
    struct esi_run_block *block;

    if (rounded < bytes || rounded > SIZE_MAX - head)
        return NULL;
    if (rounded <= ESI_RUN_BYTES - run->inline_used) {
        run->inline_used += rounded;
        return run->inline_bytes + run->inline_used - rounded;
    }
    block = malloc(head + rounded);
    if (block == NULL)
        return NULL;
    block->next = run->blocks;
    run->blocks = block;
    return (char *)block + head;
}

void esi_run_free_blocks(struct esi_tree_run *run)
{
    while (run->blocks != NULL) {
        struct esi_run_block *block = run->blocks;

        run->blocks = block->next;
        free(block);
    }
}

/* --- Properties of datatypes ------------------------------------------------------ */

enum { KNOWN_TYPES = 2 };

/* Each thread caches some, as for arguments (arguments.c).  Few, because static
 * thread-local memory is scarce if the library is opened rather than preloaded. */
struct known_type {
    uint32_t epoch;       /* 0 if none */
    struct esi_data none; /* no element of it */
};

static _Thread_local struct known_type known_types[KNOWN_TYPES]
    __attribute__((tls_model("initial-exec")));

static int combiner_of(MPI_Datatype type)
{
    int result;
    int combiner = MPI_COMBINER_STRUCT;
#ifdef ESI_HAS_MPI_Type_get_envelope_c
    MPI_Count integers, addresses, counts, types;

    result = ESI_REAL(MPI_Type_get_envelope_c)(type, &integers, &addresses, &counts,
                                               &types, &combiner);
#else
    int integers, addresses, types;

    result =
        ESI_REAL(MPI_Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
#endif
    return result == MPI_SUCCESS ? combiner : MPI_COMBINER_STRUCT;
}

/* Sizes do not show the order in which the bytes of a derived type are transferred, so
 * only predefined types are considered plain. */
static int ask_mpi(MPI_Datatype type, struct esi_data *ret_none)
{
    struct esi_data none = {.type = type};
    MPI_Aint lower;
    int result = ESI_REAL(MPI_Type_size_x)(type, &none.size);

    if (result == MPI_SUCCESS)
        result = ESI_REAL(MPI_Type_get_extent)(type, &lower, &none.extent);
    if (result == MPI_SUCCESS)
        result = ESI_REAL(MPI_Type_get_true_extent)(type, &none.true_lower,
                                                    &none.true_extent);
    if (result != MPI_SUCCESS)
        return result;
    none.is_plain = combiner_of(type) == MPI_COMBINER_NAMED && none.true_lower == 0 &&
                    none.true_extent == none.extent && none.extent == none.size;
    *ret_none = none;
    return MPI_SUCCESS;
}

int esi_data_init(struct esi_data *data,
                  const void *base,
                  MPI_Count count,
                  MPI_Datatype type)
{
    uint64_t handle = ESI_HANDLE(type);
    struct known_type *known = &known_types[(handle ^ handle >> 8) % KNOWN_TYPES];
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);

    if (known->epoch != epoch || known->none.type != type) {
        int result = ask_mpi(type, &known->none);

        if (result != MPI_SUCCESS)
            return result;
        known->epoch = epoch;
    }
    *data = known->none;
    data->base = (char *)(uintptr_t)base;
    data->count = count;
    data->bytes = count * data->size;
    return MPI_SUCCESS;
}

/* --- Elements --------------------------------------------------------------------- */

void esi_data_span(const struct esi_data *data,
                   MPI_Count count,
                   size_t *ret_bytes,
                   MPI_Aint *ret_before)
{
    MPI_Aint reach = count > 0 ? (MPI_Aint)(count - 1) * data->extent : 0;

    *ret_before = -(data->true_lower + (reach < 0 ? reach : 0));
    *ret_bytes = (size_t)(data->true_extent + (reach < 0 ? -reach : reach));
}

#ifdef ESI_HAS_MPI_Pack_c

/* Packs or unpacks the elements. */
static int convert_typed(struct esi_tree_run *run,
                         const struct esi_data *data,
                         char *packed,
                         bool packs)
{
    MPI_Count position = 0;

    if (packs)
        return ESI_REAL(MPI_Pack_c)(data->base, data->count, data->type, packed,
                                    data->bytes, &position, run->call.comm);
    return ESI_REAL(MPI_Unpack_c)(packed, data->bytes, &position, data->base,
                                  data->count, data->type, run->call.comm);
}

static int exchange_with_self(struct esi_tree_run *run,
                              const struct esi_data *to,
                              const struct esi_data *from)
{
    return ESI_REAL(MPI_Sendrecv_c)(from->base, from->count, from->type, run->call.rank,
                                    run->call.tag, to->base, to->count, to->type,
                                    run->call.rank, run->call.tag, run->call.comm,
                                    MPI_STATUS_IGNORE);
}

#else

/* The number of elements with less than 2 GiB. */
static MPI_Count per_call(const struct esi_data *data)
{
    MPI_Count most = data->size > 0 ? ESI_RUN_MESSAGE_MAX / data->size : INT_MAX;

    return most > 0 ? most : 1;
}

/* Packs or unpacks the elements. */
static int convert_typed(struct esi_tree_run *run,
                         const struct esi_data *data,
                         char *packed,
                         bool packs)
{
    MPI_Count most = per_call(data);
    int result = MPI_SUCCESS;

    for (MPI_Count done = 0; done < data->count && result == MPI_SUCCESS;
         done += most) {
        MPI_Count count = data->count - done < most ? data->count - done : most;
        char *elements = data->base + done * data->extent;
        char *bytes = packed + done * data->size;
        int size = (int)(count * data->size);
        int position = 0;

        if (packs)
            result = ESI_REAL(MPI_Pack)(elements, (int)count, data->type, bytes, size,
                                        &position, run->call.comm);
        else
            result = ESI_REAL(MPI_Unpack)(bytes, size, &position, elements, (int)count,
                                          data->type, run->call.comm);
    }
    return result;
}

/* Counts are those of the program's call, which were of type int. */
static int exchange_with_self(struct esi_tree_run *run,
                              const struct esi_data *to,
                              const struct esi_data *from)
{
    return ESI_REAL(MPI_Sendrecv)(from->base, (int)from->count, from->type,
                                  run->call.rank, run->call.tag, to->base,
                                  (int)to->count, to->type, run->call.rank,
                                  run->call.tag, run->call.comm, MPI_STATUS_IGNORE);
}

#endif

int esi_data_pack(struct esi_tree_run *run, const struct esi_data *data, char *packed)
{
    if (data->bytes > 0 && !data->is_plain)
        return convert_typed(run, data, packed, true);
    if (data->bytes > 0)
        memcpy(packed, data->base, (size_t)data->bytes);
    return MPI_SUCCESS;
}

int esi_data_unpack(struct esi_tree_run *run, char *packed, const struct esi_data *data)
{
    if (data->bytes > 0 && !data->is_plain)
        return convert_typed(run, data, packed, false);
    if (data->bytes > 0)
        memcpy(data->base, packed, (size_t)data->bytes);
    return MPI_SUCCESS;
}

/* A message to oneself is MPI's way to copy between types; it has arrived when the call
 * returns. */
int esi_data_copy(struct esi_tree_run *run,
                  const struct esi_data *to,
                  const struct esi_data *from)
{
    if (from->bytes == 0 || to->base == from->base)
        return MPI_SUCCESS;
    if (!from->is_plain || !to->is_plain || to->bytes < from->bytes)
        return exchange_with_self(run, to, from);
    memcpy(to->base, from->base, (size_t)from->bytes);
    return MPI_SUCCESS;
}

/* --- Reductions ------------------------------------------------------------------- */

/* For few elements, the call of MPI takes longer than the reduction.  Some are
 * therefore reduced here, if the result is bitwise the same: integers, and sums of
 * floating-point numbers except NaN. */
enum { FEW = 16 };

static int64_t load_integer(const char *at, MPI_Count size)
{
    int32_t narrow;
    int64_t wide;

    if (size == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static void store_integer(char *at, MPI_Count size, int64_t value)
{
    int32_t narrow = (int32_t)value;

    if (size == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value, sizeof value);
}

/* Returns false if nothing was done. */
static bool reduce_integer(MPI_Count size, const char *left, char *right, MPI_Op op)
{
    int64_t a = load_integer(left, size);
    int64_t b = load_integer(right, size);

    if (op == MPI_SUM)
        b = (int64_t)((uint64_t)a + (uint64_t)b);
    else if (op == MPI_MAX)
        b = a > b ? a : b;
    else if (op == MPI_MIN)
        b = a < b ? a : b;
    else
        return false;
    store_integer(right, size, b);
    return true;
}

/* Returns false if nothing was done. */
static bool reduce_double(const char *left, char *right, MPI_Op op)
{
    double a;
    double b;

    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    b += a;
    if (op != MPI_SUM || FLT_EVAL_METHOD != 0 || isnan(b))
        return false;
    memcpy(right, &b, sizeof b);
    return true;
}

static bool reduce_element(const struct esi_data *data,
                           const char *left,
                           char *right,
                           MPI_Op op)
{
    if (data->type == MPI_INT || data->type == MPI_LONG)
        return reduce_integer(data->size, left, right, op);
    return data->type == MPI_DOUBLE && reduce_double(left, right, op);
}

int esi_data_reduce(const struct esi_data *data,
                    MPI_Count count,
                    const char *left,
                    char *right,
                    MPI_Op op)
{
    while (count > 0 && count <= FEW && reduce_element(data, left, right, op)) {
        left += data->extent;
        right += data->extent;
        count--;
    }
    return count > 0
               ? ESI_REAL(MPI_Reduce_local)(left, right, (int)count, data->type, op)
               : MPI_SUCCESS;
}
