/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * traffic - random messages in every form that MPI has, with a log of those received.
 *
 *   traffic LOG_DIRECTORY SEED MESSAGES [THREADS]
 *
 * Every rank sends MESSAGES messages, posts receives at random, with wildcards,
 * completes and cancels them in any order, and probes for messages that match no posted
 * receive. When all messages are sent, the ranks exchange their numbers.  A message
 * contains its communicator, source, tag and number on its channel.
 * LOG_DIRECTORY/log.RANK.THREAD has a line for each message sent and received, and the
 * number of calls of each routine.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

enum {
    COMMS = 5,
    TAGS = 6,
    MAX_WORDS = 10000,
    MAX_POSTED = 24,
    MAX_SENDS = 64,
    HEADER = 5,
    SHORT = 200, /* still below the 1 KiB that Open MPI buffers for a rank itself */
    MAX_RANKS = 16
};

/* clang-format off */
enum call {
    SEND, BSEND, ISEND, ISSEND, IBSEND, SEND_INIT, START_SEND, RECV, IRECV,
    RECV_INIT, START_RECEIVE, MRECV, IMRECV, SENDRECV, SENDRECV_RECEIVE, REPLACE,
    REPLACE_RECEIVE, ISENDRECV, ISENDRECV_RECEIVE, START, STARTALL, PROBE, MPROBE,
    WAIT, WAITALL, WAITANY, WAITSOME, REQUEST_FREE, CANCEL, IALLTOALL, POLL, CALLS
};
/* clang-format on */

static const char *const names[CALLS] = {
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Ibsend",
    "MPI_Send_init",
    "MPI_Start send",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Recv_init",
    "MPI_Start receive",
    "MPI_Mrecv",
    "MPI_Imrecv",
    "MPI_Sendrecv",
    "MPI_Sendrecv receive",
    "MPI_Sendrecv_replace",
    "MPI_Sendrecv_replace receive",
    "MPI_Isendrecv",
    "MPI_Isendrecv receive",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Probe",
    "MPI_Mprobe",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Request_free",
    "MPI_Cancel",
    "MPI_Ialltoall",
    "polls",
};

struct posted {
    MPI_Request request; /* MPI_REQUEST_NULL = unused */
    int comm;
    bool persistent;
    bool active;
    bool cancelling;
    bool null; /* from MPI_PROC_NULL: some MPIs set no proper status */
    int32_t *words;
};

struct talker {
    pthread_t pthread;
    int number;
    uint64_t own; /* random state */
    int messages; /* not yet sent */
    int *sent_to; /* by world rank */
    int *sent_here;
    MPI_Comm control;
    int expected;
    int received;
    FILE *log;
    struct posted posted[MAX_POSTED];
    MPI_Request sends[MAX_SENDS];
    int32_t *send_words[MAX_SENDS];
    int send_count;
    int32_t *serials; /* [comm][dest][tag] */
    uint64_t calls[CALLS];
};

struct letter {
    int comm;
    int dest;
    int tag;
    int words;
    int32_t *content;
};

static MPI_Comm comms[COMMS];
static int ranks[COMMS];
static int peers[COMMS]; /* number of ranks that can receive */
static int world_of[COMMS][MAX_RANKS];
static int world_size;
static int world_rank;
static bool threaded;
static const char *directory;

