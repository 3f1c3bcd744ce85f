/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Communicators by handle, and their run-wide keys.
 *
 * A key must be the same in all members, without communication.  It is a hash of what
 * all of them know: the parent's key, the creating call, what distinguishes siblings
 * (colour, tag ...), the groups as ranks in the run, and the number of times that this
 * process has had the same values before.  All members take part in each such creation
 * in the same order, so these numbers are equal.  If the rank of a member is not known,
 * each process uses a key of its own, which matches no other.
 */
#include "config.h"

#include "wrappers/mpi/communicators.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/hash.h"
#include "eventspace/operation.h"
#include "tuplespace/operation_codes.h"
#include "wrappers/mpi/handles.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/path.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/requests.h"
#include "wrappers/mpi/spawn.h"
#include "wrappers/mpi/tree_ops.h"

static struct esi_handles handles;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_list all; /* of communicators; protected by the lock */
/* How often each base key has occurred: a list, because creations are rare. */
struct occurrence {
    struct occurrence *next;
    uint64_t key[2];
    uint64_t count;
};
enum { OCCURRENCE_LISTS = 256 };
static struct occurrence *occurrences[OCCURRENCE_LISTS]; /* protected by the lock */

/* The last destroyed communicators: other members may still wait there for what this
 * process has sent and entered.  Protected by the lock. */
enum { REMEMBERED = 64 };
static struct {
    struct esi_comm *items[REMEMBERED]; /* the oldest one at `next` */
    unsigned int next;
} remembered;

struct esi_comm *esi_comm_lookup(uint64_t handle)
{
    return esi_handles_find(&handles, handle);
}

/* --- Groups --------------------------------------------------------------------- */

#ifdef ESI_HAS_MPI_Session_init
static MPI_Session lender;
static bool has_lender;

void esi_comm_set_session(MPI_Session session)
{
    lender = session;
    has_lender = true;
}

void esi_comm_end_session(MPI_Session session)
{
    if (has_lender && lender == session)
        has_lender = false;
}

static bool session_group(MPI_Group *ret_group)
{
    return has_lender && ESI_REAL(MPI_Group_from_session_pset)(
                             lender, "mpi://WORLD", ret_group) == MPI_SUCCESS;
}
#else
static bool session_group(MPI_Group *ret_group)
{
    (void)ret_group;
    return false;
}
#endif

/* The group of all processes, whose ranks are the world ranks. */
static bool world_group(MPI_Group *ret_group)
{
    int up = 0;
    int over = 0;

    ESI_REAL(MPI_Initialized)(&up);
    ESI_REAL(MPI_Finalized)(&over);
    if (up && !over)
        return ESI_REAL(MPI_Comm_group)(MPI_COMM_WORLD, ret_group) == MPI_SUCCESS;
    return session_group(ret_group);
}

/* A group whose ranks in the run are known: all ranks of a world, or `ranks`. */
struct known_group {
    struct known_group *next;
    MPI_Group group;
    int first;
    const int *ranks; /* owned; NULL for `first` and the following */
};

/* Groups of other worlds.  Removed at the end only, so that lookups take no lock. */
static _Atomic(struct known_group *) known_groups;

void esi_comm_know_group(MPI_Group group, int first, const int *ranks)
{
    struct known_group *known = malloc(sizeof *known);

    if (known == NULL)
        return;
    *known = (struct known_group){.next = atomic_load(&known_groups),
                                  .group = group,
                                  .first = first,
                                  .ranks = ranks};
    while (!atomic_compare_exchange_weak(&known_groups, &known->next, known))
        continue;
}

void esi_comm_forget_groups(void)
{
    struct known_group *known = atomic_exchange(&known_groups, NULL);

    while (known != NULL) {
        struct known_group *next = known->next;

        ESI_REAL(MPI_Group_free)(&known->group);
        free((void *)known->ranks);
        free(known);
        known = next;
    }
}

/* Fills in the ranks of members that are in the known group. */
static void fill_ranks(const struct known_group *known,
                       MPI_Group group,
                       int count,
                       const int *members,
                       int *ranks)
{
    int *found = calloc((size_t)count + 1, sizeof *found);

    if (found == NULL)
        return;
    ESI_REAL(MPI_Group_translate_ranks)(group, count, members, known->group, found);
    for (int i = 0; i < count; i++)
        if (found[i] >= 0) /* MPI_UNDEFINED is negative */
            ranks[i] =
                known->ranks != NULL ? known->ranks[found[i]] : known->first + found[i];
    free(found);
}

