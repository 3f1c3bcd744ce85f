/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creation and destruction of communicators (MPI-4.0, chapters 7, 8 and 11).
 *
 * Simple cases are rows of the table with `created`; the functions here are for calls
 * with two parents, with none, or with a request.
 */
#include "config.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/hash.h"
#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/progress.h"

/* Ends the call; returns whether there is something to register. */
static bool has_made(struct esi_call *call, int result, const MPI_Comm *made)
{
    call->tuple.stop = call->open ? esi_clock_read() : 0;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    return result == MPI_SUCCESS && *made != MPI_COMM_NULL;
}

/* Publishes the tuple.  `comm` is what was registered. */
static void publish_made(struct esi_call *call,
                         const struct esi_comm *comm,
                         const MPI_Comm *made)
{
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, call->tuple.stop);
    }
    if (comm != NULL)
        esi_comm_write_neighbours(call->thread, *made, comm, esi_clock_read());
    esi_call_exit(call);
}

/* Without a parent common to all members, `token` is a value on which they agree. */
static void leave_made(struct esi_call *call,
                       int result,
                       bool has_parent,
                       uint64_t token,
                       const MPI_Comm *made)
{
    struct esi_comm *comm = NULL;

    if (has_made(call, result, made))
        comm = esi_comm_register(*made, has_parent ? call->comm : NULL,
                                 call->tuple.operation, token);
    publish_made(call, comm, made);
}

void esi_end_spawned(struct esi_call *call,
                     int result,
                     const uint64_t key[2],
                     const MPI_Comm *made)
{
    struct esi_comm *comm = NULL;

    if (has_made(call, result, made))
        comm =
            esi_comm_register_with_key(*made, call->comm, call->tuple.operation, key);
    publish_made(call, comm, made);
}

void esi_end_created(struct esi_call *call,
                     int result,
                     MPI_Comm comm,
                     int token,
                     MPI_Comm *newcomm)
{
    (void)comm; /* described on entry */
    leave_made(call, result, true, (uint64_t)(int64_t)token, newcomm);
}

int esi_wrap_MPI_Intercomm_create(esi_MPI_Intercomm_create_fn *next,
                                  MPI_Comm local_comm,
                                  int local_leader,
                                  MPI_Comm peer_comm,
                                  int remote_leader,
                                  int tag,
                                  MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Intercomm_create, ES_CLASS_COMMUNICATOR))
        return next(local_comm, local_leader, peer_comm, remote_leader, tag, made);
    esi_begin_on_communicator(&call, local_comm);
    result = next(local_comm, local_leader, peer_comm, remote_leader, tag, made);
    leave_made(&call, result, false, (uint64_t)(int64_t)tag, made);
    return result;
}

int esi_wrap_MPI_Intercomm_merge(esi_MPI_Intercomm_merge_fn *next,
                                 MPI_Comm intercomm,
                                 int high,
                                 MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Intercomm_merge, ES_CLASS_COMMUNICATOR))
        return next(intercomm, high, made);
    esi_begin_communicator(&call, intercomm);
    result = next(intercomm, high, made);
    esi_end_created(&call, result, intercomm, 0, made);
    return result;
}

/* --- Nonblocking duplication: the order of calls makes the key ------------------ */

static void leave_idup(struct esi_call *call,
                       int result,
                       MPI_Comm *made,
                       const MPI_Request *handle)
{
    struct esi_request request = {.kind = ESI_REQUEST_DUPLICATE,
                                  .handle = ESI_HANDLE(*handle)};

    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    request.tuple = call->tuple;
    request.comm = call->comm;
    if (result == MPI_SUCCESS && call->comm != NULL) {
        request.duplicate = malloc(sizeof *request.duplicate);
        if (request.duplicate == NULL)
            esi_process_count_refused_tuple();
    }
    if (request.duplicate != NULL) {
        request.duplicate->made = made;
        esi_comm_idup_key(call->comm, request.duplicate->key);
        request.site = esi_site_number(call->thread);
        esi_comm_ref(call->comm);
        if (!esi_request_put(&request)) {
            esi_process_count_refused_tuple();
            esi_comm_unref(call->comm);
            free(request.duplicate);
        }
    }
    if (result == MPI_SUCCESS) {
        uint64_t stop = esi_clock_read();

        esi_collective_write_post(call->thread, &call->tuple, stop);
        if (esi_call_is_wanted(call))
            esi_call_count(call, stop);
    } else {
        esi_call_write_failed(call);
    }
    esi_call_exit(call);
}

