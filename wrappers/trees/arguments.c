/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Arguments are checked by the MPI library itself.
 *
 * Handles in use are a short table protected by a lock, because few are in use at a
 * time.  MPI is called without the lock, because freeing a datatype can call back into
 * the program.
 */
#include "config.h"

#include "wrappers/trees/arguments.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/describe.h"
#include "wrappers/mpi/tree_ops.h"

/* Contains this process only; returns errors.  Written while no other thread calls
 * MPI. */
static MPI_Comm self_comm;
static bool has_self_comm;
/* Held during checks: MPI does not allow two concurrent collectives on a
 * communicator. */
static pthread_mutex_t self_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_self_comm(MPI_Comm made)
{
    ESI_REAL(MPI_Comm_set_errhandler)(made, MPI_ERRORS_RETURN);
    self_comm = made;
    has_self_comm = true;
}

void esi_argument_check_start(void)
{
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;

    if (has_self_comm || ESI_REAL(MPI_Comm_group)(MPI_COMM_SELF, &group) != MPI_SUCCESS)
        return;
    /* Not duplicated: attributes have callbacks. */
    if (ESI_REAL(MPI_Comm_create)(MPI_COMM_SELF, group, &made) == MPI_SUCCESS)
        set_self_comm(made);
    ESI_REAL(MPI_Group_free)(&group);
}

#ifdef ESI_HAS_MPI_Session_init
/* The session that self_comm is of.  A null session is no constant in every MPI. */
static MPI_Session self_session;
static bool is_of_session;

void esi_argument_check_start_in_session(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;

    if (has_self_comm || ESI_REAL(MPI_Group_from_session_pset)(session, "mpi://SELF",
                                                               &group) != MPI_SUCCESS)
        return;
    if (ESI_REAL(MPI_Comm_create_from_group)(group, "eventspace", MPI_INFO_NULL,
                                             MPI_ERRORS_RETURN, &made) == MPI_SUCCESS) {
        set_self_comm(made);
        self_session = session;
        is_of_session = true;
    }
    ESI_REAL(MPI_Group_free)(&group);
}

void esi_argument_check_end_session(MPI_Session session)
{
    if (!is_of_session || self_session != session)
        return;
    is_of_session = false;
    esi_argument_check_end();
}
#endif

void esi_argument_check_end(void)
{
    if (has_self_comm)
        ESI_REAL(MPI_Comm_free)(&self_comm);
    has_self_comm = false;
}

static int bcast_on_self(void *buffer, MPI_Count count, MPI_Datatype datatype)
{
#ifdef ESI_HAS_MPI_Bcast_c
    if (count > INT_MAX)
        return ESI_REAL(MPI_Bcast_c)(buffer, count, datatype, 0, self_comm);
#endif
    return ESI_REAL(MPI_Bcast)(buffer, (int)count, datatype, 0, self_comm);
}

/* --- Cached results --------------------------------------------------------------- */

/* What MPI accepts remains valid until the program frees a datatype or an operator,
 * which begins an epoch, because the handle may be reused.  Each thread caches some
 * pairs.  Handles are stored plus one, because 0 means none. */
enum { JUDGEMENT_BITS = 4 };

struct argument_judgement {
    uint64_t type;
    uint64_t op; /* 0: for the type only */
    uint32_t epoch;
};

static _Thread_local struct argument_judgement judgements[1 << JUDGEMENT_BITS]
    __attribute__((tls_model("initial-exec")));

static struct argument_judgement *find_judgement(
    const struct argument_judgement *wanted)
{
    uint64_t mixed = (wanted->type ^ wanted->op << 1) * UINT64_C(0x9e3779b97f4a7c15);

    return &judgements[mixed >> (64 - JUDGEMENT_BITS)];
}

static bool is_known_good(const struct argument_judgement *wanted)
{
    const struct argument_judgement *found = find_judgement(wanted);

    return found->type == wanted->type && found->op == wanted->op &&
           found->epoch == wanted->epoch;
}

static struct argument_judgement judgement_of(MPI_Datatype type)
{
    return (struct argument_judgement){
        .type = ESI_HANDLE(type) + 1,
        .epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire)};
}

static bool take_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
    void *touched_by_nobody = (void *)(uintptr_t)buffer;
    int code;

    pthread_mutex_lock(&self_lock);
    code = bcast_on_self(touched_by_nobody, count, datatype);
    pthread_mutex_unlock(&self_lock);
    return code == MPI_SUCCESS;
}

/* Returns whether MPI accepts a buffer of `count` elements: a broadcast to a single
 * process checks everything and accesses nothing.  Not cached without an address, which
 * is valid for some datatypes only. */