/* Ranks in the run of some members of a group; -1 if not known.  Returns false if there
 * is no world. */
static bool find_ranks(MPI_Group group, int count, const int *members, int *ret_ranks)
{
    struct known_group world = {.first = esi_process_first_rank()};

    for (int i = 0; i < count; i++)
        ret_ranks[i] = -1;
    if (!world_group(&world.group))
        return false;
    if (world.first >= 0)
        fill_ranks(&world, group, count, members, ret_ranks);
    ESI_REAL(MPI_Group_free)(&world.group);
    for (const struct known_group *known = atomic_load(&known_groups); known != NULL;
         known = known->next)
        fill_ranks(known, group, count, members, ret_ranks);
    return true;
}

/* Ranks of a group, which is freed; NULL if not available. */
static int *ranks_of_group(MPI_Group group, int *ret_size)
{
    int *ranks = NULL;
    int *own = NULL;
    int size = 0;

    ESI_REAL(MPI_Group_size)(group, &size);
    ranks = calloc((size_t)size + 1, sizeof *ranks);
    own = calloc((size_t)size + 1, sizeof *own);
    for (int i = 0; own != NULL && i < size; i++)
        own[i] = i;
    if (ranks != NULL && own != NULL && find_ranks(group, size, own, ranks)) {
        *ret_size = size;
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    if (group != MPI_GROUP_EMPTY)
        ESI_REAL(MPI_Group_free)(&group);
    return ranks;
}

#ifdef OPEN_MPI
int *esi_comm_ranks(MPI_Comm comm, int *ret_size)
{
    MPI_Group group;

    if (ESI_REAL(MPI_Comm_group)(comm, &group) != MPI_SUCCESS)
        return NULL;
    return ranks_of_group(group, ret_size);
}
#endif

struct members {
    int32_t *local;
    int32_t *remote;
    int local_size;
    int remote_size;
};

static bool find_members(MPI_Comm comm, bool inter, struct members *ret_members)
{
    MPI_Group group;

    *ret_members = (struct members){.local = NULL};
    if (ESI_REAL(MPI_Comm_group)(comm, &group) != MPI_SUCCESS)
        return false;
    ret_members->local = ranks_of_group(group, &ret_members->local_size);
    if (inter && ESI_REAL(MPI_Comm_remote_group)(comm, &group) == MPI_SUCCESS)
        ret_members->remote = ranks_of_group(group, &ret_members->remote_size);
    return ret_members->local != NULL;
}

static bool are_known(const int32_t *ranks, int size)
{
    for (int i = 0; i < size; i++)
        if (ranks[i] < 0)
            return false;
    return true;
}

/* Returns whether all members of a group, which is freed, belong to this process's
 * world. */
static bool is_in_world(MPI_Group group)
{
    MPI_Group world, others;
    int count = -1;

    if (world_group(&world)) {
        ESI_REAL(MPI_Group_difference)(group, world, &others);
        ESI_REAL(MPI_Group_size)(others, &count);
        if (others != MPI_GROUP_EMPTY)
            ESI_REAL(MPI_Group_free)(&others);
        ESI_REAL(MPI_Group_free)(&world);
    }
    ESI_REAL(MPI_Group_free)(&group);
    return count == 0;
}

static bool find_of_world(MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0;

    if (comm == MPI_COMM_NULL ||
        ESI_REAL(MPI_Comm_test_inter)(comm, &inter) != MPI_SUCCESS ||
        ESI_REAL(MPI_Comm_group)(comm, &group) != MPI_SUCCESS || !is_in_world(group))
        return false;
    return !inter || (ESI_REAL(MPI_Comm_remote_group)(comm, &group) == MPI_SUCCESS &&
                      is_in_world(group));
}

bool esi_comm_is_of_world(MPI_Comm comm)
{
    struct esi_comm *known = esi_comm_lookup(ESI_HANDLE(comm));
    int8_t answer;

    if (known == NULL)
        return find_of_world(comm);
    answer = atomic_load_explicit(&known->of_world, memory_order_relaxed);
    if (answer == 0) {
        answer = find_of_world(comm) ? 1 : -1;
        atomic_store_explicit(&known->of_world, answer, memory_order_relaxed);
    }
    return answer > 0;
}

int32_t esi_comm_world_rank(MPI_Comm handle, const struct esi_comm *comm, int rank)
{
    MPI_Group group;
    int found = -1;
    int rc;

    if (!esi_environment_is_up()) /* another thread has finalised MPI */
        return -1;
    rc = comm->inter ? ESI_REAL(MPI_Comm_remote_group)(handle, &group)
                     : ESI_REAL(MPI_Comm_group)(handle, &group);
    if (rc != MPI_SUCCESS)
        return -1;
    find_ranks(group, 1, &rank, &found);
    ESI_REAL(MPI_Group_free)(&group);
    return found;
}

/* --- Keys ----------------------------------------------------------------------- */

static uint64_t hash_ranks(const int32_t *ranks, int size)
{
    uint64_t hash = 1;

    for (int i = 0; i < size; i++)
        hash = esi_hash_mix(hash, (uint64_t)(uint32_t)ranks[i]);
    return esi_hash_mix(hash, (uint64_t)(uint32_t)size);
}

/* Both sides of an intercommunicator must get the same value, so its groups are
 * combined in a commutative way. */
static uint64_t hash_members(const struct members *members)
{
    uint64_t local = hash_ranks(members->local, members->local_size);

    return members->remote == NULL
               ? local
               : local + hash_ranks(members->remote, members->remote_size);
}

/* The same operation for both sides of an intercommunicator. */
static uint16_t common_operation(uint16_t operation)
{
    return operation == ES_OP_MPI_Comm_connect ? ES_OP_MPI_Comm_accept : operation;
}

/* The number of times this base key has occurred before.  The caller holds the lock. */
static uint64_t count_occurrence(const uint64_t base[2])
{
    struct occurrence **list = &occurrences[base[0] % OCCURRENCE_LISTS];
    struct occurrence *found = *list;

    while (found != NULL && (found->key[0] != base[0] || found->key[1] != base[1]))
        found = found->next;
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        if (found == NULL)
            return 0;
        found->key[0] = base[0];
        found->key[1] = base[1];
        found->next = *list;
        *list = found;
    }
    return found->count++;
}

