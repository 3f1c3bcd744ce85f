/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_run.c - one observation of a run. */
#include "config.h"

#include "monitors/delay/delay_run.h"

#include "monitors/causality/causality_scope.h"

static int read_scope(struct es_run *run,
                      struct es_servers *servers,
                      struct es_error *error,
                      struct esi_delay *delay)
{
    struct esi_causality_scope_config config;
    struct esi_causality_scope *scope;
    int result;

    esi_causality_scope_config_init(&config);
    config.causality.listener = esi_delay_listener(delay);
    config.scope.servers = servers;
    result = esi_causality_scope_open(run, &config, error, &scope);
    if (result < 0)
        return result;
    result = esi_causality_scope_finish(scope);
    esi_causality_scope_close(scope);
    return result;
}

int esi_delay_read_run(struct es_run *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_delay **ret_delay)
{
    static const struct esi_delay_config config = {.window = 0};
    struct esi_delay *delay;
    int result = esi_delay_create(&config, &delay);

    if (result < 0)
        return result;
    result = read_scope(run, servers, error, delay);
    if (result == 0)
        result = esi_delay_settle(delay);
    if (result < 0) {
        esi_delay_destroy(delay);
        return result;
    }
    *ret_delay = delay;
    return 0;
}
