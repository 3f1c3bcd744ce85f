/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clock_requests.c - what time it is at the home server, and what the clocks of other
 * hosts show.
 *
 *   {"request": "clock", "known": {HOST: NEWEST, ...}}
 *
 * The answer has the times at which the request came and the answer went, in
 * nanoseconds of CLOCK_MONOTONIC, and what is to be added for run time; under "clocks"
 * stand the estimates of those of the named hosts of which another is known here than
 * the one whose last knot is at NEWEST (-1: none).  The other hosts' servers and
 * consumers ask again and again; servers tell their own estimate when they register.
 */
#include "config.h"

#include <errno.h>

#include "base/now.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/clock_wire.h"
#include "scopes/server/service.h"

struct clock_requests_asking {
    struct esi_clock_registry *registry;
    struct esi_json_out *reply;
};

static int write_clock(void *data, const char *host, const struct es_member *newest)
{
    const struct clock_requests_asking *asking = data;
    struct esi_clock_estimate estimate;

    if (esi_clock_registry_find(asking->registry, host, &estimate) &&
        esi_member_as_integer(newest) != esi_clock_estimate_newest(&estimate))
        esi_clock_estimate_write(&estimate, asking->reply, host);
    return 0;
}

static int serve_clock(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    const uint64_t arrived_ns = esi_now_ns(CLOCK_MONOTONIC);
    const struct esi_service *service = connection->service;
    const struct es_member *known = esi_member_find(request, "known");
    struct clock_requests_asking asking = {.registry = service->clocks, .reply = reply};
    struct esi_clock_estimate own;

    if (!esi_clock_registry_find(service->clocks, service->host, &own) ||
        !esi_clock_estimate_is_home(&own))
        return es_error_set(error, -ENOSYS, "this is not the home server");
    esi_json_out_unsigned(reply, "run_base", own.run_base_ns);
    if (known) {
        esi_json_out_begin_object(reply, "clocks");
        esi_member_foreach(known, write_clock, &asking);
        esi_json_out_end(reply);
    }
    esi_json_out_unsigned(reply, "arrived", arrived_ns);
    esi_json_out_unsigned(reply, "answered", esi_now_ns(CLOCK_MONOTONIC));
    return 0;
}

const struct es_request esi_clock_requests[] = {
    {"clock", serve_clock, false},
    {NULL, NULL, false},
};
