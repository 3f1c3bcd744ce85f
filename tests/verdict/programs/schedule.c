/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * schedule.c - executes a file that schedules.py has written: verdict_schedule FILE
 *
 * The file contains the number of ranks, the communicators, the rounds of the first
 * part (0: until there is a file $VERDICT_SIGNS/go) and the steps of each rank, one per
 * line:
 *     ranks N / communicator COLOUR... / rounds N / part / RANK STEP ARGUMENT...
 * The second part is optional.  It is executed once, at the end.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COMMUNICATORS_MAX = 8,
    REQUESTS_MAX = 64,
    STEPS_MAX = 4096,
    ARGUMENTS_MAX = 16,
    BYTES_MAX = 1 << 17,
    PARTS_MAX = 2,
    ROUNDS_AHEAD_MAX = 16,
};

struct step {
    char name[16];
    int arguments[ARGUMENTS_MAX];
    int count;
};

struct part {
    struct step steps[STEPS_MAX];
    int count;
};

static int rank;
static int rounds;
static int part_count;
static struct part parts[PARTS_MAX];
static MPI_Comm communicators[COMMUNICATORS_MAX];
static int communicator_count;
static MPI_Request requests[REQUESTS_MAX];
static char *memory[REQUESTS_MAX + 2]; /* for each request, and for blocking calls */
static int words[2][COMMUNICATORS_MAX];

static void fail_on(const char *what)
{
    fprintf(stderr, "verdict_schedule: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* --- Reading ---------------------------------------------------------------------- */

static int read_numbers(char *text, int *ret_numbers)
{
    int count = 0;

    for (char *end; count < ARGUMENTS_MAX; text = end) {
        long number = strtol(text, &end, 10);
        if (end == text)
            break;
        ret_numbers[count++] = (int)number;
    }
    return count;
}

static void add_communicator(char *colours)
{
    int numbers[ARGUMENTS_MAX];
    int count = read_numbers(colours, numbers);

    if (rank >= count || communicator_count == COMMUNICATORS_MAX)
        fail_on("too many communicators, or too few colours");
    MPI_Comm_split(MPI_COMM_WORLD, numbers[rank] < 0 ? MPI_UNDEFINED : numbers[rank],
                   rank, &communicators[communicator_count++]);
}

static void add_step(const char *line)
{
    struct part *part = &parts[part_count - 1];
    int of_rank, used;
    char name[16];

    if (part_count == 0 || part->count == STEPS_MAX ||
        sscanf(line, "%d %15s%n", &of_rank, name, &used) != 2)
        fail_on("a line is wrong, or there are too many");
    if (of_rank != rank)
        return;
    struct step *step = &part->steps[part->count++];
    memcpy(step->name, name, sizeof name);
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s", line + used);
    step->count = read_numbers(arguments, step->arguments);
}

static void read_line(char *line, int size)
{
    int number;

    if (sscanf(line, "ranks %d", &number) == 1) {
        if (number != size)
            fail_on("it is for another number of ranks");
    } else if (!strncmp(line, "communicator ", 13)) {
        add_communicator(line + 13);
    } else if (sscanf(line, "rounds %d", &number) == 1) {
        rounds = number;
    } else if (!strncmp(line, "part", 4)) {
        if (part_count++ == PARTS_MAX)
            fail_on("too many parts");
    } else {
        add_step(line);
    }
}

static void read_schedule(const char *path)
{
    char line[256];
    int size;
    FILE *file = fopen(path, "r");

    if (!file)
        fail_on("the file cannot be read");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    communicators[communicator_count++] = MPI_COMM_WORLD;
    while (fgets(line, sizeof line, file))
        read_line(line, size);
    fclose(file);
}

/* --- Executing -------------------------------------------------------------------- */

/* send COMMUNICATOR PEER TAG BYTES, ssend likewise */
static void run_send(const struct step *step)
{
    const int *a = step->arguments;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) =
        step->name[1] == 's' ? MPI_Ssend : MPI_Send;

    send(memory[REQUESTS_MAX], a[3], MPI_BYTE, a[1], a[2], communicators[a[0]]);
}

/* recv COMMUNICATOR PEER TAG; a peer of -1 means MPI_ANY_SOURCE */
static void run_recv(const struct step *step)
{
    const int *a = step->arguments;

    MPI_Recv(memory[REQUESTS_MAX + 1], BYTES_MAX, MPI_BYTE,
             a[1] < 0 ? MPI_ANY_SOURCE : a[1], a[2], communicators[a[0]],
             MPI_STATUS_IGNORE);
}

/* isend COMMUNICATOR PEER TAG BYTES REQUEST */
static void run_isend(const struct step *step)
{
    const int *a = step->arguments;

    MPI_Isend(memory[a[4]], a[3], MPI_BYTE, a[1], a[2], communicators[a[0]],
              &requests[a[4]]);
}

/* irecv COMMUNICATOR PEER TAG REQUEST */
static void run_irecv(const struct step *step)
{
    const int *a = step->arguments;

    MPI_Irecv(memory[a[3]], BYTES_MAX, MPI_BYTE, a[1] < 0 ? MPI_ANY_SOURCE : a[1], a[2],
              communicators[a[0]], &requests[a[3]]);
}

static void run_wait(const struct step *step)
{
    MPI_Wait(&requests[step->arguments[0]], MPI_STATUS_IGNORE);
}

static void run_waitall(const struct step *step)
{
    MPI_Request all[ARGUMENTS_MAX];

    for (int i = 0; i < step->count; i++)
        all[i] = requests[step->arguments[i]];
    MPI_Waitall(step->count, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < step->count; i++)
        requests[step->arguments[i]] = MPI_REQUEST_NULL;
}

/* Waits for one of the requests.  The waitall that follows completes the others. */
static void run_waitany(const struct step *step)
{
    MPI_Request all[ARGUMENTS_MAX];
    int index;

    for (int i = 0; i < step->count; i++)
        all[i] = requests[step->arguments[i]];
    MPI_Waitany(step->count, all, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < step->count; i++)
        requests[step->arguments[i]] = all[i];
}

/* NAME COMMUNICATOR ROOT */
static void run_collective(const struct step *step)
{
    int *in = words[0], *out = words[1];
    MPI_Comm communicator = communicators[step->arguments[0]];

    if (!strcmp(step->name, "barrier"))
        MPI_Barrier(communicator);
    else if (!strcmp(step->name, "allreduce"))
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, communicator);
    else if (!strcmp(step->name, "allgather"))
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, communicator);
    else if (!strcmp(step->name, "alltoall"))
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, communicator);
    else if (!strcmp(step->name, "reduce"))
        MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, step->arguments[1], communicator);
    else if (!strcmp(step->name, "bcast"))
        MPI_Bcast(in, 1, MPI_INT, step->arguments[1], communicator);
    else
        fail_on("an unknown step");
}

