/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuple servers in the process of the test. */
#include "config.h"

#include "element_servers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void log_line(void *data, const char *line)
{
    (void)data;
    printf("# server: %s\n", line);
}

void element_server_start(struct element_server *made,
                          const char *run,
                          const char *host)
{
    const char *addresses[] = {made->address, NULL};
    struct esi_server_config config = {
        .run = made->run, .host = made->host, .addresses = addresses, .log = log_line};
    struct es_error error = {.text = ""};

    *made = (struct element_server){.folder = "/tmp/es-made-XXXXXX"};
    snprintf(made->run, sizeof made->run, "%s", run);
    snprintf(made->host, sizeof made->host, "%s", host);
    assert_non_null(mkdtemp(made->folder));
    snprintf(made->address, sizeof made->address, "unix:%s/s", made->folder);
    made->service.run = made->run;
    made->service.host = made->host;
    assert_int_equal(
        esi_host_registry_create(made->run, made->host, false, &made->service.hosts),
        0);
    assert_int_equal(esi_service_init(&made->service, &error), 0);
    esi_service_fill(&made->service, &config.service);
    if (esi_acceptor_start(&config, &error, &made->server) != 0)
        fail_msg("server: %s", error.text);
    made->service.server = made->server;
}

void element_server_stop(struct element_server *made)
{
    char path[160];

    esi_host_registry_close(made->service.hosts);
    esi_server_stop(made->server);
    esi_service_fini(&made->service);
    esi_host_registry_destroy(made->service.hosts);
    snprintf(path, sizeof path, "%s/s", made->folder);
    unlink(path);
    rmdir(made->folder);
}

struct es_servers *element_servers(struct element_server *made, size_t count)
{
    struct es_servers *servers;

    assert_int_equal(esi_servers_create(made[0].run, NULL, &servers), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(esi_servers_add(servers, made[i].host, made[i].address), 0);
    return servers;
}
