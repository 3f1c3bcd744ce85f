/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Estimates the clock of this host against the home server's.
 *
 * The thread that keeps the server registered also asks what time it is, in small
 * bursts between two registrations.  The first burst makes the estimate usable; those
 * that follow find out the drift, less and less often.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/now.h"
#include "scopes/remote/clock_wire.h"
#include "scopes/remote/rpc.h"
#include "scopes/server/daemon.h"

#define ANSWER_NS UINT64_C(5000000000)
#define PAUSE_MIN_NS UINT64_C(250000000)
#define PAUSE_MAX_NS UINT64_C(4000000000)
/* What waits for the first registration does not wait longer than this for a slow
 * line's exchanges. */
#define BURST_NS UINT64_C(100000000)

enum { FIRST_BURST = 16, BURST = 6 };

void esi_clock_begin(struct esi_clock_asking *asking)
{
    asking->next_ns = 0;
    asking->told_ns = 0;
    asking->is_refused = false;
}

bool esi_clock_is_due(const struct esi_clock_asking *asking)
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

/* The first request of a burst asks for the clocks of others, too, by which parts of
 * trees on this host convert. */
struct daemon_clock_writing {
    struct esi_clock_asking *asking;
    bool is_first;
};

static void write_request(struct esi_json_out *out, void *data)
{
    const struct daemon_clock_writing *writing = data;

    if (!writing->is_first)
        return;
    esi_json_out_begin_object(out, "known");
    esi_clock_registry_foreach(writing->asking->clocks, write_known, out);
    esi_json_out_end(out);
}

static int take_clock(void *data, const char *host, const struct es_member *member)
{
    struct esi_clock_asking *asking = data;
    struct esi_clock_estimate estimate;

    /* Nobody knows our own better than we do. */
    if (strcmp(host, asking->host) != 0 &&
        esi_clock_estimate_read(member, NULL, &estimate) == 0)
        (void)esi_clock_registry_set(asking->clocks, host, &estimate);
    return 0;
}

static int daemon_clock_exchange(struct esi_clock_asking *asking,
                                 struct es_link *link,
                                 uint64_t id,
                                 bool is_first,
                                 struct es_error *error)
{
    struct daemon_clock_writing writing = {.asking = asking, .is_first = is_first};
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
        /* A home server that was started again may count run time anew. */
        asking->estimate.run_base_ns = run_base_ns;
        esi_member_foreach(esi_member_find(root, "clocks"), take_clock, asking);
    }
    esi_message_destroy(reply);
    return code;
}

int esi_clock_ask(struct esi_clock_asking *asking,
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
        code = daemon_clock_exchange(asking, link, ++*id, i == 0, error);
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

/* --- Telling ------------------------------------------------------------------ */

void esi_clock_report(struct esi_clock_asking *asking, struct esi_json_out *out)
{
    int64_t newest = esi_clock_estimate_newest(&asking->estimate);

    if (newest < 0 || (uint64_t)newest == asking->told_ns)
        return;
    asking->told_ns = (uint64_t)newest;
    esi_clock_estimate_write(&asking->estimate, out, "clock");
}

/* --- At home ------------------------------------------------------------------ */

/* What is to be added to CLOCK_MONOTONIC for run time: read in between, where the two
 * reads of it lie closest together. */
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