/* If a member is not known, nobody can tell which of its communicators this is. */
static bool are_all_known(const struct members *members)
{
    return are_known(members->local, members->local_size) &&
           are_known(members->remote, members->remote_size);
}

/* Creates a key that no other process has. */
static void make_own_key(uint64_t ret_key[2])
{
    static _Atomic uint64_t made;
    uint64_t values[] = {(uint64_t)getpid(), esi_clock_read(),
                         atomic_fetch_add(&made, 1)};

    (void)!getrandom(ret_key, 2 * sizeof *ret_key, GRND_NONBLOCK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ret_key[i % 2] = esi_hash_mix(ret_key[i % 2], values[i]);
}

/* `parent` is NULL if the two sides have different parents, or none. */
static void make_key(const struct esi_comm *parent,
                     uint16_t operation,
                     uint64_t token,
                     uint64_t members,
                     uint64_t ret_key[2])
{
    uint64_t base[2];
    uint64_t count;

    for (unsigned int half = 0; half < 2; half++) {
        base[half] = esi_hash_mix(half + 1, parent != NULL ? parent->key[half] : 0);
        base[half] = esi_hash_mix(base[half], common_operation(operation));
        base[half] = esi_hash_mix(base[half], token);
        base[half] = esi_hash_mix(base[half], members);
    }
    pthread_mutex_lock(&lock);
    count = count_occurrence(base);
    pthread_mutex_unlock(&lock);
    ret_key[0] = esi_hash_mix(base[0], count);
    ret_key[1] = esi_hash_mix(base[1], count);
}

void esi_comm_idup_key(const struct esi_comm *parent, uint64_t ret_key[2])
{
    make_key(parent, ES_OP_MPI_Comm_idup, 0, 0, ret_key);
}

void esi_comm_spawn_key(const struct esi_comm *parent, uint64_t ret_key[2])
{
    make_key(parent, ES_OP_MPI_Comm_spawn, 0, 0, ret_key);
}

/* --- Registering ---------------------------------------------------------------- */

/* "PARENT/dup#2", until the program sets a name.  The number counts the communicators
 * of this process: names are for people, keys for programs. */
static void make_name(struct esi_comm *comm,
                      const struct esi_comm *parent,
                      uint16_t operation)
{
    static _Atomic uint32_t made;
    static const char prefix[] = "MPI_Comm_";
    const char *call = operation != 0 ? es_operation_name(operation) : "comm";

    if (strncmp(call, prefix, sizeof prefix - 1) == 0)
        call += sizeof prefix - 1;
    snprintf(comm->name, sizeof comm->name, "%.30s%s%.20s#%u",
             parent != NULL ? parent->name : "", parent != NULL ? "/" : "", call,
             atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1);
}

static int lowest_member(const struct members *members)
{
    int low = INT32_MAX;

    for (int i = 0; i < members->local_size; i++)
        if (members->local[i] >= 0 && members->local[i] < low)
            low = members->local[i];
    for (int i = 0; members->remote != NULL && i < members->remote_size; i++)
        if (members->remote[i] >= 0 && members->remote[i] < low)
            low = members->remote[i];
    return low;
}

/* --- Indices -------------------------------------------------------------------- */

/* Bits by index, protected by the lock: indices that are never reused. */
static uint8_t pinned[ES_COMMUNICATOR_BITS_BYTES];

void esi_comm_pin(uint16_t index)
{
    pthread_mutex_lock(&lock);
    pinned[index / 8] |= (uint8_t)(1u << index % 8);
    pthread_mutex_unlock(&lock);
}

static bool mark_request(struct esi_request *request, void *context)
{
    uint8_t *in_use = context;
    uint16_t index = request->tuple.communicator;

    in_use[index / 8] |= (uint8_t)(1u << index % 8);
    return false;
}

/* Paths selected by communicator depend on its index. */
static bool chooses_by_communicator(const struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->collectors[i].communicator, "*") != 0 ||
            (plan->collectors[i].split & ES_SPLIT_COMMUNICATOR) != 0)
            return true;
    return false;
}