int esi_wrap_MPI_Comm_idup(esi_MPI_Comm_idup_fn *next,
                           MPI_Comm comm,
                           MPI_Comm *made,
                           MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Comm_idup, ES_CLASS_COMMUNICATOR))
        return next(comm, made, request);
    esi_begin_icollective(&call, comm, ES_PEER_NONE, 0, MPI_BYTE);
    result = next(comm, made, request);
    leave_idup(&call, result, made, request);
    return result;
}

#ifdef ESI_HAS_MPI_Comm_idup_with_info
int esi_wrap_MPI_Comm_idup_with_info(esi_MPI_Comm_idup_with_info_fn *next,
                                     MPI_Comm comm,
                                     MPI_Info info,
                                     MPI_Comm *made,
                                     MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Comm_idup_with_info, ES_CLASS_COMMUNICATOR))
        return next(comm, info, made, request);
    esi_begin_icollective(&call, comm, ES_PEER_NONE, 0, MPI_BYTE);
    result = next(comm, info, made, request);
    leave_idup(&call, result, made, request);
    return result;
}
#endif

/* --- From groups: no parent at all ---------------------------------------------- */

#ifdef ESI_HAS_MPI_Comm_create_from_group
static uint64_t hash_stringtag(const char *stringtag)
{
    return esi_hash_mix_text(3, stringtag != NULL ? stringtag : "");
}

int esi_wrap_MPI_Comm_create_from_group(esi_MPI_Comm_create_from_group_fn *next,
                                        MPI_Group group,
                                        const char *stringtag,
                                        MPI_Info info,
                                        MPI_Errhandler errhandler,
                                        MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_create_from_group, ES_CLASS_COMMUNICATOR))
        return next(group, stringtag, info, errhandler, made);
    esi_begin_call(&call);
    result = next(group, stringtag, info, errhandler, made);
    leave_made(&call, result, false, hash_stringtag(stringtag), made);
    return result;
}

int esi_wrap_MPI_Intercomm_create_from_groups(
    esi_MPI_Intercomm_create_from_groups_fn *next,
    MPI_Group local_group,
    int local_leader,
    MPI_Group remote_group,
    int remote_leader,
    const char *stringtag,
    MPI_Info info,
    MPI_Errhandler errhandler,
    MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Intercomm_create_from_groups,
                        ES_CLASS_COMMUNICATOR))
        return next(local_group, local_leader, remote_group, remote_leader, stringtag,
                    info, errhandler, made);
    esi_begin_call(&call);
    result = next(local_group, local_leader, remote_group, remote_leader, stringtag,
                  info, errhandler, made);
    leave_made(&call, result, false, hash_stringtag(stringtag), made);
    return result;
}
#endif

/* --- Other processes ------------------------------------------------------------ */

int esi_wrap_MPI_Comm_accept(esi_MPI_Comm_accept_fn *next,
                             const char *port,
                             MPI_Info info,
                             int root,
                             MPI_Comm comm,
                             MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_accept, ES_CLASS_COMMUNICATOR))
        return next(port, info, root, comm, made);
    esi_begin_collective(&call, comm, root, 0, MPI_BYTE);
    result = next(port, info, root, comm, made);
    leave_made(&call, result, false, 0, made);
    return result;
}

int esi_wrap_MPI_Comm_connect(esi_MPI_Comm_connect_fn *next,
                              const char *port,
                              MPI_Info info,
                              int root,
                              MPI_Comm comm,
                              MPI_Comm *made)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_connect, ES_CLASS_COMMUNICATOR))
        return next(port, info, root, comm, made);
    esi_begin_collective(&call, comm, root, 0, MPI_BYTE);
    result = next(port, info, root, comm, made);
    leave_made(&call, result, false, 0, made);
    return result;
}

