/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Keeps a tuple server registered with the home server, in a thread of its own.
 *
 * It asks again and again over one connection; the home server answers after a second,
 * or at once when there is word of the run's end.  In between it is asked what time it
 * is there (daemon_clock.c).  When the connection breaks it is
 * made anew, after pauses that grow.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "scopes/remote/rpc.h"
#include "scopes/server/daemon.h"

#define SECOND_NS UINT64_C(1000000000)
#define CONNECT_NS (3 * SECOND_NS)
#define SEND_NS (3 * SECOND_NS)

enum {
    BEAT_NS = 1000000000,
    ANSWER_MS = 5000, /* how long an answer may take */
    FIRST_TRY_MS = 500,
    PAUSE_MIN_MS = 200,
    PAUSE_MAX_MS = 5000,
};

struct esi_registration {
    struct esi_registration_config config;
    pthread_t thread;
    int stop; /* eventfd */
    atomic_bool is_up;
    atomic_bool has_failed; /* once at least */
    pthread_mutex_t lock;
    char known_home[ES_ADDRESS_BYTES]; /* that has led there; guarded */
    /* The thread's own. */
    struct es_link *link;
    char home[ES_ADDRESS_BYTES]; /* the address that has led there */
    uint64_t id;
    struct esi_clock_asking clock;
    bool was_refused; /* said in the log already */
};

/* Whether it is to stop; waits for that so long. */
static bool await_stop(struct esi_registration *registration, int timeout_ms)
{
    struct pollfd polled = {.fd = registration->stop, .events = POLLIN};

    return poll(&polled, 1, timeout_ms) > 0;
}

/* --- Messages ----------------------------------------------------------------- */

struct daemon_register_writing {
    struct esi_registration *registration;
    struct esi_json_out *out;
    uint64_t wait_ns;
    bool ends;
};

/* The own host is the first on the registry; the visit ends with it. */
static int write_entry(void *data, const struct esi_host_entry *entry)
{
    const struct daemon_register_writing *writing = data;
    struct esi_json_out *out = writing->out;

    esi_json_out_string(out, "host", entry->host);
    esi_json_out_string(out, "address", entry->address);
    esi_json_out_string(out, "home", writing->registration->home);
    esi_json_out_string(out, "cluster", entry->cluster);
    esi_json_out_string(out, "gateway", entry->gateway);
    esi_json_out_signed(out, "pid", entry->pid);
    esi_json_out_signed(out, "ranks", entry->ranks);
    esi_host_write_lost(out, entry);
    return 1;
}

static void write_registration(struct esi_json_out *out, void *data)
{
    struct daemon_register_writing *writing = data;
    struct esi_registration *registration = writing->registration;
    struct esi_host_registry *registry = registration->config.registry;

    writing->out = out;
    esi_host_registry_foreach(registry, write_entry, writing);
    esi_json_out_string(out, "told",
                        esi_run_end_name(esi_host_registry_ending(registry)));
    esi_json_out_unsigned(out, "wait_ns", writing->wait_ns);
    esi_json_out_bool(out, "ends", writing->ends);
    esi_clock_report(&registration->clock, out);
}

static int send_request(struct esi_registration *registration,
                        uint64_t wait_ns,
                        bool ends)
{
    struct daemon_register_writing writing = {
        .registration = registration, .wait_ns = wait_ns, .ends = ends};
    const struct esi_rpc_request request = {"register", write_registration, &writing};

    return esi_rpc_send(registration->link, ++registration->id, &request, SEND_NS);
}

/* Takes the answer to heart. */
static int read_answer(struct esi_registration *registration,
                       const struct esi_frame *frame,
                       struct es_error *error)
{
    struct esi_host_registry *registry = registration->config.registry;
    struct es_message *reply;

    int code = esi_rpc_read(frame, error, &reply);
    if (code < 0)
        return code;
    enum esi_run_end end =
        esi_run_end_find(esi_member_text_or(esi_message_root(reply), "end", "no"));
    if (end != esi_host_registry_ending(registry))
        esi_host_registry_end(registry, end);
    esi_message_destroy(reply);
    return 0;
}

/* 1: to stop. */
static int await_answer(struct esi_registration *registration, struct es_error *error)
{
    struct esi_frame frame;

    int code = esi_link_receive(registration->link, 0, error, &frame);
    while (code == -ETIMEDOUT) {
        struct pollfd polled[] = {
            {.fd = esi_link_descriptor(registration->link), .events = POLLIN},
            {.fd = registration->stop, .events = POLLIN},
        };
        int ready = poll(polled, 2, ANSWER_MS);
        if (ready > 0 && polled[1].revents)
            return 1;
        if (ready == 0)
            return es_error_set(error, -ETIMEDOUT, "it does not answer");
        code = esi_link_receive(registration->link, 0, error, &frame);
    }
    return code < 0 ? code : read_answer(registration, &frame, error);
}

/* --- The connection ----------------------------------------------------------- */

