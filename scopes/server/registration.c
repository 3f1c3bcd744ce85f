/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * registration.c - a thread that keeps a tuple server registered with the home server.
 *
 * The thread repeats its request over one connection.  The home server answers after a
 * second, or at once when the run's end is reported.  If the connection breaks, it is
 * reopened after growing pauses.
 *
 * Between two registrations the thread exchanges times with the home server in short
 * bursts.  The first burst makes the estimate of the own clock usable; later ones
 * determine the drift, at growing intervals.
 */
#include "config.h"

#include "scopes/server/registration.h"

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

#include "base/now.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/rpc.h"

#define SECOND_NS UINT64_C(1000000000)
#define CONNECT_NS (3 * SECOND_NS)
#define SEND_NS (3 * SECOND_NS)
#define ANSWER_NS UINT64_C(5000000000)
#define PAUSE_MIN_NS UINT64_C(250000000)
#define PAUSE_MAX_NS UINT64_C(4000000000)
/* Limits the time that the first registration, for which others wait, spends on
 * exchanges over a slow line. */
#define BURST_NS UINT64_C(100000000)

/* --- The own clock against the home server's ----------------------------------- */

enum { FIRST_BURST = 16, BURST = 6 };

/* Repeated exchanges of times with the home server. */
struct clock_asking {
    const char *host;                  /* borrowed, like the next */
    struct esi_clock_registry *clocks; /* stores the estimate */
    struct esi_clock_fit fit;
    struct esi_clock_estimate estimate;
    uint64_t next_ns;     /* earliest time of the next burst, CLOCK_MONOTONIC */
    uint64_t pause_ns;    /* between bursts; 0 before the first */
    uint64_t reported_ns; /* the last knot reported to the home server; 0 if none */
    bool is_refused;      /* this home server does not support clocks */
};

/* Called after the connection was opened: the home server may be another one. */
static void begin_clock(struct clock_asking *asking)
{
    asking->next_ns = 0;
    asking->reported_ns = 0;
    asking->is_refused = false;
}

/* Returns true if a burst of exchanges is due. */
static bool is_clock_due(const struct clock_asking *asking)
{
    return !asking->is_refused && esi_now_ns(CLOCK_MONOTONIC) >= asking->next_ns;
}

/* --- Exchanges ---------------------------------------------------------------- */

static int write_known(void *data,
                       const char *host,
                       const struct esi_clock_estimate *estimate)
{
    esi_json_out_signed(data, host, esi_clock_estimate_newest(estimate));
    return 0;
}

/* The first request of a burst also asks for the clocks of other hosts, with which
 * parts of trees on this host convert. */
struct clock_request {
    struct clock_asking *asking;
    bool is_first;
};

static void write_request(struct esi_json_out *out, void *data)
{
    const struct clock_request *writing = data;

    if (!writing->is_first)
        return;
    esi_json_out_begin_object(out, "known");
    esi_clock_registry_foreach(writing->asking->clocks, write_known, out);
    esi_json_out_end(out);
}

static int take_clock(void *data, const char *host, const struct es_member *member)
{
    struct clock_asking *asking = data;
    struct esi_clock_estimate estimate;

    /* The own estimate here is the newest. */
    if (strcmp(host, asking->host) != 0 &&
        esi_clock_estimate_read(member, NULL, &estimate) == 0)
        (void)esi_clock_registry_set(asking->clocks, host, &estimate);
    return 0;
}

static int exchange_clocks(struct clock_asking *asking,
                           struct es_link *link,
                           uint64_t id,
                           bool is_first,
                           struct es_error *error)
{
    struct clock_request writing = {.asking = asking, .is_first = is_first};
    uint64_t sent_ns = esi_now_ns(CLOCK_MONOTONIC), received_ns, run_base_ns;
    const struct esi_rpc_request request = {"clock", write_request, &writing};
    struct esi_clock_exchange one;
    struct es_message *reply;

    int code = esi_rpc_call(link, id, &request, ANSWER_NS, error, &reply);
    if (code < 0)
        return code;
    received_ns = esi_now_ns(CLOCK_MONOTONIC);
    const struct es_member *root = esi_message_root(reply);
    code =
        esi_clock_exchange_read(root, sent_ns, received_ns, error, &one, &run_base_ns);
    if (code == 0) {
        esi_clock_fit_add(&asking->fit, &one);
        /* A restarted home server may use another base of run time. */
        asking->estimate.run_base_ns = run_base_ns;
        esi_member_foreach(esi_member_find(root, "clocks"), take_clock, asking);
    }
    esi_message_destroy(reply);
    return code;
}

/* Does one exchange over this connection, on which nothing else is under way; `id`
 * counts its requests.  Errors are those of the connection. */
static int ask_clock(struct clock_asking *asking,
                     struct es_link *link,
                     uint64_t *id,
                     struct es_error *error)
{
    const uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    int count = asking->pause_ns ? BURST : FIRST_BURST;
    int code = 0;