/* ibarrier COMMUNICATOR REQUEST */
static void run_ibarrier(const struct step *step)
{
    MPI_Ibarrier(communicators[step->arguments[0]], &requests[step->arguments[1]]);
}

static void run_step(const struct step *step)
{
    static const struct {
        const char *name;
        void (*run)(const struct step *);
    } kinds[] = {
        {"send", run_send},       {"ssend", run_send},      {"recv", run_recv},
        {"isend", run_isend},     {"irecv", run_irecv},     {"wait", run_wait},
        {"waitall", run_waitall}, {"waitany", run_waitany}, {"ibarrier", run_ibarrier},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(step->name, kinds[i].name)) {
            kinds[i].run(step);
            return;
        }
    run_collective(step);
}

static void run_part(const struct part *part)
{
    for (int i = 0; i < part->count; i++)
        run_step(&part->steps[i]);
}

static void make_sign(const char *name)
{
    char path[4096];
    const char *folder = getenv("VERDICT_SIGNS");

    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
}

/* Whether the rounds end.  Rank 0 decides.  The barrier bounds how many rounds it can
 * be ahead of the others. */
static bool is_to_go(int round)
{
    char path[4096];
    const char *folder = getenv("VERDICT_SIGNS");
    int go = 0;

    if (!folder)
        return true;
    snprintf(path, sizeof path, "%s/go", folder);
    if (rank == 0)
        go = access(path, F_OK) == 0;
    if (round % ROUNDS_AHEAD_MAX == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return go;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < REQUESTS_MAX + 2; i++) {
        requests[i % REQUESTS_MAX] = MPI_REQUEST_NULL;
        memory[i] = calloc(1, BYTES_MAX);
        if (!memory[i])
            fail_on("no memory");
    }
    if (argc != 2)
        fail_on("usage: verdict_schedule FILE");
    read_schedule(argv[1]);
    make_sign("reached");
    for (int round = 0; rounds ? round < rounds : !is_to_go(round); round++)
        run_part(&parts[0]);
    if (part_count == PARTS_MAX)
        run_part(&parts[1]);
    for (int i = 0; i < REQUESTS_MAX + 2; i++)
        free(memory[i]);
    /* Communicators stay: a ledger forgets the operations on freed ones. */
    MPI_Finalize();
    return 0;
}
