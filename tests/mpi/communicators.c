/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * communicators - creates communicators in every way, names them, and sends a message
 * on each.
 *
 *   communicators           four ranks; names begin with "c:"
 *   communicators many N    creates and frees N; prints the growth of memory in KiB
 *   communicators again N   creates, uses and frees N, on each rank by itself
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int size;

/* Names a communicator, and passes a message around its ring or between its sides. */
static void use(MPI_Comm comm, const char *name)
{
    char full[32];
    int inter;
    int mine;
    int peers;
    int word = 0;

    if (comm == MPI_COMM_NULL)
        return;
    snprintf(full, sizeof full, "c:%s", name);
    MPI_Comm_set_name(comm, full);
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &mine);
    if (inter) {
        MPI_Comm_remote_size(comm, &peers);
        if (mine < peers)
            MPI_Sendrecv(&word, 1, MPI_INT, mine, 1, &word, 1, MPI_INT, mine, 1, comm,
                         MPI_STATUS_IGNORE);
    } else {
        MPI_Comm_size(comm, &peers);
        MPI_Sendrecv(&word, 1, MPI_INT, (mine + 1) % peers, 1, &word, 1, MPI_INT,
                     (mine + peers - 1) % peers, 1, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
}

static void use_and_free(MPI_Comm *comm, const char *name)
{
    use(*comm, name);
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
}

static void simple(void)
{
    MPI_Comm comm;
    MPI_Comm second;
    MPI_Request requests[2];
    MPI_Info info;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    use_and_free(&comm, "dup");
    use_and_free(&second, "dup2");
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    use_and_free(&comm, "dup_with_info");
    MPI_Info_free(&info);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]);
    if (rank % 2 == 0) { /* completed in any order */
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
        MPI_Status statuses[2];

        MPI_Waitall(2, requests, statuses);
    }
    use_and_free(&second, "idup2");
    use_and_free(&comm, "idup");
}

static void parts(void)
{
    MPI_Comm comm;
    MPI_Group world;
    MPI_Group group;
    int three[3] = {2, 0, 3};
    char name[24];

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    snprintf(name, sizeof name, "split%d", rank % 2);
    use_and_free(&comm, name);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 5, 0, &comm);
    use_and_free(&comm, "split_some");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(&comm, "split_type");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, size < 4 ? 1 : 3, size < 4 ? &three[1] : three, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    use_and_free(&comm, "create");
    if (rank != 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &comm);
        use_and_free(&comm, "create_group");
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* Duplicates keep the topology. */
static void duplicates(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Request request;

    MPI_Comm_dup(comm, &copy);
    use_and_free(&copy, "adjacent_dup");
    MPI_Comm_idup(comm, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(&copy, "adjacent_idup");
}

/* Rank 0 has all others as sources, with weights; they have none. */
static void star(void)
{
    MPI_Comm comm;
    int others[16];
    int weights[16];

    for (int i = 1; i < size; i++) {
        others[i - 1] = size - i;
        weights[i - 1] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? size - 1 : 0, others,
                                   weights, rank == 0 ? 0 : 1, (int[]){0}, (int[]){1},
                                   MPI_INFO_NULL, 0, &comm);
    use_and_free(&comm, "star");
}

static void topologies(void)
{
    MPI_Comm comm;
    int dims[2] = {2, size / 2};
    int periods[2] = {0, 1};
    int keep[2] = {0, 1};
    int index[16];
    int edges[16];
    int left = (rank + size - 1) % size;
    int right = (rank + 1) % size;
    MPI_Comm row;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Cart_sub(comm, keep, &row);
    use(comm, "cart");
    use_and_free(&row, rank < size / 2 ? "row0" : "row1");
    MPI_Comm_free(&comm);
    star();
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    use_and_free(&comm, "graph");
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    duplicates(comm);
    use_and_free(&comm, "adjacent");
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, &right, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &comm);
    use_and_free(&comm, "dist_graph");
}

static void between(void)
{
    MPI_Comm half;
    MPI_Comm comm;
    MPI_Comm other;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 12, &comm);
    use(comm, "inter");
    MPI_Comm_dup(comm, &other);
    use_and_free(&other, "inter_dup");
    MPI_Intercomm_merge(comm, rank % 2, &other);
    use_and_free(&other, "merge");
    MPI_Comm_free(&comm);
    MPI_Comm_free(&half);
}

static void from_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "one", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    use_and_free(&comm, "from_group");
    MPI_Comm_create_from_group(group, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    use_and_free(&comm, "from_group2");
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
        MPI_Abort(MPI_COMM_WORLD, 4);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void many(int times)
{
    long before = 0;

    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        MPI_Comm part;

        if (i == times / 10)
            before = resident_kib();
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_split(comm, 1, 0, &part);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
        MPI_Comm_free(&comm);
    }
    printf("growth %ld\n", resident_kib() - before);
}

/* Each communicator is used once and freed, except one that stays; one has a request
 * that outlives it. */
static void again(int count)
{
    MPI_Request pending = MPI_REQUEST_NULL;
    MPI_Comm kept = MPI_COMM_NULL;
    int in = 0;
    int out = 0;

    for (int i = 0; i < count; i++) {
        MPI_Comm made;

        MPI_Comm_dup(MPI_COMM_SELF, &made);
        MPI_Barrier(made);
        if (i == count / 2) {
            kept = made;
            MPI_Comm_set_name(kept, "kept");
            continue;
        }
        if (i == 10) {
            MPI_Comm_set_name(made, "pending");
            MPI_Irecv(&in, 1, MPI_INT, 0, 1, made, &pending);
            MPI_Send(&out, 1, MPI_INT, 0, 1, made);
        }
        MPI_Comm_free(&made);
    }
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    if (kept != MPI_COMM_NULL) {
        MPI_Barrier(kept);
        MPI_Comm_free(&kept);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2 && strcmp(argv[1], "again") == 0) {
        again(atoi(argv[2]));
        MPI_Finalize();
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "many") == 0) {
        many(atoi(argv[2]));
    } else {
        simple();
        parts();
        topologies();
        between();
        from_session();
    }
    MPI_Finalize();
    return 0;
}
