/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Starts and ends tuple servers for `run`, `exec` and `clean`. */
#include "config.h"

#include "cli/launch/server_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "scopes/remote/rpc.h"
#include "tuplespace/run_directory.h"

#define PROGRAM "eventspaced"
#define SECOND_NS UINT64_C(1000000000)

enum {
    READY_MS = 7000, /* longer than it waits itself */
    END_MS = 8000,   /* after its answer: longer than it waits for hanging
                        connections */
    GONE_MS = 3000,  /* after a signal */
    EXIT_NOT_RUN = 127,
};

/* --- Starting ----------------------------------------------------------------- */

/* Next to this command's file, or else in the installation folder. */
static int find_program(struct es_error *error, char out[PATH_MAX])
{
    static const char installed[] = ES_BINDIR "/" PROGRAM;

    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - sizeof PROGRAM - 1);
    if (length > 0) {
        out[length] = '\0';
        strcpy(strrchr(out, '/') + 1, PROGRAM);
        if (access(out, X_OK) == 0)
            return 0;
    }
    if (access(installed, X_OK) != 0)
        return es_error_set(error, -errno, "%s: %s", installed, strerror(errno));
    strcpy(out, installed);
    return 0;
}

_Noreturn static void become_server(const struct esi_server_order *order,
                                    const char *program,
                                    int output)
{
    struct esi_server_location place;
    char host[ES_HOST_NAME_BYTES], socket[ES_ADDRESS_BYTES];
    const char *words[16] = {PROGRAM, "--run", order->run};
    size_t count = 3;

    if (order->home) {
        words[count++] = "--home";
        words[count++] = order->home;
    }
    if (order->advertise) {
        words[count++] = "--advertise";
        words[count++] = order->advertise;
    }
    esi_server_location_find(order->run, esi_host_name(host), &place);
    if ((order->local || order->everywhere) &&
        esi_server_socket(&place, NULL, socket) == 0) {
        words[count++] = "--listen";
        words[count++] = socket;
    }
    if (order->everywhere) {
        words[count++] = "--listen";
        words[count++] = "tls:*:0";
    }
    /* Preloaded tools are meant for the program, not for the server. */
    unsetenv("LD_PRELOAD");
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(program, (char **)words);
    dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
    _exit(EXIT_NOT_RUN);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Reads its output until it closes it.  Returns false on a timeout. */
static bool read_output(int input, char *out, size_t size)
{
    const uint64_t deadline = now_ms() + READY_MS;
    struct pollfd polled = {.fd = input, .events = POLLIN};
    size_t length = 0;
    ssize_t more = 1;

    while (more != 0 && length + 1 < size) {
        uint64_t now = now_ms();
        if (now >= deadline || poll(&polled, 1, (int)(deadline - now)) == 0)
            break;
        more = read(input, out + length, size - 1 - length);
        length += more > 0 ? (size_t)more : 0;
    }
    out[length] = '\0';
    return more == 0 || length + 1 == size;
}

/* Reports its error message, without its name and the line end. */
static int fail_with(const char *said, int status, struct es_error *error)
{
    static const char name[] = PROGRAM ": ";

    if (strncmp(said, name, sizeof name - 1) == 0)
        said += sizeof name - 1;
    if (!*said)
        return es_error_set(error, -EIO, "%s ended with status %d", PROGRAM, status);
    return es_error_set(error, -EIO, "%.*s", (int)strcspn(said, "\n"), said);
}

int esi_server_start(const struct esi_server_order *order,
                     struct es_error *error,
                     char *out,
                     size_t size)
{
    char program[PATH_MAX], said[4096];
    int ends[2], status = 0;

    int code = find_program(error, program);
    if (code < 0)
        return code;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pid_t child = fork();
    if (child == 0)
        become_server(order, program, ends[1]);
    int reason = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -reason;
    }
    bool has_ended = read_output(ends[0], said, sizeof said);
    close(ends[0]);
    if (!has_ended)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (!has_ended)
        return es_error_set(error, -ETIMEDOUT, "%s was not ready within %d s", PROGRAM,
                            READY_MS / 1000);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail_with(said, status, error);
    snprintf(out, size, "%s", said);
    return 0;
}

/* --- Ending ------------------------------------------------------------------- */