static void die(const char *why)
{
    fprintf(stderr, "traffic: rank %d: %s\n", world_rank, why);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Threads have tags of their own on shared communicators. */
static int tag_of(const struct talker *talker, unsigned int which)
{
    return talker->number * TAGS + (int)which;
}

/* --- Received messages ----------------------------------------------------------- */

static void took(struct talker *talker,
                 int comm,
                 const int32_t *words,
                 const MPI_Status *status)
{
    int bytes;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (words[0] != comm || words[1] != status->MPI_SOURCE ||
        words[2] != status->MPI_TAG || words[4] * 4 != bytes) {
        fprintf(stderr, "traffic: got %d from %d tag %d: t%d %d %d #%d %d\n", bytes,
                status->MPI_SOURCE, status->MPI_TAG, words[0], words[1], words[2],
                words[3], words[4]);
        die("a message is not what its status says");
    }
    fprintf(talker->log, "R\tt%d\t%d\t%d\t%d\t%d\n", comm, status->MPI_SOURCE,
            status->MPI_TAG, words[3], bytes);
    talker->received++;
}

static void finished(struct talker *talker, struct posted *posted, MPI_Status *status)
{
    int cancelled;

    MPI_Test_cancelled(status, &cancelled);
    if (!cancelled && !posted->null)
        took(talker, posted->comm, posted->words, status);
    posted->active = false;
    posted->cancelling = false;
    if (!posted->persistent && posted->request != MPI_REQUEST_NULL)
        die("a completed request is not null");
}

/* MPICH 4.2.1 ends a persistent request that is asked: its message has no status. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40200000
enum { MAY_ASK_PERSISTENT = 0 };
#else
enum { MAY_ASK_PERSISTENT = 1 };
#endif

static bool is_done(struct talker *talker, const struct posted *posted)
{
    int flag;

    if (posted->persistent && !MAY_ASK_PERSISTENT)
        return false;
    talker->calls[POLL]++;
    MPI_Request_get_status(posted->request, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

/* Completes requests by a call chosen at random; waits are called only for requests
 * that are complete. */
static void complete(struct talker *talker)
{
    MPI_Request requests[MAX_POSTED];
    MPI_Status statuses[MAX_POSTED];
    struct posted *of[MAX_POSTED];
    int indices[MAX_POSTED];
    int count = 0;
    int ready = 0;
    int done = 0;
    int flag = 0;

    for (int i = 0; i < MAX_POSTED; i++)
        if (talker->posted[i].active && random_below(&talker->own, 4) != 0) {
            of[count] = &talker->posted[i];
            requests[count++] = talker->posted[i].request;
        }
    for (int i = 0; i < count; i++)
        ready += is_done(talker, of[i]);
    if (count == 0)
        return;
    switch (random_below(&talker->own, 8)) {
    case 0:
        for (int i = 0; i < count; i++)
            if (is_done(talker, of[i])) {
                talker->calls[WAIT]++;
                MPI_Wait(&requests[i], &statuses[0]);
                indices[0] = i;
                done = 1;
                break;
            }
        break;
    case 1:
        talker->calls[POLL]++;
        MPI_Test(&requests[0], &flag, &statuses[0]);
        indices[0] = 0;
        done = flag;
        break;
    case 2:
        if (ready == 0)
            break;
        talker->calls[WAITANY]++;
        MPI_Waitany(count, requests, &indices[0], &statuses[0]);
        done = 1;
        break;
    case 3:
        talker->calls[POLL]++;
        MPI_Testany(count, requests, &indices[0], &flag, &statuses[0]);
        done = flag;
        break;
    case 4:
        if (ready == 0)
            break;
        talker->calls[WAITSOME]++;
        MPI_Waitsome(count, requests, &done, indices, statuses);
        break;
    case 5:
        talker->calls[POLL]++;
        MPI_Testsome(count, requests, &done, indices, statuses);
        break;
    case 6:
        talker->calls[POLL]++;
        MPI_Testall(count, requests, &flag, statuses);
        done = flag ? count : 0;
        for (int i = 0; i < done; i++)
            indices[i] = i;
        break;
    default:
        if (ready != count)
            break;
        talker->calls[WAITALL]++;
        MPI_Waitall(count, requests, statuses);
        done = count;
        for (int i = 0; i < done; i++)
            indices[i] = i;
        break;
    }
    for (int i = 0; i < count; i++)
        of[i]->request = requests[i];
    for (int i = 0; i < done; i++)
        finished(talker, of[indices[i]], &statuses[i]);
}

/* --- Posted receives ------------------------------------------------------------- */

static struct posted *free_place(struct talker *talker)
{
    for (int i = 0; i < MAX_POSTED; i++)
        if (talker->posted[i].request == MPI_REQUEST_NULL)
            return &talker->posted[i];
    return NULL;
}

static void draw_pattern(struct talker *talker, int comm, int *ret_source, int *ret_tag)
{
    *ret_source = random_below(&talker->own, 3) == 0
                      ? MPI_ANY_SOURCE
                      : random_int(&talker->own, peers[comm]);
    *ret_tag = !threaded && random_below(&talker->own, 3) == 0
                   ? MPI_ANY_TAG
                   : tag_of(talker, random_below(&talker->own, TAGS));
    if (random_below(&talker->own, 40) == 0)
        *ret_source = MPI_PROC_NULL;
}

static void post(struct talker *talker)
{
    struct posted *posted = free_place(talker);
    int source;
    int tag;

    if (posted == NULL)
        return;
    posted->comm = random_int(&talker->own, COMMS);
    draw_pattern(talker, posted->comm, &source, &tag);
    posted->null = source == MPI_PROC_NULL;
    /* MPICH 4.0 neither cancels nor completes persistent ones from MPI_PROC_NULL. */
    posted->persistent = !posted->null && random_below(&talker->own, 3) == 0;
    posted->active = !posted->persistent;
    if (posted->persistent) {
        talker->calls[RECV_INIT]++;
        MPI_Recv_init(posted->words, MAX_WORDS, MPI_INT32_T, source, tag,
                      comms[posted->comm], &posted->request);
    } else {
        talker->calls[IRECV]++;
        MPI_Irecv(posted->words, MAX_WORDS, MPI_INT32_T, source, tag,
                  comms[posted->comm], &posted->request);
    }
}

/* Starts or frees inactive persistent requests. */
static void start(struct talker *talker, bool only_free)
{
    MPI_Request requests[MAX_POSTED];
    struct posted *of[MAX_POSTED];
    int count = 0;

    for (int i = 0; i < MAX_POSTED; i++) {
        struct posted *posted = &talker->posted[i];

        if (posted->request == MPI_REQUEST_NULL || posted->active)
            continue;
        if (only_free || random_below(&talker->own, 6) == 0) {
            talker->calls[REQUEST_FREE]++;
            MPI_Request_free(&posted->request);
        } else if (random_below(&talker->own, 2) == 0) {
            of[count] = posted;
            requests[count++] = posted->request;
        }
    }
    if (count == 1) {
        talker->calls[START]++;
        MPI_Start(&requests[0]);
    } else if (count > 1) {
        talker->calls[STARTALL]++;
        MPI_Startall(count, requests);
    }
    for (int i = 0; i < count; i++)
        of[i]->active = true;
    talker->calls[START_RECEIVE] += (uint64_t)count;
}

static void cancel(struct talker *talker, struct posted *posted)
{
    if (!posted->active || posted->cancelling || posted->null)
        return;
    posted->cancelling = true;
    talker->calls[CANCEL]++;
    MPI_Cancel(&posted->request);
}

/* --- Sends ----------------------------------------------------------------------- */

static bool next_letter(struct talker *talker, struct letter *ret_letter)
{
    int comm = random_int(&talker->own, COMMS);
    bool big = random_below(&talker->own, 30) == 0;

    if (talker->messages == 0)
        return false;
    talker->messages--;
    *ret_letter = (struct letter){
        .comm = comm,
        .dest = random_int(&talker->own, peers[comm]),
        .tag = tag_of(talker, random_below(&talker->own, TAGS)),
        .words = HEADER + random_int(&talker->own, big ? MAX_WORDS - HEADER : SHORT),
    };
    return true;
}

static void write_letter(struct talker *talker, struct letter *letter)
{
    int32_t *serial =
        &talker->serials[(letter->comm * world_size + letter->dest) * TAGS +
                         letter->tag % TAGS];

    talker->sent_to[world_of[letter->comm][letter->dest]]++;
    letter->content = calloc((size_t)letter->words, sizeof(int32_t));
    letter->content[0] = letter->comm;
    letter->content[1] = ranks[letter->comm];
    letter->content[2] = letter->tag;
    letter->content[3] = (*serial)++;
    letter->content[4] = letter->words;
    fprintf(talker->log, "S\tt%d\t%d\t%d\t%d\t%d\n", letter->comm, letter->dest,
            letter->tag, letter->content[3], letter->words * 4);
}

static void forget_sends(struct talker *talker)
{
    for (int i = 0; i < talker->send_count; i++)
        free(talker->send_words[i]);
    talker->send_count = 0;
}

static void send_persistent(struct talker *talker,
                            struct letter *letter,
                            MPI_Request *request)
{
    MPI_Request persistent;

    talker->calls[SEND_INIT]++;
    MPI_Send_init(letter->content, letter->words, MPI_INT32_T, letter->dest,
                  letter->tag, comms[letter->comm], &persistent);
    talker->calls[START]++;
    talker->calls[START_SEND]++;
    MPI_Start(&persistent);
    talker->calls[WAIT]++;
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    talker->calls[REQUEST_FREE]++;
    MPI_Request_free(&persistent);
    *request = MPI_REQUEST_NULL;
}

#define LETTER_BODY letter.content, letter.words, MPI_INT32_T, letter.dest, letter.tag
#define LETTER LETTER_BODY, comms[letter.comm]

static void send(struct talker *talker, bool *is_over)
{
    struct letter letter;
    MPI_Request *request = &talker->sends[talker->send_count];
    unsigned int form = random_below(&talker->own, 10);

    *is_over = !next_letter(talker, &letter);
    if (*is_over)
        return;
    write_letter(talker, &letter);
    /* A large message is sent without blocking, so that this rank can receive. */
    if (letter.words > SHORT)
        form = form % 2 == 0 ? 3 : 9;
    *request = MPI_REQUEST_NULL;
    switch (form) {
    case 0:
        talker->calls[SEND]++;
        MPI_Send(LETTER);
        break;
    case 1:
        talker->calls[BSEND]++;
        MPI_Bsend(LETTER);
        break;
    case 2:
        talker->calls[IBSEND]++;
        MPI_Ibsend(LETTER, request);
        break;
    case 3:
        talker->calls[ISSEND]++;
        MPI_Issend(LETTER, request);
        break;
    case 5:
        send_persistent(talker, &letter, request);
        break;
    case 6:
        talker->calls[SENDRECV]++;
        talker->calls[SENDRECV_RECEIVE]++;
        MPI_Sendrecv(letter.content, letter.words, MPI_INT32_T, letter.dest, letter.tag,
                     NULL, 0, MPI_INT32_T, MPI_PROC_NULL, letter.tag,
                     comms[letter.comm], MPI_STATUS_IGNORE);
        break;
#if MPI_VERSION >= 4
    case 7:
        talker->calls[ISENDRECV]++;
        talker->calls[ISENDRECV_RECEIVE]++;
        MPI_Isendrecv(letter.content, letter.words, MPI_INT32_T, letter.dest,
                      letter.tag, NULL, 0, MPI_INT32_T, MPI_PROC_NULL, letter.tag,
                      comms[letter.comm], request);
        break;
#endif
    default:
        talker->calls[ISEND]++;
        MPI_Isend(LETTER, request);
        break;
    }
    talker->send_words[talker->send_count++] = letter.content;
}

/* --- Unexpected messages --------------------------------------------------------- */

/* Sends a letter in the call that receives the message found.  Returns false if the
 * call was not made. */
static bool exchange(struct talker *talker,
                     int comm,
                     const MPI_Status *found,
                     int32_t *words,
                     bool *is_over)
{
    struct letter letter;
    MPI_Status status;
    int bytes;

    MPI_Get_count(found, MPI_BYTE, &bytes);
    if (bytes / 4 > SHORT)
        return false;
    *is_over = !next_letter(talker, &letter);
    if (*is_over)
        return false;
    /* Both halves use one communicator; the letter is too short to block. */
    letter.comm = comm;
    letter.dest %= peers[comm];
    letter.words = bytes / 4 + random_int(&talker->own, 20);
    write_letter(talker, &letter);
    switch (random_below(&talker->own, 3)) {
    case 0: /* the count is that of the letter and limits the message */
        talker->calls[REPLACE]++;
        talker->calls[REPLACE_RECEIVE]++;
        memcpy(words, letter.content, (size_t)letter.words * sizeof *words);
        MPI_Sendrecv_replace(words, letter.words, MPI_INT32_T, letter.dest, letter.tag,
                             found->MPI_SOURCE, found->MPI_TAG, comms[comm], &status);
        break;
#if MPI_VERSION >= 4
    case 1: {
        MPI_Request request;

        talker->calls[ISENDRECV]++;
        talker->calls[ISENDRECV_RECEIVE]++;
        MPI_Isendrecv(LETTER_BODY, words, MAX_WORDS, MPI_INT32_T, found->MPI_SOURCE,
                      found->MPI_TAG, comms[comm], &request);
        talker->calls[WAIT]++;
        MPI_Wait(&request, &status);
        /* MPICH 4.0 sets no status. */
        status = *found;
        break;
    }
#endif
    default:
        talker->calls[SENDRECV]++;
        talker->calls[SENDRECV_RECEIVE]++;
        MPI_Sendrecv(LETTER_BODY, words, MAX_WORDS, MPI_INT32_T, found->MPI_SOURCE,
                     found->MPI_TAG, comms[comm], &status);
        break;
    }
    took(talker, comm, words, &status);
    free(letter.content);
    return true;
}

/* Receives a message that the probe has found. */
static void take(struct talker *talker,
                 int comm,
                 int tag,
                 const MPI_Status *found,
                 bool *is_over)
{
    static _Thread_local int32_t words[MAX_WORDS];
    unsigned int form = random_below(&talker->own, 6);
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;

    if (form == 0 && !*is_over && exchange(talker, comm, found, words, is_over))
        return;
    switch (form) {
    case 1: /* may receive another message */
        talker->calls[RECV]++;
        MPI_Recv(words, MAX_WORDS, MPI_INT32_T, MPI_ANY_SOURCE, tag, comms[comm],
                 &status);
        break;
    case 2:
        talker->calls[MPROBE]++;
        MPI_Mprobe(MPI_ANY_SOURCE, tag, comms[comm], &message, &status);
        talker->calls[MRECV]++;
        MPI_Mrecv(words, MAX_WORDS, MPI_INT32_T, &message, &status);
        break;
    case 3:
        talker->calls[MPROBE]++;
        MPI_Mprobe(found->MPI_SOURCE, found->MPI_TAG, comms[comm], &message, &status);
        talker->calls[IMRECV]++;
        MPI_Imrecv(words, MAX_WORDS, MPI_INT32_T, &message, &request);
        talker->calls[WAIT]++;
        MPI_Wait(&request, &status);
        break;
    case 4:
        talker->calls[PROBE]++;
        MPI_Probe(found->MPI_SOURCE, found->MPI_TAG, comms[comm], &status);
        /* fall through */
    default:
        talker->calls[RECV]++;
        MPI_Recv(words, MAX_WORDS, MPI_INT32_T, found->MPI_SOURCE, found->MPI_TAG,
                 comms[comm], &status);
        break;
    }
    took(talker, comm, words, &status);
}

static void drain(struct talker *talker, bool *is_over)
{
    int comm = random_int(&talker->own, COMMS);
    int tag = threaded ? tag_of(talker, random_below(&talker->own, TAGS)) : MPI_ANY_TAG;
    MPI_Status found;
    int flag;

    talker->calls[POLL]++;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comms[comm], &flag, &found);
    if (flag)
        take(talker, comm, tag, &found, is_over);
}

