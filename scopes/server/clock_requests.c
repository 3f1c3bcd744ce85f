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

struct asking {
    struct es_clock_board *board;
    struct es_json_out *reply;
};

static int write_clock(void *data, const char *host, const struct es_member *newest)
{
    const struct asking *asking = data;
    struct es_clock_estimate estimate;

    if (es_clock_board_find(asking->board, host, &estimate) &&
        es_member_as_integer(newest) != es_clock_estimate_newest(&estimate))
        es_clock_estimate_write(&estimate, asking->reply, host);
    return 0;
}

static int serve_clock(struct es_service_connection *connection,
                       const struct es_member *request,
                       struct es_json_out *reply,
                       struct es_error *error)
{
    const uint64_t arrived_ns = es_now_ns(CLOCK_MONOTONIC);
    const struct es_service *service = connection->service;
    const struct es_member *known = es_member_find(request, "known");
    struct asking asking = {.board = service->clocks, .reply = reply};
    struct es_clock_estimate own;

    if (!es_clock_board_find(service->clocks, service->host, &own) ||
        !es_clock_estimate_is_home(&own))
        return es_error_set(error, -ENOSYS, "this is not the home server");
    es_json_out_unsigned(reply, "run_base", own.run_base_ns);
    if (known) {
        es_json_out_begin_object(reply, "clocks");
        es_member_foreach(known, write_clock, &asking);
        es_json_out_end(reply);
    }
    es_json_out_unsigned(reply, "arrived", arrived_ns);
    es_json_out_unsigned(reply, "answered", es_now_ns(CLOCK_MONOTONIC));
    return 0;
}

const struct es_request esi_clock_requests[] = {
    {"clock", serve_clock, false},
    {NULL, NULL, false},
};