static bool is_good_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
    struct argument_judgement judgement;

    if (count <= 0 || buffer == MPI_IN_PLACE)
        return count == 0 && buffer != MPI_IN_PLACE;
    judgement = judgement_of(datatype);
    if (buffer != NULL && is_known_good(&judgement))
        return true;
    if (!take_buffer(buffer, count, datatype))
        return false;
    *find_judgement(&judgement) = judgement;
    return true;
}

/* Returns whether MPI reduces such elements with this operator: a reduction of no
 * elements. */
static bool is_good_operation(MPI_Op op, MPI_Datatype datatype)
{
    int from = 0;
    int to = 0;
    int code;

    pthread_mutex_lock(&self_lock);
    code = ESI_REAL(MPI_Allreduce)(&from, &to, 0, datatype, op, self_comm);
    pthread_mutex_unlock(&self_lock);
    return code == MPI_SUCCESS;
}

/* --- Arguments -------------------------------------------------------------------- */

static uint64_t bytes_of(const struct esi_call *call,
                         MPI_Count count,
                         MPI_Datatype datatype)
{
    return count == 0
               ? 0
               : (uint64_t)count * esi_thread_get_type_bytes(call->thread, datatype);
}

/* One side of a collective. */
struct buffer_side {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
};

static bool is_good_side(const struct esi_call *call,
                         const struct buffer_side *side,
                         uint64_t *ret_bytes)
{
    if (!is_good_buffer(side->buffer, side->count, side->datatype))
        return false;
    *ret_bytes = bytes_of(call, side->count, side->datatype);
    return true;
}

static bool is_address(const void *buffer)
{
    return buffer != NULL && buffer != MPI_IN_PLACE;
}

/* The result for the operator includes the datatype; it is cached if there are elements
 * at an address.  `is_root` is also true for every rank of an allreduce. */
static bool check_reduction(const struct esi_call *call,
                            const struct esi_collective *collective,
                            bool is_root,
                            uint64_t *ret_bytes)
{
    MPI_Count count = collective->receive_count;
    MPI_Datatype type = collective->receive_type;
    const void *receive = collective->receive;
    const void *send =
        is_root && collective->send == MPI_IN_PLACE ? receive : collective->send;
    struct argument_judgement judgement = judgement_of(type);
    bool is_remembered =
        count > 0 && is_address(send) && (!is_root || is_address(receive));

    if (is_root && count > 0 && collective->send == receive)
        return false;
    judgement.op = ESI_HANDLE(collective->op) + 1;
    if (!is_remembered || !is_known_good(&judgement)) {
        if ((is_root && !is_good_buffer(receive, count, type)) ||
            !is_good_buffer(send, count, type) ||
            !is_good_operation(collective->op, type))
            return false;
        if (is_remembered)
            *find_judgement(&judgement) = judgement;
    }
    *ret_bytes = bytes_of(call, count, type);
    return true;
}

/* Returns whether the block that a rank sends to itself is already where it is
 * received, which MPI libraries reject. */
static bool is_aliased(const struct esi_call *call,
                       const struct buffer_side *one,
                       const struct buffer_side *many)
{
    return one->count != 0 && one->count == many->count &&
           one->datatype == many->datatype &&
           (uintptr_t)one->buffer ==
               (uintptr_t)many->buffer + (uintptr_t)call->comm->rank *
                                             bytes_of(call, one->count, one->datatype);
}

/* Gather, scatter and allgather: `one` is the side with the own block of each rank,
 * `many` the side with the blocks of all, which only the root of the first two has. */
static bool check_blocks(const struct esi_call *call,
                         const struct buffer_side *one,
                         const struct buffer_side *many,
                         bool has_many,
                         uint64_t *ret_bytes)
{
    uint64_t bytes;

    if (!has_many)
        return is_good_side(call, one, ret_bytes);
    if (one->buffer == MPI_IN_PLACE)
        return is_good_side(call, many, ret_bytes);
    return is_good_side(call, many, &bytes) && is_good_side(call, one, ret_bytes) &&
           !is_aliased(call, one, many);
}

