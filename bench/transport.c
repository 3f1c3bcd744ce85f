/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of a request and its reply over each kind of link, relative to bare sockets.
 *
 *   transport [ROUNDS [TRIPS]]
 *
 * A parent asks child processes: requests of 16 bytes, replies of 64 bytes.  Measures
 * wall time and processor time of both sides: one child on the parent's core, one child
 * on another core, eight children on another core asked one after the other or all
 * before any reply is read.  Within a round all kinds take turns; the figures are the
 * medians of ROUNDS (default 9) rounds of TRIPS (default 2000) round trips.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tuplespace/transport/link.h"

enum {
    REQUEST_BYTES = 16,
    REPLY_BYTES = 64,
    CHILDREN = 8,
    ROUNDS_MAX = 101,
};

#define LIMIT_NS UINT64_C(60000000000)

struct child {
    pid_t pid;
    clockid_t clock;      /* its processor time */
    int descriptor;       /* if bare */
    struct es_link *link; /* if not bare */
};

/* The compared kinds. */
struct kind {
    const char *name;
    const char *address;    /* to listen on; NULL if bare */
    int (*connect)(int[2]); /* if bare: creates both ends */
    struct child children[CHILDREN];
};

/* One turn, per sweep over the children, in microseconds. */
struct cost {
    double wall;
    double parent; /* processor time */
    double children;
};

static struct esi_greeting greeting = {.run = "bench", .host = "here"};
static struct esi_run_key key;
static int trips = 2000;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* --- Connections ------------------------------------------------------------------ */

static int connect_unix(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int connect_tcp(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;

    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(ends[0], (struct sockaddr *)&address, length) != 0)
        return -1;
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ends[1] < 0 ? -1 : 0;
}

static void read_whole(int descriptor, char *memory, size_t size)
{
    size_t total = 0;

    while (total < size) {
        ssize_t got = recv(descriptor, memory + total, size - total, 0);

        if (got <= 0)
            exit(got < 0); /* the peer has closed the connection */
        total += (size_t)got;
    }
}

static void answer_bare(int descriptor)
{
    char request[REQUEST_BYTES], reply[REPLY_BYTES] = {0};

    for (;;) {
        read_whole(descriptor, request, sizeof request);
        if (send(descriptor, reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply)
            exit(1);
    }
}

static void answer_link(struct esi_listener *listener)
{
    struct pollfd waiting = {.fd = esi_listener_descriptor(listener), .events = POLLIN};
    char reply[REPLY_BYTES] = {0};
    struct iovec part = {reply, sizeof reply};
    struct esi_frame frame;
    struct es_link *link;
    int rc;

    if (poll(&waiting, 1, 60000) != 1 || esi_listener_accept(listener, &link) != 0 ||
        esi_link_greet(link, &greeting, &key, LIMIT_NS, NULL) != 0)
        exit(1);
    /* Other kinds take their turns meanwhile, so the wait may be long. */
    while ((rc = esi_link_receive(link, LIMIT_NS, NULL, &frame)) == -ETIMEDOUT ||
           rc == 0)
        if (rc == 0 &&
            esi_link_send(link, ES_FRAME_BATCH, frame.id, &part, 1, LIMIT_NS) != 0)
            exit(1);
    exit(0);
}

/* Forks a process that is killed when the parent ends. */
static bool fork_child(struct child *child)
{
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0)
        die("fork");
    if (child->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return true;
    }
    clock_getcpuclockid(child->pid, &child->clock);
    return false;
}

static void start_bare(const struct kind *kind, struct child *child)
{
    int ends[2];

    if (kind->connect(ends) != 0)
        die(kind->name);
    if (fork_child(child)) {
        close(ends[0]);
        answer_bare(ends[1]);
    }
    close(ends[1]);
    child->descriptor = ends[0];
}

static void start_link(const struct kind *kind, struct child *child)
{
    struct es_error error = {.text = ""};
    struct esi_listener *listener;
    int rc = esi_listener_open(kind->address, &error, &listener);

    if (rc == 0) {
        if (fork_child(child))
            answer_link(listener);
        rc = esi_link_connect(esi_listener_address(listener), &greeting, &key, LIMIT_NS,
                              &error, &child->link);
        esi_listener_close(listener);
    }
    if (rc != 0) {
        fprintf(stderr, "transport: %s: %s\n", kind->name, error.text);
        exit(2);
    }
}

/* --- Round trips ------------------------------------------------------------------ */

static void ask(const struct child *child)
{
    static char request[REQUEST_BYTES];
    struct iovec part = {request, sizeof request};

    if (child->link
            ? esi_link_send(child->link, ES_FRAME_PULL, 1, &part, 1, LIMIT_NS) != 0
            : send(child->descriptor, request, sizeof request, MSG_NOSIGNAL) < 0)
        die("send");
}

static void take(const struct child *child)
{
    char reply[REPLY_BYTES];
    struct esi_frame frame;

    if (!child->link)
        read_whole(child->descriptor, reply, sizeof reply);
    else if (esi_link_receive(child->link, LIMIT_NS, NULL, &frame) != 0 ||
             frame.length != REPLY_BYTES)
        die("receive");
}