/* The two ports of a connection, the same at both ends; 0 if it has none. */
static uint64_t find_ports(int fd)
{
    uint64_t ports = 0;

    for (int end = 0; end < 2; end++) {
        union {
            struct sockaddr any;
            struct sockaddr_in in;
            struct sockaddr_in6 in6;
        } address = {.any.sa_family = AF_UNSPEC};
        socklen_t length = sizeof address;
        int rc = end == 0 ? getsockname(fd, &address.any, &length)
                          : getpeername(fd, &address.any, &length);
        in_port_t port = address.any.sa_family == AF_INET6 ? address.in6.sin6_port
                                                           : address.in.sin_port;

        if (rc != 0 ||
            (address.any.sa_family != AF_INET && address.any.sa_family != AF_INET6))
            return 0;
        ports += esi_hash_mix(1, port);
    }
    return ports;
}

int esi_wrap_MPI_Comm_join(esi_MPI_Comm_join_fn *next, int fd, MPI_Comm *made)
{
    struct esi_call call;
    uint64_t ports;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_join, ES_CLASS_COMMUNICATOR))
        return next(fd, made);
    esi_begin_call(&call);
    ports = find_ports(fd);
    result = next(fd, made);
    leave_made(&call, result, false, ports, made);
    return result;
}

/* --- The end, and names --------------------------------------------------------- */

/* Also if the call is not an operation of its own (a callback frees what it created):
 * the handle will be reused with another meaning.  Freeing a predefined handle
 * fails. */
static void forget_communicator(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return;
    if (ESI_UNLIKELY(esi_trees != NULL))
        esi_trees->on_comm_free(esi_comm_lookup(ESI_HANDLE(comm)));
    esi_comm_forget(ESI_HANDLE(comm));
}

/* The handle is removed before MPI frees it, because another thread may get the same
 * one immediately.  If the call fails, the next use of the communicator registers it
 * again. */