/* Returns whether it can be determined which freed communicators may still be named in
 * tuples: if no other thread is in MPI, and no collector names communicators by index.
 * (Calls from MPI's callbacks do not get here, because they are not operations of their
 * own.) */
static bool can_sweep(const struct esi_process *process)
{
    return !esi_multiple && esi_trees == NULL &&
           atomic_load_explicit(&esi_late_tuple_count, memory_order_acquire) == 0 &&
           !chooses_by_communicator(&process->plan);
}

/* Makes the indices of freed communicators reusable.  Only when a call creates a
 * communicator: a completion may hold records that it has removed from the table. */
static void sweep_when_due(void)
{
    struct esi_process *process = esi_process_get();
    uint8_t *in_use;

    if (process == NULL || !can_sweep(process) ||
        !esi_segment_should_sweep(process->segment))
        return;
    in_use = malloc(sizeof pinned);
    if (in_use == NULL)
        return;
    pthread_mutex_lock(&lock);
    memcpy(in_use, pinned, sizeof pinned);
    pthread_mutex_unlock(&lock);
    esi_request_foreach(mark_request, in_use);
    esi_segment_sweep_communicators(process->segment, in_use);
    free(in_use);
}

static void enter_in_segment(struct esi_comm *comm,
                             const struct esi_comm *parent,
                             const struct members *members)
{
    struct esi_process *process = esi_process_get();
    struct esi_communicator_config config = {
        .key = {comm->key[0], comm->key[1]},
        .rank = comm->rank,
        .parent = parent != NULL ? parent->index : ES_COMMUNICATOR_NONE,
        .flags = comm->inter ? ES_COMMUNICATOR_INTER : 0,
        .name = comm->name,
        .group = members->local,
        .group_size = members->local_size,
        .remote = members->remote,
        .remote_size = members->remote_size,
    };

    if (process == NULL)
        return;
    config.keep_list = process->rank < 0 || lowest_member(members) == process->rank;
    if (esi_segment_add_communicator(process->segment, &config, &comm->index) < 0) {
        comm->index = ES_COMMUNICATOR_NONE;
        esi_process_warn(
            "no room for another communicator: operations on it are recorded "
            "without it");
    }
}

/* A communicator created unseen may belong to others. */
static void enter_in_ledger(struct esi_comm *comm, uint16_t operation)
{
    comm->ledger = esi_ledger_add_communicator(comm->index);
    comm->sent.place = &comm->ledger->sent;
    comm->received.channels.place = &comm->ledger->received;
    comm->received.shown = &comm->ledger->held;
    comm->is_counted = operation != 0;
    if (comm->is_counted)
        esi_ledger_count_object(ESI_LEDGER_COMMUNICATORS, 1);
}