static int connect_home(struct esi_registration *registration, struct es_error *error)
{
    const struct esi_daemon_options *options = registration->config.options;
    struct esi_greeting greeting =
        esi_rpc_greeting(options->run, options->host, "eventspaced");

    return esi_rpc_connect(options->home, &greeting, registration->config.key,
                           CONNECT_NS, error, &registration->link, registration->home);
}

static void note_up(struct esi_registration *registration)
{
    if (atomic_exchange(&registration->is_up, true))
        return;
    pthread_mutex_lock(&registration->lock);
    memcpy(registration->known_home, registration->home, sizeof registration->home);
    pthread_mutex_unlock(&registration->lock);
    esi_acceptor_log(registration->config.server, "registered with %s (%s)",
                     esi_link_peer(registration->link)->host, registration->home);
}

/* As long as the connection holds.  1: to stop. */
static int keep_registered(struct esi_registration *registration,
                           struct es_error *error)
{
    struct esi_host_registry *registry = registration->config.registry;
    uint64_t wait_ns = 0;
    int code = 0;

    esi_clock_begin(&registration->clock);
    while (code == 0) {
        if (esi_clock_is_due(&registration->clock))
            code = esi_clock_ask(&registration->clock, registration->link,
                                 &registration->id, error);
        if (code == 0)
            code = send_request(registration, wait_ns, false);
        if (code == 0)
            code = await_answer(registration, error);
        if (code == 0)
            note_up(registration);
        if (esi_host_registry_ending(registry) == ES_RUN_ENDED)
            code = 1;
        wait_ns =
            registration->clock.pause_ns > 0 && registration->clock.pause_ns < BEAT_NS
                ? registration->clock.pause_ns
                : BEAT_NS;
    }
    if (code == 1)
        send_request(registration, 0, true);
    return code;
}

static void log_loss(struct esi_registration *registration,
                     const struct es_error *error,
                     int code)
{
    bool was_up = atomic_exchange(&registration->is_up, false);

    /* Once for each time, not for each try. */
    if (was_up || !registration->was_refused)
        esi_acceptor_log(registration->config.server, "home server %s: %s",
                         was_up ? "lost" : "cannot be reached",
                         error->text[0] ? error->text : strerror(-code));
    registration->was_refused = true;
}

static void *run_registration(void *data)
{
    struct esi_registration *registration = data;
    int pause_ms = PAUSE_MIN_MS;
    int code = 0;

    while (code != 1 && !await_stop(registration, 0)) {
        struct es_error error = {.text = ""};
        code = connect_home(registration, &error);
        if (code == 0) {
            code = keep_registered(registration, &error);
            esi_link_close(registration->link);
            if (atomic_load(&registration->is_up))
                pause_ms = PAUSE_MIN_MS;
        }
        if (code < 0) {
            log_loss(registration, &error, code);
            atomic_store(&registration->has_failed, true);
            if (await_stop(registration, pause_ms))
                break;
            pause_ms = 2 * pause_ms > PAUSE_MAX_MS ? PAUSE_MAX_MS : 2 * pause_ms;
        }
    }
    atomic_store(&registration->is_up, false);
    return NULL;
}

/* --- Start and stop ----------------------------------------------------------- */

int esi_registration_start(const struct esi_registration_config *config,
                           struct esi_registration **ret_registration)
{
    struct esi_registration *registration = calloc(1, sizeof *registration);

    if (!registration)
        return -ENOMEM;
    registration->config = *config;
    registration->clock.host = config->options->host;
    registration->clock.clocks = config->clocks;
    atomic_init(&registration->is_up, false);
    atomic_init(&registration->has_failed, false);
    pthread_mutex_init(&registration->lock, NULL);
    registration->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (registration->stop < 0) {
        int code = -errno;
        free(registration);
        return code;
    }
    int failure =
        pthread_create(&registration->thread, NULL, run_registration, registration);
    if (failure) {
        close(registration->stop);
        free(registration);
        return -failure;
    }
    *ret_registration = registration;
    return 0;
}

void esi_registration_await(struct esi_registration *registration)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < FIRST_TRY_MS; i++) {
        if (atomic_load(&registration->is_up) || atomic_load(&registration->has_failed))
            return;
        nanosleep(&pause, NULL);
    }
}

bool esi_registration_is_up(struct esi_registration *registration)
{
    return atomic_load(&registration->is_up);
}

bool esi_registration_home(struct esi_registration *registration,
                           char out[ES_ADDRESS_BYTES])
{
    pthread_mutex_lock(&registration->lock);
    memcpy(out, registration->known_home, ES_ADDRESS_BYTES);
    pthread_mutex_unlock(&registration->lock);
    return out[0] != '\0';
}

void esi_registration_stop(struct esi_registration *registration)
{
    const uint64_t one = 1;

    if (!registration)
        return;
    (void)!write(registration->stop, &one, sizeof one);
    pthread_join(registration->thread, NULL);
    close(registration->stop);
    free(registration);
}