/* --- The program ----------------------------------------------------------------- */

static void act(struct talker *talker, bool *is_over)
{
    int flag;

    switch (random_below(&talker->own, 9)) {
    case 0:
    case 1:
    case 2:
        if (!*is_over && talker->send_count < MAX_SENDS)
            send(talker, is_over);
        break;
    case 3:
        post(talker);
        break;
    case 4:
        start(talker, false);
        break;
    case 5:
        if (random_below(&talker->own, 3) == 0)
            cancel(talker, &talker->posted[random_below(&talker->own, MAX_POSTED)]);
        break;
    case 6:
        drain(talker, is_over);
        break;
    default:
        complete(talker);
        break;
    }
    if (talker->send_count == MAX_SENDS) {
        talker->calls[POLL]++;
        MPI_Testall(talker->send_count, talker->sends, &flag, MPI_STATUSES_IGNORE);
        if (flag)
            forget_sends(talker);
    }
}

static void converse(struct talker *talker)
{
    MPI_Request told = MPI_REQUEST_NULL;
    bool is_over = false;

    talker->expected = -1;
    while (talker->received != talker->expected) {
        act(talker, &is_over);
        if (is_over && told == MPI_REQUEST_NULL && talker->expected < 0) {
            talker->calls[IALLTOALL]++;
            MPI_Ialltoall(talker->sent_to, 1, MPI_INT, talker->sent_here, 1, MPI_INT,
                          talker->control, &told);
        } else if (told != MPI_REQUEST_NULL) {
            int flag;

            talker->calls[POLL]++;
            MPI_Test(&told, &flag, MPI_STATUS_IGNORE);
            talker->expected = flag ? 0 : -1;
            for (int i = 0; flag && i < world_size; i++)
                talker->expected += talker->sent_here[i];
        }
    }
}

