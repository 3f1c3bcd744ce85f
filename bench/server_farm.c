/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuple servers of simulated hosts. */
#include "config.h"

#include "server_farm.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scopes/server/host_registry.h"
#include "scopes/server/service.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/transport/run_key.h"

enum { REGISTER_MS = 1000 }; /* between two registrations of the others */

/* The parameters of one server's process. */
struct post {
    const struct server_farm *farm;
    char host[64];
    int index;
    enum farm_transport transport;
    struct esi_run_key key;
};

static void no_log(void *data, const char *line)
{
    (void)data;
    (void)line;
}

static int move_to_bridge(int index)
{
    char command[300];

    if (unshare(CLONE_NEWNET) != 0)
        return -errno;
    snprintf(command, sizeof command,
             "ours='nsenter --target %d --net ip link'; "
             "$ours add v%d type veth peer name eth0 netns %d && "
             "$ours set v%d master br0 up && "
             "ip address add 10.78.1.%d/16 dev eth0 && ip link set eth0 up",
             (int)getppid(), index, (int)getpid(), index, index + 1);
    return system(command) == 0 ? 0 : -EIO;
}

static void write_address(const struct post *post, char out[300])
{
    if (post->transport == FARM_UNIX)
        snprintf(out, 300, "unix:%s/%d", post->farm->folder, post->index);
    else if (post->transport == FARM_BRIDGE)
        snprintf(out, 300, "tcp:10.78.1.%d:0", post->index + 1);
    else
        snprintf(out, 300, "%s:127.0.0.1:0",
                 post->transport == FARM_TCP ? "tcp" : "tls");
}

/* The home server is started last; all others are registered repeatedly in it, as they
 * would do themselves. */
static void register_others(const struct post *post, struct esi_host_registry *registry)
{
    const struct server_farm *farm = post->farm;
    size_t prefix = strlen(post->host) - 1;

    for (int i = farm->count - 1; i > 0; i--) {
        struct esi_host_entry entry = {
            .state = ES_SERVER_UP, .pid = farm->pids[i], .ranks = 1};

        snprintf(entry.host, sizeof entry.host, "%.*s%d", (int)prefix, post->host, i);
        snprintf(entry.address, sizeof entry.address, "%s", farm->addresses[i]);
        esi_host_registry_register(registry, &entry, &farm->addresses[i]);
    }
}

static _Noreturn void serve(const struct post *post, int ready, int stop)
{
    struct pollfd ended = {.fd = stop, .events = POLLIN};
    char address[300];
    const char *addresses[] = {address, NULL};
    struct es_error error = {.text = ""};
    struct esi_service service = {.run = post->farm->run, .host = post->host};
    struct esi_server_config config = {.run = post->farm->run,
                                       .host = post->host,
                                       .addresses = addresses,
                                       .key = post->key,
                                       .log = no_log};
    struct esi_server *server;
    const char *known;

    write_address(post, address);
    if (post->transport == FARM_BRIDGE && move_to_bridge(post->index) != 0)
        _exit(1);
    if (esi_host_registry_create(post->farm->run, post->host, post->index == 0,
                                 &service.hosts) != 0 ||
        esi_service_init(&service, &error) != 0)
        _exit(1);
    esi_service_fill(&service, &config.service);
    if (esi_acceptor_start(&config, &error, &server) != 0) {
        fprintf(stderr, "scope_tree: %s\n", error.text);
        _exit(1);
    }
    service.server = server;
    known = esi_server_address(server, 0);
    esi_host_registry_set_address(service.hosts, known, true);
    if (post->index == 0)
        register_others(post, service.hosts);
    if (write(ready, known, strlen(known)) < 0)
        _exit(1);
    close(ready);
    while (poll(&ended, 1, REGISTER_MS) == 0)
        if (post->index == 0)
            register_others(post, service.hosts);
    esi_host_registry_close(service.hosts);
    esi_server_stop(server);
    esi_service_fini(&service);
    _exit(0);
}

static int start_one(struct server_farm *farm, const struct post *post)
{
    int ready[2], stop[2];
    ssize_t length;
    pid_t pid;

    if (pipe(ready) != 0 || pipe(stop) != 0)
        return -errno;
    pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        close(ready[0]);
        close(stop[1]);
        for (int i = 0; i < FARM_HOSTS; i++)
            if (farm->stop[i] > 0)
                close(farm->stop[i]);
        serve(post, ready[1], stop[0]);
    }
    close(ready[1]);
    close(stop[0]);
    farm->pids[post->index] = pid;
    farm->stop[post->index] = stop[1];
    length = read(ready[0], farm->addresses[post->index], 299);
    close(ready[0]);
    return length > 0 ? 0 : -EPROTO;
}

static int make_run(struct server_farm *farm,
                    struct esi_run_key *key,
                    struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    int result;

    strcpy(farm->folder, "/tmp/es-farm-XXXXXX");
    if (!mkdtemp(farm->folder))
        return -errno;
    setenv("EVENTSPACE_DIR", farm->folder, 1);
    result = esi_run_directory_create(farm->run, error, path);
    if (result == 0)
        result = esi_run_key_make(key);
    return result == 0 ? esi_run_key_save(farm->run, key, error) : result;
}

int server_farm_start(struct server_farm *farm,
                      const char *run,
                      const char *host_prefix,
                      int count,
                      enum farm_transport transport,
                      struct es_error *error)
{
    struct post post = {.farm = farm, .transport = transport};
    int result;

    *farm = (struct server_farm){.count = count};
    snprintf(farm->run, sizeof farm->run, "%s", run);
    result = make_run(farm, &post.key, error);
    for (int i = count - 1; i >= 0 && result == 0; i--) {
        post.index = i;
        snprintf(post.host, sizeof post.host, "%.50s-%d", host_prefix, i);
        result = start_one(farm, &post);
    }
    if (result == 0)
        result = es_servers_open(run, farm->addresses[0], error, &farm->servers);
    if (result == 0 && es_servers_refresh(farm->servers) != count)
        result = es_error_set(error, -EPROTO, "not all servers are known");
    if (result < 0)
        server_farm_stop(farm);
    return result;
}

uint64_t server_farm_cpu_ns(const struct server_farm *farm)
{
    uint64_t sum = 0;

    for (int i = 0; i < farm->count; i++) {
        struct timespec used;
        clockid_t clock;

        if (clock_getcpuclockid(farm->pids[i], &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            sum +=
                (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
    }
    return sum;
}

void server_farm_stop(struct server_farm *farm)
{
    char path[128];

    es_servers_close(farm->servers);
    for (int i = 0; i < farm->count; i++) {
        if (farm->stop[i] > 0)
            close(farm->stop[i]);
        if (farm->pids[i] > 0)
            waitpid(farm->pids[i], NULL, 0);
        snprintf(path, sizeof path, "%s/%d", farm->folder, i);
        unlink(path);
    }
    esi_run_directory_remove(farm->run, NULL);
    rmdir(farm->folder);
}