bool esi_argument_check(const struct esi_call *call,
                        const struct esi_collective *collective,
                        uint64_t *ret_bytes)
{
    struct buffer_side send = {collective->send, collective->send_count,
                               collective->send_type};
    struct buffer_side receive = {collective->receive, collective->receive_count,
                                  collective->receive_type};
    bool is_root = call->comm->rank == collective->root;

    if (!has_self_comm || collective->root < 0 || collective->root >= call->comm->size)
        return false;
    switch (collective->kind) {
    case ES_TREE_BARRIER:
        *ret_bytes = 0;
        return true;
    case ES_TREE_BCAST:
        return is_good_side(call, &receive, ret_bytes);
    case ES_TREE_REDUCE:
        return check_reduction(call, collective, is_root, ret_bytes);
    case ES_TREE_ALLREDUCE:
        return check_reduction(call, collective, true, ret_bytes);
    case ES_TREE_GATHER:
        return check_blocks(call, &send, &receive, is_root, ret_bytes);
    case ES_TREE_SCATTER:
        return check_blocks(call, &receive, &send, is_root, ret_bytes);
    case ES_TREE_ALLGATHER:
        return check_blocks(call, &send, &receive, true, ret_bytes);
    case ES_TREE_KIND_COUNT:
        break;
    }
    return false;
}

/* --- Handles in use --------------------------------------------------------------- */

enum handle_kind { TYPE, OPERATION };

struct handle_entry {
    uint64_t handle;
    enum handle_kind kind;
    int users;     /* number of operations under way; 0 for a free slot */
    bool is_freed; /* by the program */
};

static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_entry *uses; /* like the rest, protected by the lock */
static size_t use_count;          /* number of slots ever used */
static size_t capacity;

static struct handle_entry *find_use(enum handle_kind kind, uint64_t handle)
{
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].users > 0 && uses[i].kind == kind && uses[i].handle == handle)
            return &uses[i];
    return NULL;
}

static struct handle_entry *find_free_use(void)
{
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].users == 0)
            return &uses[i];
    if (ESI_ARRAY_RESERVE(uses, capacity, use_count + 1) < 0)
        return NULL;
    return &uses[use_count++];
}

static bool begin_use(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    if (use == NULL) {
        use = find_free_use();
        if (use != NULL)
            *use = (struct handle_entry){.handle = handle, .kind = kind};
    }
    if (use != NULL)
        use->users++;
    pthread_mutex_unlock(&uses_lock);
    return use != NULL;
}

/* Returns whether the program has freed the handle, and no other operation uses it. */
static bool end_use(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;
    bool is_last;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    is_last = use != NULL && --use->users == 0 && use->is_freed;
    pthread_mutex_unlock(&uses_lock);
    return is_last;
}

static void end_type_use(MPI_Datatype type)
{
    if (!end_use(TYPE, ESI_HANDLE(type)))
        return;
    ESI_REAL(MPI_Type_free)(&type);
    /* As when the program frees one: its size may be cached again. */
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

static void end_op_use(MPI_Op op)
{
    if (!end_use(OPERATION, ESI_HANDLE(op)))
        return;
    ESI_REAL(MPI_Op_free)(&op);
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

bool esi_handle_use_begin(struct esi_handle_use *handles)
{
    handles->count = 0;
    if (begin_use(TYPE, ESI_HANDLE(handles->types[0])))
        handles->count = 1;
    if (handles->count == 1 && begin_use(TYPE, ESI_HANDLE(handles->types[1])))
        handles->count = 2;
    if (handles->count == 2 && begin_use(OPERATION, ESI_HANDLE(handles->op)))
        handles->count = 3;
    if (handles->count < 3)
        esi_handle_use_end(handles);
    return handles->count == 3;
}

void esi_handle_use_end(struct esi_handle_use *handles)
{
    if (handles->count > 2)
        end_op_use(handles->op);
    if (handles->count > 1)
        end_type_use(handles->types[1]);
    if (handles->count > 0)
        end_type_use(handles->types[0]);
    handles->count = 0;
}

static bool defer_free(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    if (use != NULL)
        use->is_freed = true;
    pthread_mutex_unlock(&uses_lock);
    return use != NULL;
}

static bool is_in_use(enum handle_kind kind, uint64_t handle)
{
    bool found;

    pthread_mutex_lock(&uses_lock);
    found = find_use(kind, handle) != NULL;
    pthread_mutex_unlock(&uses_lock);
    return found;
}

static bool is_predefined_type(MPI_Datatype type)
{
    int integers;
    int addresses;
    int types;
    int combiner = MPI_COMBINER_NAMED;

    ESI_REAL(MPI_Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

bool esi_handle_use_defer_type_free(MPI_Datatype type)
{
    return is_in_use(TYPE, ESI_HANDLE(type)) && !is_predefined_type(type) &&
           defer_free(TYPE, ESI_HANDLE(type));
}

static bool is_predefined_op(MPI_Op op)
{
    const MPI_Op predefined[] = {
        MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
        MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};

    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        if (op == predefined[i])
            return true;
    return false;
}

bool esi_handle_use_defer_op_free(MPI_Op op)
{
    return !is_predefined_op(op) && defer_free(OPERATION, ESI_HANDLE(op));
}