static void *talk(void *argument)
{
    struct talker *talker = argument;
    char path[512];

    snprintf(path, sizeof path, "%s/log.%d.%d", directory, world_rank, talker->number);
    talker->log = fopen(path, "w");
    talker->serials = calloc((size_t)(COMMS * world_size * TAGS), sizeof(int32_t));
    talker->sent_to = calloc((size_t)world_size, sizeof(int));
    talker->sent_here = calloc((size_t)world_size, sizeof(int));
    if (talker->log == NULL || talker->serials == NULL || talker->sent_to == NULL ||
        talker->sent_here == NULL)
        die("no log or no memory");
    for (int i = 0; i < MAX_POSTED; i++) {
        talker->posted[i].request = MPI_REQUEST_NULL;
        talker->posted[i].words = calloc(MAX_WORDS, sizeof(int32_t));
    }
    converse(talker);
    for (int i = 0; i < MAX_POSTED; i++)
        if (talker->posted[i].active)
            cancel(talker, &talker->posted[i]);
    for (int i = 0; i < MAX_POSTED; i++)
        if (talker->posted[i].active) {
            MPI_Status status;

            talker->calls[WAIT]++;
            MPI_Wait(&talker->posted[i].request, &status);
            finished(talker, &talker->posted[i], &status);
        }
    start(talker, true);
    talker->calls[WAITALL]++;
    MPI_Waitall(talker->send_count, talker->sends, MPI_STATUSES_IGNORE);
    forget_sends(talker);
    if (talker->received != talker->expected)
        die("more messages than were sent");
    for (int i = 0; i < CALLS; i++)
        fprintf(talker->log, "N\t%s\t%llu\n", names[i],
                (unsigned long long)talker->calls[i]);
    fclose(talker->log);
    return NULL;
}