    for (int i = 0; i < count && code == 0; i++) {
        if (i > 1 && esi_now_ns(CLOCK_MONOTONIC) - begun_ns > BURST_NS)
            break;
        code = exchange_clocks(asking, link, ++*id, i == 0, error);
    }
    if (code == -ENOSYS) {
        asking->is_refused = true;
        es_error_clear(error);
        return 0;
    }
    if (code < 0)
        return code;
    asking->pause_ns = asking->pause_ns ? asking->pause_ns * 5 / 4 : PAUSE_MIN_NS;
    if (asking->pause_ns > PAUSE_MAX_NS)
        asking->pause_ns = PAUSE_MAX_NS;
    asking->next_ns = esi_now_ns(CLOCK_MONOTONIC) + asking->pause_ns;
    if (esi_clock_fit_update(&asking->fit, &asking->estimate))
        (void)esi_clock_registry_set(asking->clocks, asking->host, &asking->estimate);
    return 0;
}

/* --- Reporting ----------------------------------------------------------------- */

/* Writes the estimate as member "clock" if the home server does not have it, and marks
 * it as reported. */
static void report_clock(struct clock_asking *asking, struct esi_json_out *out)
{
    int64_t newest = esi_clock_estimate_newest(&asking->estimate);

    if (newest < 0 || (uint64_t)newest == asking->reported_ns)
        return;
    asking->reported_ns = (uint64_t)newest;
    esi_clock_estimate_write(&asking->estimate, out, "clock");
}

/* --- At home ------------------------------------------------------------------ */

/* The offset from CLOCK_MONOTONIC to run time: CLOCK_REALTIME is read between two reads
 * of CLOCK_MONOTONIC, and the closest pair counts. */
static uint64_t find_run_base(void)
{
    uint64_t least_ns = UINT64_MAX, base_ns = 0;

    for (int i = 0; i < FIRST_BURST; i++) {
        uint64_t before_ns = esi_now_ns(CLOCK_MONOTONIC);
        uint64_t realtime_ns = esi_now_ns(CLOCK_REALTIME);
        uint64_t span_ns = esi_now_ns(CLOCK_MONOTONIC) - before_ns;

        if (span_ns >= least_ns)
            continue;
        least_ns = span_ns;
        base_ns = realtime_ns - before_ns - span_ns / 2;
    }
    return base_ns;
}

int esi_clock_be_home(struct esi_clock_registry *clocks, const char *host)
{
    struct esi_clock_estimate estimate;

    esi_clock_estimate_be_home(&estimate, find_run_base());
    return esi_clock_registry_set(clocks, host, &estimate);
}

enum {
    BEAT_NS = 1000000000,
    ANSWER_MS = 5000, /* time limit of an answer */
    FIRST_TRY_MS = 500,
    PAUSE_MIN_MS = 200,
    PAUSE_MAX_MS = 5000,
};

struct esi_registration {
    struct esi_registration_config config;
    pthread_t thread;
    int stop; /* eventfd */
    atomic_bool is_up;
    atomic_bool has_failed; /* at least once */
    pthread_mutex_t lock;
    char known_home[ES_ADDRESS_BYTES]; /* reached the home server; under the lock */
    /* Used only by the thread. */
    struct es_link *link;
    char home[ES_ADDRESS_BYTES]; /* the address that reached it */
    uint64_t id;
    struct clock_asking clock;
    bool was_refused; /* already logged */
};

/* Waits for this time, or until the thread is to stop; then returns true. */
static bool await_stop(struct esi_registration *registration, int timeout_ms)
{
    struct pollfd polled = {.fd = registration->stop, .events = POLLIN};

    return poll(&polled, 1, timeout_ms) > 0;
}

/* --- Messages ----------------------------------------------------------------- */

struct registration_writing {
    struct esi_registration *registration;
    struct esi_json_out *out;
    uint64_t wait_ns;
    bool ends;
};

/* The own host is the first in the registry; the visit ends with it. */
static int write_entry(void *data, const struct esi_host_entry *entry)
{
    const struct registration_writing *writing = data;
    struct esi_json_out *out = writing->out;

    esi_host_entry_write(entry, out);
    esi_json_out_string(out, "home", writing->registration->home);
    return 1;
}

static void write_registration(struct esi_json_out *out, void *data)
{
    struct registration_writing *writing = data;
    struct esi_registration *registration = writing->registration;
    struct esi_host_registry *registry = registration->config.registry;

    writing->out = out;
    esi_host_registry_foreach(registry, write_entry, writing);
    esi_json_out_string(out, "told",
                        esi_run_end_name(esi_host_registry_ending(registry)));
    esi_json_out_unsigned(out, "wait_ns", writing->wait_ns);
    esi_json_out_bool(out, "ends", writing->ends);
    report_clock(&registration->clock, out);
}

static int send_request(struct esi_registration *registration,
                        uint64_t wait_ns,
                        bool ends)
{
    struct registration_writing writing = {
        .registration = registration, .wait_ns = wait_ns, .ends = ends};
    const struct esi_rpc_request request = {"register", write_registration, &writing};

    return esi_rpc_send(registration->link, ++registration->id, &request, SEND_NS);
}

/* Takes the run's end from the answer. */
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

/* Returns 1 if the thread is to stop. */
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

/* Runs until the connection fails.  Returns 1 if the thread is to stop. */
static int keep_registered(struct esi_registration *registration,
                           struct es_error *error)
{
    struct esi_host_registry *registry = registration->config.registry;
    uint64_t wait_ns = 0;
    int code = 0;

    begin_clock(&registration->clock);
    while (code == 0) {
        if (is_clock_due(&registration->clock))
            code = ask_clock(&registration->clock, registration->link,
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

    /* Logs once per outage, not per attempt. */
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