static void find_place(const char *run, struct esi_server_location *ret_place)
{
    char host[ES_HOST_NAME_BYTES];

    esi_server_location_find(run, esi_host_name(host), ret_place);
}

static bool is_live(const struct esi_server_location *place)
{
    char file[96];

    return esi_run_lock_is_taken(place->run, esi_server_file(place, "lock", file));
}

/* The server's answer to the end. */
struct said_end {
    bool stays; /* for other hosts */
    char unreached[ES_UNREACHED_BYTES];
};

static void list_unreached(const struct es_member *list, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < esi_member_count(list) && used < size; i++) {
        const char *host = esi_member_as_text(esi_member_at(list, i));

        if (host)
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     used > 0 ? ", " : "", host);
    }
}

static void read_said(const struct es_member *reply, struct said_end *said)
{
    said->stays = esi_member_boolean_or(reply, "stays", false);
    list_unreached(esi_member_find(reply, "unreached"), said->unreached,
                   sizeof said->unreached);
}

static void write_keep(struct esi_json_out *out, void *data)
{
    const bool *keep = data;

    esi_json_out_bool(out, "keep", *keep);
}

static int ask_server(const struct esi_server_location *place,
                      bool keep,
                      struct es_error *error,
                      struct said_end *said)
{
    struct esi_greeting greeting =
        esi_rpc_greeting(place->run, place->host, "eventspace");
    const struct esi_rpc_request request = {"end", write_keep, &keep};
    char socket[ES_ADDRESS_BYTES];
    struct es_message *reply;
    struct es_link *link;

    int code = esi_server_socket(place, error, socket);
    if (code < 0)
        return code;
    code = esi_link_connect(socket, &greeting, NULL, 2 * SECOND_NS, error, &link);
    if (code < 0)
        return code;
    code = esi_rpc_call(link, 1, &request, 5 * SECOND_NS, error, &reply);
    if (code == 0) {
        read_said(esi_message_root(reply), said);
        esi_message_destroy(reply);
    }
    esi_link_close(link);
    /* It may have ended before its answer was sent. */
    return code == -EPIPE || code == -ECONNRESET ? 0 : code;
}

static bool await_gone(const struct esi_server_location *place, unsigned limit_ms)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t deadline = now_ms() + limit_ms;

    while (is_live(place)) {
        if (now_ms() > deadline)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* The pid in server.json, if it is a tuple server: pids are reused. */
static int find_pid(const struct esi_server_location *place)
{
    char file[96], path[64], name[32] = "";
    struct es_message *facts;
    size_t length;
    char *text;
    int pid = 0;

    if (esi_run_file_read(place->run, esi_server_file(place, "json", file), NULL, &text,
                          &length) < 0)
        return 0;
    if (esi_message_parse(text, length, file, NULL, &facts) == 0) {
        pid = (int)esi_member_integer_or(esi_message_root(facts), "pid", 0);
        esi_message_destroy(facts);
    }
    free(text);
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *stream = pid > 1 ? fopen(path, "re") : NULL;
    if (!stream)
        return 0;
    bool is_ours = fgets(name, sizeof name, stream) && strcmp(name, PROGRAM "\n") == 0;
    fclose(stream);
    return is_ours ? pid : 0;
}

/* The lock is held, so the pid is a server's; a stopped server must be ended, too. */
static bool end_by_signal(const struct esi_server_location *place)
{
    int pid = find_pid(place);

    if (pid == 0 || kill(pid, SIGTERM) != 0)
        return false;
    if (await_gone(place, GONE_MS))
        return true;
    return kill(pid, SIGKILL) == 0 && await_gone(place, GONE_MS);
}

int esi_server_end(const char *run,
                   bool keep,
                   struct es_error *error,
                   char ret_unreached[ES_UNREACHED_BYTES])
{
    struct said_end said = {.unreached = ""};
    struct esi_server_location place;

    ret_unreached[0] = '\0';
    find_place(run, &place);
    if (!is_live(&place))
        return -ENOENT;
    int code = ask_server(&place, keep, error, &said);
    memcpy(ret_unreached, said.unreached, sizeof said.unreached);
    if (code == 0 && said.stays)
        return 0;
    if (code == 0 && await_gone(&place, END_MS))
        return 0;
    if (end_by_signal(&place))
        return 0;
    return code < 0 ? code
                    : es_error_set(error, -EBUSY,
                                   "the tuple server of run '%s' does not end", run);
}