static void find_peers(int which)
{
    MPI_Group world;
    MPI_Group group;
    int all[MAX_RANKS];
    int inter;

    MPI_Comm_rank(comms[which], &ranks[which]);
    MPI_Comm_test_inter(comms[which], &inter);
    if (inter)
        MPI_Comm_remote_group(comms[which], &group);
    else
        MPI_Comm_group(comms[which], &group);
    MPI_Group_size(group, &peers[which]);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < peers[which]; i++)
        all[i] = i;
    MPI_Group_translate_ranks(group, peers[which], all, world, world_of[which]);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

static void make_communicators(void)
{
    MPI_Comm half;

    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 77, &comms[3]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, (int[]){1}, 1, &comms[4]);
    MPI_Comm_free(&half);
    for (int i = 0; i < COMMS; i++) {
        char name[8];

        snprintf(name, sizeof name, "t%d", i);
        MPI_Comm_set_name(comms[i], name);
        find_peers(i);
    }
}

static void free_communicators(struct talker *talkers, int threads)
{
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&talkers[i].control);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    enum { MAX_THREADS = 8, BUFFER = 16 << 20 };
    static struct talker talkers[MAX_THREADS];
    int threads = argc > 4 ? atoi(argv[4]) : 1;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    void *buffer = malloc(BUFFER);
    int size;
    int provided;

    if (argc < 4 || threads < 1 || threads > MAX_THREADS || buffer == NULL)
        return 2;
    threaded = threads > 1;
    directory = argv[1];
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (world_size < 2 || world_size > MAX_RANKS ||
        (threaded && provided < MPI_THREAD_MULTIPLE))
        die("wants 2 to 16 ranks, and threads");
    MPI_Buffer_attach(buffer, BUFFER);
    make_communicators();
    for (int i = 0; i < threads; i++) {
        talkers[i] = (struct talker){.number = i, .messages = atoi(argv[3])};
        talkers[i].own = seed * 128 + (uint64_t)(world_rank * MAX_THREADS + i);
        MPI_Comm_dup(MPI_COMM_WORLD, &talkers[i].control);
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&talkers[i].pthread, NULL, talk, &talkers[i]);
    talk(&talkers[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(talkers[i].pthread, NULL);
    MPI_Buffer_detach(&buffer, &size);
    free_communicators(talkers, threads);
    MPI_Finalize();
    free(buffer);
    return 0;
}