int esi_wrap_MPI_Comm_free(esi_MPI_Comm_free_fn *next, MPI_Comm *comm)
{
    struct esi_call call;
    int result;

    if (comm == NULL)
        return next(comm);
    if (!esi_call_enter(&call, ES_OP_MPI_Comm_free, ES_CLASS_COMMUNICATOR)) {
        forget_communicator(*comm);
        return next(comm);
    }
    esi_begin_communicator(&call, *comm);
    forget_communicator(*comm);
    call.comm = NULL;
    call.unknown_comm = 0;
    result = next(comm);
    esi_call_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Comm_disconnect(esi_MPI_Comm_disconnect_fn *next, MPI_Comm *comm)
{
    struct esi_call call;
    int result;

    if (comm == NULL)
        return next(comm);
    if (!esi_call_enter(&call, ES_OP_MPI_Comm_disconnect, ES_CLASS_COMMUNICATOR)) {
        forget_communicator(*comm);
        return next(comm);
    }
    esi_begin_communicator(&call, *comm);
    forget_communicator(*comm);
    call.comm = NULL;
    call.unknown_comm = 0;
    result = next(comm);
    esi_call_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Comm_set_name(esi_MPI_Comm_set_name_fn *next,
                               MPI_Comm comm,
                               const char *name)
{
    int result = next(comm, name);

    if (result == MPI_SUCCESS && esi_thread_self.depth == 0)
        esi_comm_set_name(ESI_HANDLE(comm), name);
    return result;
}

int esi_wrap_MPI_Type_free(esi_MPI_Type_free_fn *next, MPI_Datatype *datatype)
{
    /* The handle may be reused with another size: caches of threads are invalid. */
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
    if (datatype != NULL)
        esi_count_type_freed(*datatype);
    if (esi_progress_is_due() && datatype != NULL && esi_trees != NULL &&
        esi_trees->defer_type_free(*datatype)) {
        *datatype = MPI_DATATYPE_NULL;
        return MPI_SUCCESS;
    }
    return next(datatype);
}

int esi_wrap_MPI_Group_free(esi_MPI_Group_free_fn *next, MPI_Group *group)
{
    if (group != NULL && *group != MPI_GROUP_EMPTY && *group != MPI_GROUP_NULL &&
        esi_thread_self.depth == 0)
        esi_ledger_count_object(ESI_LEDGER_GROUPS, -1);
    return next(group);
}

int esi_wrap_MPI_Op_free(esi_MPI_Op_free_fn *next, MPI_Op *op)
{
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
    if (op != NULL && esi_thread_self.depth == 0)
        esi_ledger_count_object(ESI_LEDGER_OPERATORS, -1);
    if (esi_progress_is_due() && op != NULL && esi_trees != NULL &&
        esi_trees->defer_op_free(*op)) {
        *op = MPI_OP_NULL;
        return MPI_SUCCESS;
    }
    return next(op);
}

/* --- Neighbours (MPI-4.0, chapter 8) -------------------------------------------- */

/*
 * The real routines are called for a communicator that MPI has just created; nothing
 * here communicates.
 */

/* Maximum number of neighbours recorded for a communicator; each tuple has the total
 * number. */
enum { NEIGHBOURS_MAX = 1024 };

/* Each returns the number of neighbours, and their ranks, which the caller frees; -1 if
 * it cannot be determined.  Neighbours that are MPI_PROC_NULL are omitted, because they
 * send nothing. */
static int neighbours_in_grid(MPI_Comm comm, int **ret_ranks)
{
    int dimensions = 0;
    int count = 0;
    int *ranks;

    if (ESI_REAL(MPI_Cartdim_get)(comm, &dimensions) != MPI_SUCCESS)
        return -1;
    ranks = calloc((size_t)dimensions * 2 + 1, sizeof *ranks);
    if (ranks == NULL)
        return -1;
    for (int i = 0; i < dimensions; i++) {
        int before = MPI_PROC_NULL;
        int behind = MPI_PROC_NULL;

        ESI_REAL(MPI_Cart_shift)(comm, i, 1, &before, &behind);
        if (before >= 0)
            ranks[count++] = before;
        if (behind >= 0)
            ranks[count++] = behind;
    }
    *ret_ranks = ranks;
    return count;
}

static int neighbours_in_graph(MPI_Comm comm, int rank, int **ret_ranks)
{
    int count = 0;
    int *ranks;

    if (ESI_REAL(MPI_Graph_neighbors_count)(comm, rank, &count) != MPI_SUCCESS)
        return -1;
    ranks = calloc((size_t)count + 1, sizeof *ranks);
    if (ranks == NULL)
        return -1;
    ESI_REAL(MPI_Graph_neighbors)(comm, rank, count, ranks);
    *ret_ranks = ranks;
    return count;
}

static int sources_in_graph(MPI_Comm comm, int **ret_ranks)
{
    int sources = 0;
    int destinations = 0;
    int weighted = 0;
    int *all;     /* sources, their weights, destinations, their weights */
    int *targets; /* the latter two */

    if (ESI_REAL(MPI_Dist_graph_neighbors_count)(comm, &sources, &destinations,
                                                 &weighted) != MPI_SUCCESS)
        return -1;
    all = calloc((size_t)sources * 2 + (size_t)destinations * 2 + 1, sizeof *all);
    if (all == NULL)
        return -1;
    targets = all + (size_t)sources * 2;
    ESI_REAL(MPI_Dist_graph_neighbors)
    (comm, sources, all, all + sources, destinations, targets, targets + destinations);
    *ret_ranks = all;
    return sources;
}

static int find_neighbours(MPI_Comm comm, int rank, int **ret_ranks)
{
    int kind = MPI_UNDEFINED;

    ESI_REAL(MPI_Topo_test)(comm, &kind);
    switch (kind) {
    case MPI_CART:
        return neighbours_in_grid(comm, ret_ranks);
    case MPI_GRAPH:
        return neighbours_in_graph(comm, rank, ret_ranks);
    case MPI_DIST_GRAPH:
        return sources_in_graph(comm, ret_ranks);
    default:
        return -1;
    }
}

void esi_comm_write_neighbours(struct esi_thread *thread,
                               MPI_Comm handle,
                               const struct esi_comm *comm,
                               uint64_t now)
{
    struct es_tuple tuple = {.operation = ES_OP_MPI_topology_neighbour,
                             .start = now,
                             .stop = now,
                             .peer = ES_PEER_NONE};
    int *ranks = NULL;
    int count;

    if (comm == NULL || comm->inter)
        return;
    count = find_neighbours(handle, comm->rank, &ranks);
    tuple.communicator = comm->index;
    tuple.tag = count;
    for (int i = 0; i < count && i < NEIGHBOURS_MAX; i++) {
        tuple.sequence = (uint32_t)i;
        tuple.peer = ranks[i];
        esi_path_write(thread, &tuple);
    }
    if (count == 0)
        esi_path_write(thread, &tuple);
    free(ranks);
}