static struct esi_comm *comm_create(MPI_Comm handle)
{
    struct esi_comm *comm = calloc(1, sizeof *comm);
    int inter = 0;

    if (comm == NULL)
        return NULL;
    ESI_REAL(MPI_Comm_test_inter)(handle, &inter);
    ESI_REAL(MPI_Comm_rank)(handle, &comm->rank);
    ESI_REAL(MPI_Comm_size)(handle, &comm->size);
    comm->inter = inter != 0;
    if (comm->inter)
        ESI_REAL(MPI_Comm_remote_size)(handle, &comm->remote_size);
    comm->peers = comm->inter ? comm->remote_size : comm->size;
    comm->index = ES_COMMUNICATOR_NONE;
    comm->references = 1;
    esi_match_init(&comm->received, esi_path_publish);
    return comm;
}

static void make_known(MPI_Comm handle, struct esi_comm *comm)
{
    pthread_mutex_lock(&lock);
    esi_list_prepend(&all, &comm->link);
    pthread_mutex_unlock(&lock);
    esi_handles_set(&handles, ESI_HANDLE(handle), comm);
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

/* `key` is NULL to compute it from the members. */
static struct esi_comm *comm_register(MPI_Comm handle,
                                      const struct esi_comm *parent,
                                      uint16_t operation,
                                      uint64_t token,
                                      const uint64_t key[2],
                                      const char *name)
{
    struct members members;
    struct esi_comm *comm = comm_create(handle);

    if (comm == NULL)
        return NULL;
    if (!find_members(handle, comm->inter, &members))
        members.local_size = 0;
    if (!are_all_known(&members))
        make_own_key(comm->key);
    else if (key != NULL)
        memcpy(comm->key, key, sizeof comm->key);
    else
        make_key(parent, operation, token, hash_members(&members), comm->key);
    if (name != NULL)
        snprintf(comm->name, sizeof comm->name, "%s", name);
    else
        make_name(comm, parent, operation);
    enter_in_segment(comm, parent, &members);
    enter_in_ledger(comm, operation);
    free(members.local);
    free(members.remote);
    make_known(handle, comm);
    if (esi_trees != NULL && (comm->inter || comm->size > 1))
        esi_trees->on_peers();
    return comm;
}

struct esi_comm *esi_comm_register(MPI_Comm comm,
                                   const struct esi_comm *parent,
                                   uint16_t operation,
                                   uint64_t token)
{
    if (operation != 0)
        sweep_when_due();
    return comm_register(comm, parent, operation, token, NULL, NULL);
}

struct esi_comm *esi_comm_register_with_key(MPI_Comm comm,
                                            const struct esi_comm *parent,
                                            uint16_t operation,
                                            const uint64_t key[2])
{
    return comm_register(comm, parent, operation, 0, key, NULL);
}

void esi_comm_register_world(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int rank = -1;
    int size = -1;

    ESI_REAL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    ESI_REAL(MPI_Comm_size)(MPI_COMM_WORLD, &size);
    ESI_REAL(MPI_Comm_get_parent)(&parent);
    esi_process_set_world(rank, size, parent != MPI_COMM_NULL);
    if (esi_comm_lookup(ESI_HANDLE((MPI_Comm){MPI_COMM_WORLD})) == NULL)
        comm_register(MPI_COMM_WORLD, NULL, 0, 1, NULL, "MPI_COMM_WORLD");
    if (esi_comm_lookup(ESI_HANDLE((MPI_Comm){MPI_COMM_SELF})) == NULL)
        comm_register(MPI_COMM_SELF, NULL, 0, 2, NULL, "MPI_COMM_SELF");
    if (parent != MPI_COMM_NULL)
        esi_spawn_register_parent(parent);
}

/* --- Errors, names, destruction, iteration -------------------------------------- */

int esi_comm_raise(MPI_Comm comm, int code)
{
    ESI_REAL(MPI_Comm_call_errhandler)(comm, code);
    return code;
}

void esi_comm_set_name(uint64_t handle, const char *name)
{
    struct esi_comm *comm = esi_comm_lookup(handle);
    struct esi_process *process = esi_process_get();

    if (comm == NULL)
        return;
    pthread_mutex_lock(&lock);
    snprintf(comm->name, sizeof comm->name, "%s", name);
    pthread_mutex_unlock(&lock);
    if (process != NULL && comm->index != ES_COMMUNICATOR_NONE)
        esi_segment_name_communicator(process->segment, comm->index, name);
}

void esi_comm_get_name(uint16_t index, char out[ESI_COMM_NAME_BYTES])
{
    out[0] = '\0';
    if (index == ES_COMMUNICATOR_NONE)
        return;
    pthread_mutex_lock(&lock);
    ESI_LIST_FOREACH(struct esi_comm, comm, &all, link)
        if (comm->index == index) {
            memcpy(out, comm->name, ESI_COMM_NAME_BYTES);
            break;
        }
    pthread_mutex_unlock(&lock);
}

void esi_comm_copy_name(const struct esi_comm *comm, char out[ESI_COMM_NAME_BYTES])
{
    pthread_mutex_lock(&lock); /* another thread may be naming it */
    memcpy(out, comm->name, ESI_COMM_NAME_BYTES);
    pthread_mutex_unlock(&lock);
}

void esi_comm_forget(uint64_t handle)
{
    struct esi_comm *comm = esi_comm_lookup(handle);

    if (comm == NULL)
        return;
    esi_handles_remove(&handles, handle);
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
    if (comm->is_counted)
        esi_ledger_count_object(ESI_LEDGER_COMMUNICATORS, -1);
    esi_comm_unref(comm);
}

static void comm_drop(struct esi_comm *comm)
{
    struct esi_process *process = esi_process_get();

    pthread_mutex_lock(&lock);
    esi_list_remove(&all, &comm->link);
    pthread_mutex_unlock(&lock);
    if (process != NULL && comm->index != ES_COMMUNICATOR_NONE) {
        esi_segment_free_communicator(process->segment, comm->index);
        esi_segment_release_communicator(process->segment, comm->index);
    }
    esi_match_fini(&comm->received);
    esi_channels_fini(&comm->sent);
    esi_ledger_remove_communicator(comm->ledger);
    free(comm);
}

/* Makes room for the communicator; NULL only makes room. */
static void remember_comm(struct esi_comm *comm)
{
    struct esi_comm *oldest;

    pthread_mutex_lock(&lock);
    oldest = remembered.items[remembered.next];
    remembered.items[remembered.next] = comm;
    remembered.next = (remembered.next + 1) % REMEMBERED;
    pthread_mutex_unlock(&lock);
    if (oldest != NULL)
        comm_drop(oldest);
}

void esi_comm_destroy(struct esi_comm *comm)
{
    esi_match_flush(&comm->received);
    if (esi_trees == NULL)
        remember_comm(comm);
    else /* whoever sets up trees lists the communicators that exist */
        comm_drop(comm);
}

void esi_comm_drop_destroyed(void)
{
    for (int i = 0; i < REMEMBERED; i++)
        remember_comm(NULL);
}

/* The first communicator from `link` on that is not about to be destroyed, with a
 * reference.  The caller holds the lock. */
static struct esi_comm *hold_first(const struct esi_list_link *link)
{
    for (; link != NULL; link = link->next) {
        struct esi_comm *comm = ESI_LIST_ITEM(struct esi_comm, link, link);
        uint32_t references =
            atomic_load_explicit(&comm->references, memory_order_relaxed);

        while (references != 0)
            if (atomic_compare_exchange_weak(&comm->references, &references,
                                             references + 1))
                return comm;
    }
    return NULL;
}

struct esi_comm *esi_comm_hold(uint16_t index)
{
    struct esi_comm *comm;
    struct esi_comm *next;

    if (index == ES_COMMUNICATOR_NONE)
        return NULL;
    pthread_mutex_lock(&lock);
    comm = hold_first(all.first);
    while (comm != NULL && comm->index != index) {
        next = hold_first(comm->link.next);
        pthread_mutex_unlock(&lock);
        esi_comm_unref(comm); /* may be the last reference, which takes the lock */
        pthread_mutex_lock(&lock);
        comm = next;
    }
    pthread_mutex_unlock(&lock);
    return comm;
}

void esi_comm_foreach(void (*visit)(struct esi_comm *comm))
{
    struct esi_comm *comm;
    struct esi_comm *next;

    pthread_mutex_lock(&lock);
    comm = hold_first(all.first);
    pthread_mutex_unlock(&lock);
    while (comm != NULL) {
        visit(comm); /* unlocked, because it may ask for names */
        pthread_mutex_lock(&lock);
        next = hold_first(comm->link.next);
        pthread_mutex_unlock(&lock);
        esi_comm_unref(comm);
        comm = next;
    }
}