static double read_clock(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double children_time(const struct kind *kind, int count)
{
    double total = 0;

    for (int i = 0; i < count; i++)
        total += read_clock(kind->children[i].clock);
    return total;
}

static void sweep(const struct kind *kind, int count, bool at_once)
{
    for (int i = 0; i < count; i++) {
        ask(&kind->children[i]);
        if (!at_once)
            take(&kind->children[i]);
    }
    for (int i = 0; i < count && at_once; i++)
        take(&kind->children[i]);
}

static struct cost turn(const struct kind *kind, int count, bool at_once)
{
    int sweeps = trips / count > 0 ? trips / count : 1;
    struct cost before, after;

    sweep(kind, count, at_once);
    before.children = children_time(kind, count);
    before.parent = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    before.wall = read_clock(CLOCK_MONOTONIC);
    for (int i = 0; i < sweeps; i++)
        sweep(kind, count, at_once);
    after.wall = read_clock(CLOCK_MONOTONIC);
    after.parent = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    after.children = children_time(kind, count);
    return (struct cost){.wall = (after.wall - before.wall) / sweeps,
                         .parent = (after.parent - before.parent) / sweeps,
                         .children = (after.children - before.children) / sweeps};
}

/* --- Comparing -------------------------------------------------------------------- */

enum { BARE_UNIX, BARE_TCP, LINK_UNIX, LINK_TCP, LINK_TLS, KINDS };

static struct kind kinds[KINDS] = {
    [BARE_UNIX] = {.name = "bare unix", .connect = connect_unix},
    [BARE_TCP] = {.name = "bare tcp", .connect = connect_tcp},
    [LINK_UNIX] = {.name = "link unix"},
    [LINK_TCP] = {.name = "link tcp", .address = "tcp:127.0.0.1:0"},
    [LINK_TLS] = {.name = "link tls", .address = "tls:127.0.0.1:0"},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static struct cost median_cost(const struct cost *costs, int count)
{
    double wall[ROUNDS_MAX], parent[ROUNDS_MAX], children[ROUNDS_MAX];

    for (int i = 0; i < count; i++) {
        wall[i] = costs[i].wall;
        parent[i] = costs[i].parent;
        children[i] = costs[i].children;
    }
    return (struct cost){median(wall, count), median(parent, count),
                         median(children, count)};
}

static void pin(pid_t pid, int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    if (sched_setaffinity(pid, sizeof set, &set) != 0)
        die("sched_setaffinity");
}

static void figure(const char *group, const char *name, double value, const char *unit)
{
    printf("figure: transport.%s.%s %.3f %s\n", group, name, value, unit);
}

static void print_figures(const char *group, const struct cost *found, int count)
{
    figure(group, "unix.wall", found[LINK_UNIX].wall, "us");
    figure(group, "tcp.wall", found[LINK_TCP].wall, "us");
    figure(group, "tls.wall", found[LINK_TLS].wall, "us");
    figure(group, "unix.ratio", found[LINK_UNIX].wall / found[BARE_UNIX].wall, "ratio");
    figure(group, "tcp.ratio", found[LINK_TCP].wall / found[BARE_TCP].wall, "ratio");
    figure(group, "tls_over_tcp", found[LINK_TLS].wall / found[LINK_TCP].wall, "ratio");
    figure(group, "tcp.parent_cpu", found[LINK_TCP].parent / count, "us/child");
    figure(group, "tls.parent_cpu", found[LINK_TLS].parent / count, "us/child");
}

/* Runs all kinds in turns: the parent on core 0, `count` children on `core`. */
static void compare_kinds(const char *group,
                          const char *title,
                          int rounds,
                          int core,
                          int count,
                          bool at_once)
{
    static struct cost costs[KINDS][ROUNDS_MAX];
    struct cost found[KINDS];

    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < CHILDREN; j++)
            pin(kinds[i].children[j].pid, core);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < KINDS; i++)
            costs[i][round] = turn(&kinds[i], count, at_once);
    printf("\n%s\n%-12s %10s %14s %14s\n", title, "kind", "wall us", "parent cpu us",
           "children cpu us");
    for (int i = 0; i < KINDS; i++) {
        found[i] = median_cost(costs[i], rounds);
        printf("%-12s %10.2f %14.2f %14.2f\n", kinds[i].name, found[i].wall,
               found[i].parent, found[i].children);
    }
    print_figures(group, found, count);
}

static void start_all(const char *folder)
{
    char address[ES_ADDRESS_BYTES];

    snprintf(address, sizeof address, "unix:%s/socket", folder);
    kinds[LINK_UNIX].address = address;
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < CHILDREN; j++)
            (kinds[i].address ? start_link : start_bare)(&kinds[i],
                                                         &kinds[i].children[j]);
    kinds[LINK_UNIX].address = NULL;
}

static void stop_all(void)
{
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < CHILDREN; j++) {
            esi_link_close(kinds[i].children[j].link);
            kill(kinds[i].children[j].pid, SIGKILL);
            waitpid(kinds[i].children[j].pid, NULL, 0);
        }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 9;
    char folder[] = "/tmp/eventspace-bench-XXXXXX";

    if (argc > 2)
        trips = atoi(argv[2]);
    if (rounds < 1 || rounds > ROUNDS_MAX || trips < 1) {
        fprintf(stderr, "usage: transport [ROUNDS [TRIPS]], up to %d rounds\n",
                ROUNDS_MAX);
        return 2;
    }
    if (!mkdtemp(folder) || esi_run_key_make(&key) != 0)
        die("set-up");
    start_all(folder);
    rmdir(folder);
    pin(0, 0);
    compare_kinds("one_core", "one child, both on one core", rounds, 0, 1, false);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
        compare_kinds("two_cores", "one child, on another core", rounds, 1, 1, false);
        compare_kinds("eight_in_turn", "eight children, one after the other", rounds, 1,
                      CHILDREN, false);
        compare_kinds("eight_at_once", "eight children, all asked first", rounds, 1,
                      CHILDREN, true);
    } else {
        printf("one processor only: no children on another core\n");
    }
    stop_all();
    return 0;
}
