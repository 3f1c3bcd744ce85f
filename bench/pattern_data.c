/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_data.c - streams a set into the order and the classes in one pass. */
#include "config.h"

#include "bench/pattern_data.h"

#include <malloc.h>
#include <string.h>

#include "base/now.h"

struct pass {
    struct es_set_sink order;
    struct es_set_sink domains;
    struct es_set_sink successors; /* without functions if not needed */
    uint64_t events;
};

static int pass_trace(void *data, uint32_t trace, const char *name)
{
    struct pass *pass = data;
    int code = pass->order.trace(pass->order.data, trace, name);

    if (code >= 0)
        code = pass->domains.trace(pass->domains.data, trace, name);
    if (code >= 0 && pass->successors.trace)
        code = pass->successors.trace(pass->successors.data, trace, name);
    return code;
}

static int pass_event(void *data, const struct es_set_event *event)
{
    struct pass *pass = data;
    int code = pass->order.event(pass->order.data, event);

    pass->events++;
    if (code >= 0)
        code = pass->domains.event(pass->domains.data, event);
    if (code >= 0 && pass->successors.event)
        code = pass->successors.event(pass->successors.data, event);
    return code;
}

static int64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return (int64_t)(info.uordblks + info.hblkhd);
}

static int fill(const struct pattern_set_config *set,
                struct pattern_data *data,
                struct es_error *error)
{
    struct pass pass = {.order = es_order_sink(data->order),
                        .domains = esi_domains_sink(data->domains)};
    struct es_set_sink sink = {.trace = pass_trace, .event = pass_event, .data = &pass};
    uint64_t begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    int code;

    if (data->successors)
        pass.successors = esi_successors_sink(data->successors);
    code = pattern_set_stream(set, &sink, error);
    if (code < 0)
        return code;
    if (data->successors)
        esi_successors_finish(data->successors);
    code = esi_domains_finish(data->domains);
    if (code < 0)
        return es_error_set(error, code, "%s", strerror(-code));
    data->load_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
    data->events = pass.events;
    return 0;
}

int pattern_data_load(const struct pattern_set_config *set,
                      const char *pattern_path,
                      const char *store,
                      bool has_successors,
                      struct pattern_data *ret_data,
                      struct es_error *error)
{
    struct pattern_data data = {.heap_bytes = heap_bytes()};
    struct esi_order_config config = {.store = store};
    int code = es_pattern_file_read(pattern_path, &data.file, error);

    if (code >= 0)
        code = esi_order_create(&config, error, &data.order);
    if (code >= 0)
        code = esi_domains_create(data.file, NULL, NULL, &data.domains, error);
    if (code >= 0 && has_successors)
        code = esi_successors_create(&data.successors);
    if (code >= 0)
        code = fill(set, &data, error);
    if (code < 0) {
        pattern_data_fini(&data);
        return code;
    }
    data.heap_bytes = heap_bytes() - data.heap_bytes;
    *ret_data = data;
    return 0;
}

void pattern_data_fini(struct pattern_data *data)
{
    esi_successors_destroy(data->successors);
    esi_domains_destroy(data->domains);
    es_order_destroy(data->order);
    es_pattern_file_destroy(data->file);
}
