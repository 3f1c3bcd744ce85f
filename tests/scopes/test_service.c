/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the replies of a tuple server: hosts, the run's end, files, switches,
 * and invalid requests. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/service.h"
#include "tests/await.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment.h"
#include "tuplespace/tree_control.h"

#define LIMIT_NS UINT64_C(20000000000)

struct fixture {
    char folder[64];
    char run[64];
    char host[ES_HOST_NAME_BYTES];
    char address[160];
    const char *addresses[2];
    struct esi_host_registry *registry;
    struct esi_service service;
    struct esi_server *server;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct esi_server_config config = {.log = NULL};
    char path[ES_RUN_PATH_BYTES];

    strcpy(fixture->folder, "/tmp/es-service-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    setenv("EVENTSPACE_DIR", fixture->folder, 1);
    snprintf(fixture->run, sizeof fixture->run, "service-%d", (int)getpid());
    esi_host_name(fixture->host);
    assert_int_equal(esi_run_directory_create(fixture->run, NULL, path), 0);
    snprintf(fixture->address, sizeof fixture->address, "unix:%s/%s/sock",
             fixture->folder, fixture->run);
    fixture->addresses[0] = fixture->address;
    assert_int_equal(
        esi_host_registry_create(fixture->run, fixture->host, true, &fixture->registry),
        0);
    esi_host_registry_set_address(fixture->registry, fixture->address, false);
    fixture->service = (struct esi_service){
        .run = fixture->run, .host = fixture->host, .hosts = fixture->registry};
    assert_int_equal(esi_service_init(&fixture->service, NULL), 0);
    config.run = fixture->run;
    config.host = fixture->host;
    config.addresses = fixture->addresses;
    esi_service_fill(&fixture->service, &config.service);
    assert_int_equal(esi_acceptor_start(&config, NULL, &fixture->server), 0);
    fixture->service.server = fixture->server;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_host_registry_close(fixture->registry);
    esi_server_stop(fixture->server);
    esi_service_fini(&fixture->service);
    esi_host_registry_destroy(fixture->registry);
    esi_run_directory_remove(fixture->run, NULL);
    es_run_remove(fixture->run, true);
    rmdir(fixture->folder);
    free(fixture);
    return 0;
}

static struct es_link *connect_here(const struct fixture *fixture)
{
    struct esi_greeting greeting = {.host = "elsewhere", .program = "test", .pid = 7};
    struct es_link *link;

    strcpy(greeting.run, fixture->run);
    assert_int_equal(
        esi_link_connect(fixture->address, &greeting, NULL, LIMIT_NS, NULL, &link), 0);
    return link;
}

static void send_text(struct es_link *link, uint16_t type, const char *text)
{
    struct iovec part = {.iov_base = (char *)text, .iov_len = strlen(text)};

    assert_int_equal(esi_link_send(link, type, 11, &part, 1, LIMIT_NS), 0);
}

/* Receives a reply of the type wanted; caller destroys. */
static struct es_message *receive(struct es_link *link, enum esi_frame_type wanted)
{
    struct es_message *message;
    struct esi_frame frame;

    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), 0);
    assert_int_equal(frame.id, 11);
    assert_int_equal(
        esi_message_parse(frame.payload, frame.length, "reply", NULL, &message), 0);
    assert_int_equal(frame.type, wanted);
    return message;
}

static struct es_message *ask(struct es_link *link, const char *text)
{
    send_text(link, ES_FRAME_REQUEST, text);
    return receive(link, ES_FRAME_REPLY);
}

/* Receives a failure with this code and with this text in its message. */
static void assert_failure(struct es_link *link, int code, const char *text)
{
    struct es_message *message = receive(link, ES_FRAME_FAILURE);
    const struct es_member *root = esi_message_root(message);

    assert_int_equal(esi_member_integer_or(root, "code", 0), code);
    assert_non_null(strstr(esi_member_text_or(root, "text", ""), text));
    esi_message_destroy(message);
}

/* Member `name` of host `index` in a reply to "hosts". */
static const char *host_text(const struct es_message *hosts,
                             size_t index,
                             const char *name)
{
    const struct es_member *list = esi_member_find(esi_message_root(hosts), "hosts");

    return esi_member_text_or(esi_member_at(list, index), name, "?");
}

static const char registers[] =
    "{\"request\": \"register\", \"host\": \"beta\", \"address\": \"tls:*:4711\", "
    "\"pid\": 12, \"ranks\": 3, \"cluster\": \"hill\", \"gateway\": \"gamma\", "
    "\"vanished\": [{\"rank\": 5, \"pid\": 77, \"how\": \"killed\"}]%s}";

static struct es_message *register_beta(struct es_link *link, const char *more)
{
    char text[512];

    snprintf(text, sizeof text, registers, more);
    return ask(link, text);
}

/* --- Cases -------------------------------------------------------------------- */

static void nonsense_is_answered_in_words(void **state)
{
    static const struct {
        uint16_t type;
        const char *text;
        int code;
        const char *words;
    } cases[] = {
        {ES_FRAME_REQUEST, "", EINVAL, "request"},
        {ES_FRAME_REQUEST, "[]", EINVAL, "request"},
        {ES_FRAME_REQUEST, "{}", EINVAL, "request"},
        {ES_FRAME_REQUEST, "{\"request\": 7}", EINVAL, "request"},
        {ES_FRAME_REQUEST, "{\"request\": \"dance\"}", ENOSYS, "'dance'"},
        {ES_FRAME_REQUEST, "{\"request\": \"end\"}", EINVAL, "keep"},
        {ES_FRAME_REQUEST, "{\"request\": \"register\"}", EINVAL, "host"},
        {ES_FRAME_REQUEST, "{\"request\": \"collect\"}", EINVAL, "enable"},
        {ES_FRAME_REQUEST,
         "{\"request\": \"collect\", \"enable\": true, "
         "\"selection\": {\"ranks\": \"x\"}}",
         EINVAL, "rank"},
        {ES_FRAME_REQUEST, "{\"request\": \"file\", \"name\": \"key\"}", EINVAL,
         "'key'"},
        {ES_FRAME_REQUEST, "{\"request\": \"file\", \"name\": \"../x\"}", EINVAL, "x"},
        {ES_FRAME_REQUEST, "{\"request\": \"file\", \"name\": \"map.json\"}", ENOENT,
         "map.json"},
        {ES_FRAME_PULL, "pull", EPROTO, "no subtree"},
    };
    struct es_link *link = connect_here(*state);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        send_text(link, cases[i].type, cases[i].text);
        assert_failure(link, cases[i].code, cases[i].words);
    }
    /* A frame type that only servers send ends the connection. */
    struct esi_frame frame;
    send_text(link, ES_FRAME_REPLY, "{}");
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    esi_link_close(link);
}

static bool is_silent(struct es_link *client, size_t host)
{
    struct es_message *reply = ask(client, "{\"request\": \"hosts\"}");
    bool silent = strcmp(host_text(reply, host, "state"), "silent") == 0;

    esi_message_destroy(reply);
    return silent;
}

static void hosts_come_and_fall_silent(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *client = connect_here(fixture), *beta = connect_here(fixture);
    struct es_message *reply = ask(client, "{\"request\": \"hosts\"}");

    assert_int_equal(
        esi_member_count(esi_member_find(esi_message_root(reply), "hosts")), 1);
    assert_string_equal(host_text(reply, 0, "host"), fixture->host);
    assert_string_equal(host_text(reply, 0, "address"), fixture->address);
    esi_message_destroy(reply);

    reply = register_beta(beta, "");
    assert_string_equal(esi_member_text_or(esi_message_root(reply), "end", ""), "no");
    esi_message_destroy(reply);
    esi_message_destroy(register_beta(beta, ", \"wait_ns\": 1"));

    reply = ask(client, "{\"request\": \"hosts\"}");
    const struct es_member *list = esi_member_find(esi_message_root(reply), "hosts");
    const struct es_member *entry = esi_member_at(list, 1);
    assert_int_equal(esi_member_count(list), 2);
    assert_string_equal(host_text(reply, 1, "host"), "beta");
    assert_string_equal(host_text(reply, 1, "state"), "up");
    assert_string_equal(host_text(reply, 1, "cluster"), "hill");
    assert_string_equal(host_text(reply, 1, "gateway"), "gamma");
    assert_int_equal(esi_member_integer_or(entry, "ranks", -1), 3);
    const struct es_member *lost = esi_member_find(entry, "vanished");
    assert_int_equal(esi_member_count(lost), 1);
    assert_int_equal(esi_member_integer_or(esi_member_at(lost, 0), "rank", -1), 5);
    esi_message_destroy(reply);

    esi_link_close(beta);
    AWAIT(is_silent(client, 1));
    /* The host comes back. */
    beta = connect_here(fixture);
    esi_message_destroy(register_beta(beta, ""));
    reply = ask(client, "{\"request\": \"hosts\"}");
    assert_int_equal(
        esi_member_count(esi_member_find(esi_message_root(reply), "hosts")), 2);
    assert_string_equal(host_text(reply, 1, "state"), "up");
    esi_message_destroy(reply);
    esi_link_close(beta);
    esi_link_close(client);
}

static void nobody_takes_the_home_servers_place(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *link = connect_here(fixture);
    char text[256];

    snprintf(text, sizeof text,
             "{\"request\": \"register\", \"host\": \"%s\", \"address\": \"tls:x:1\", "
             "\"pid\": 1, \"ranks\": 0}",
             fixture->host);
    send_text(link, ES_FRAME_REQUEST, text);
    assert_failure(link, EEXIST, "home server");
    esi_link_close(link);
}

struct other_host {
    struct es_link *link;
    char heard[8];
};

/* Waits for the end of the run as another host's server does, and confirms it. */
static void *wait_for_the_end(void *data)
{
    struct other_host *host = data;
    struct es_message *reply = register_beta(host->link, ", \"wait_ns\": 9000000000");

    snprintf(host->heard, sizeof host->heard, "%s",
             esi_member_text_or(esi_message_root(reply), "end", "?"));
    esi_message_destroy(reply);
    esi_message_destroy(
        register_beta(host->link, ", \"told\": \"yes\", \"ends\": true"));
    return NULL;
}

static void all_hosts_hear_of_the_end_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *client = connect_here(fixture);
    struct other_host host = {.link = connect_here(fixture)};
    struct es_message *reply;
    pthread_t thread;

    esi_message_destroy(register_beta(host.link, ""));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_the_end, &host), 0);
    reply = ask(client, "{\"request\": \"end\", \"keep\": false}");
    assert_int_equal(esi_member_integer_or(esi_message_root(reply), "hosts", 0), 2);
    assert_false(esi_member_boolean_or(esi_message_root(reply), "stays", true));
    esi_message_destroy(reply);
    pthread_join(thread, NULL);
    assert_string_equal(host.heard, "yes");
    assert_int_equal(esi_host_registry_ending(fixture->registry), ES_RUN_ENDED);
    esi_host_registry_await_answers(fixture->registry, LIMIT_NS);
    reply = ask(client, "{\"request\": \"hosts\"}");
    assert_string_equal(host_text(reply, 1, "state"), "ended");
    esi_message_destroy(reply);
    esi_link_close(host.link);
    esi_link_close(client);
}

static void files_are_given_out(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *link = connect_here(fixture);
    char path[ES_RUN_PATH_BYTES];

    esi_run_directory_path(fixture->run, "collect.plan", NULL, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a \"plan\"\n", file);
    fclose(file);
    struct es_message *reply =
        ask(link, "{\"request\": \"file\", \"name\": \"collect.plan\"}");
    assert_string_equal(esi_member_text_or(esi_message_root(reply), "text", ""),
                        "a \"plan\"\n");
    esi_message_destroy(reply);
    esi_link_close(link);
}

/* --- Switches ----------------------------------------------------------------- */

static struct es_segment *make_segment(const struct fixture *fixture)
{
    struct esi_segment_config config;
    struct esi_element_config element;
    struct es_segment *segment;
    struct esi_writer writer;

    esi_segment_config_init(&config);
    config.run = fixture->run;
    config.host = fixture->host;
    config.rank = 0;
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    for (int i = 0; i < 2; i++) {
        element = (struct esi_element_config){
            .name = i == 0 ? "0.0/one" : "0.0/two",
            .collector = i == 0 ? "one" : "two",
            .kind = ES_ELEMENT_TRACE,
            .tuple_bytes = sizeof(struct es_tuple),
            .peer = ES_PEER_NONE,
            .communicator = ES_COMMUNICATOR_NONE,
            .threshold = 15,
            .enabled = true,
        };
        assert_int_equal(esi_segment_add_element(segment, &element, &writer), 0);
    }
    return segment;
}

static void assert_counts(struct es_message *reply, int fit, int changed, int refused)
{
    const struct es_member *root = esi_message_root(reply);

    assert_int_equal(esi_member_integer_or(root, "fit", -1), fit);
    assert_int_equal(esi_member_integer_or(root, "changed", -1), changed);
    assert_int_equal(esi_member_count(esi_member_find(root, "refused")), refused);
    esi_message_destroy(reply);
}

static void collectors_are_switched(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *link = connect_here(fixture);
    struct es_element_info info;
    struct es_run *run;

    /* The run has no segments yet. */
    assert_counts(ask(link, "{\"request\": \"collect\", \"enable\": false}"), 0, 0, 0);
    struct es_segment *segment = make_segment(fixture);
    assert_counts(ask(link, "{\"request\": \"collect\", \"enable\": false, "
                            "\"selection\": {\"collector\": \"two\"}}"),
                  1, 1, 0);
    assert_counts(ask(link, "{\"request\": \"collect\", \"threshold\": 7}"), 2, 2, 0);
    assert_counts(ask(link, "{\"request\": \"collect\", \"threshold\": 700}"), 2, 0, 2);
    assert_int_equal(es_run_open(fixture->run, NULL, &run), 0);
    for (size_t i = 0; i < 2; i++) {
        es_element_view_info(es_segment_view_element(es_run_segment(run, 0), i), &info);
        assert_int_equal(info.enabled, i == 0);
        assert_int_equal(info.threshold, 7);
    }
    es_run_close(run);
    esi_link_close(link);
    esi_segment_destroy(segment);
}

/* --- Collective trees --------------------------------------------------------- */

#define RULES "eventspace-trees 1\\ntree a shape=linear\\nend\\n"

/* A process with two communicators; the second one has no trees yet. */
static struct es_segment *make_tree_segment(const struct fixture *fixture)
{
    static const int32_t ranks[] = {0, 1};
    struct esi_communicator_config communicator = {
        .name = "world", .group = ranks, .group_size = 2};
    struct esi_tree_log_entry entry = {.operations = 8,
                                       .first_instance = 5,
                                       .max_bytes = UINT64_MAX,
                                       .name = "b",
                                       .text = "kary:4"};
    struct es_segment *segment = make_segment(fixture);
    uint16_t index;

    assert_int_equal(esi_segment_add_communicator(segment, &communicator, &index), 0);
    communicator.name = "row";
    communicator.key[0] = 1;
    assert_int_equal(esi_segment_add_communicator(segment, &communicator, &index), 0);
    /* The newest rules are reported: all of the same version and instance. */
    assert_int_equal(esi_segment_add_tree_control(segment), 0);
    esi_tree_log_add(segment, &entry);
    entry.version = 1;
    entry.first_instance = 9;
    strcpy(entry.text, "linear");
    esi_tree_log_add(segment, &entry);
    strcpy(entry.text, "binomial");
    esi_tree_log_add(segment, &entry);
    return segment;
}

static void assert_trees(struct es_message *reply)
{
    const struct es_member *process =
        esi_member_at(esi_member_find(esi_message_root(reply), "processes"), 0);
    const struct es_member *list = esi_member_find(process, "communicators");
    const struct es_member *world = esi_member_at(list, 0);
    const struct es_member *rules = esi_member_find(world, "rules");

    assert_int_equal(esi_member_integer_or(process, "wish", -1), 2);
    assert_int_equal(esi_member_count(list), 2);
    assert_string_equal(esi_member_text_or(world, "name", ""), "world");
    assert_int_equal(esi_member_integer_or(world, "version", -1), 1);
    assert_int_equal(esi_member_integer_or(world, "since", -1), 9);
    assert_int_equal(esi_member_count(rules), 2);
    assert_string_equal(esi_member_text_or(esi_member_at(rules, 0), "tree", ""),
                        "linear");
    assert_string_equal(esi_member_text_or(esi_member_at(rules, 1), "bytes", ""), "0-");
    assert_null(esi_member_find(esi_member_at(list, 1), "version"));
    esi_message_destroy(reply);
}

static void collective_trees_are_told_and_changed(void **state)
{
    static const char change[] =
        "{\"request\": \"trees.change\", \"text\": \"" RULES "\"}";
    struct fixture *fixture = *state;
    struct es_link *link = connect_here(fixture);
    struct es_message *reply;

    assert_counts(ask(link, change), 0, 0, 0);
    struct es_segment *segment = make_tree_segment(fixture);
    reply = ask(link, "{\"request\": \"trees.wish\"}");
    assert_null(esi_member_find(esi_message_root(reply), "text"));
    esi_message_destroy(reply);
    assert_counts(ask(link, change), 1, 1, 0);
    assert_counts(ask(link, change), 1, 1, 0);
    assert_int_equal(esi_tree_desired_version(segment), 2);
    reply = ask(link, "{\"request\": \"trees.wish\"}");
    assert_string_equal(esi_member_text_or(esi_message_root(reply), "text", ""),
                        "eventspace-trees 1\ntree a shape=linear\nend\n");
    esi_message_destroy(reply);
    assert_trees(ask(link, "{\"request\": \"trees\"}"));
    /* Invalid rules are not sent to any process. */
    send_text(link, ES_FRAME_REQUEST,
              "{\"request\": \"trees.change\", \"text\": \"eventspace-trees 1\\n"
              "tree a shape=star\\nend\\n\"}");
    assert_failure(link, EINVAL, "shape 'star'");
    assert_int_equal(esi_tree_desired_version(segment), 2);
    esi_link_close(link);
    esi_segment_destroy(segment);
}

/* A flipped bit in a segment must not make the reply larger than the segment. */
static void a_size_that_cannot_be_grows_no_answer(void **state)
{
    const struct fixture *fixture = *state;
    struct es_link *link = connect_here(fixture);
    struct made_run run = {.clock = es_clock_kind()};
    struct esi_segment_layout *layout;
    struct esi_communicator_layout *world;
    struct es_message *reply;
    char request[160];

    strcpy(run.name, fixture->run);
    layout = esi_segment_layout(made_run_add_rank_on(&run, fixture->host, 0, 4));
    world = (void *)((char *)layout + layout->communicators_offset);
    send_text(link, ES_FRAME_REQUEST,
              "{\"request\": \"group\", \"key\": [\"1\", \"2\"], \"size\": 4, "
              "\"first\": 0}");
    reply = receive(link, ES_FRAME_REPLY);
    assert_int_equal(
        esi_member_count(esi_member_find(esi_message_root(reply), "ranks")), 4);
    esi_message_destroy(reply);
    world->local.stride = 0;
    world->local.size = 4 | 1 << 19;
    send_text(link, ES_FRAME_REQUEST,
              "{\"request\": \"group\", \"key\": [\"1\", \"2\"], "
              "\"size\": 524292, \"first\": 0}");
    assert_failure(link, ENOENT, "not known here");
    world->local.size = 4 | 1 << 30;
    snprintf(request, sizeof request,
             "{\"request\": \"communicator\", \"pid\": %d, \"made\": %" PRIu64
             ", \"index\": 0}",
             layout->pid, layout->clock.base_realtime_ns);
    reply = ask(link, request);
    assert_int_equal(esi_member_integer_or(esi_message_root(reply), "size", -1), 0);
    assert_int_equal(
        esi_member_count(esi_member_find(esi_message_root(reply), "ranks")), 0);
    esi_message_destroy(reply);
    esi_link_close(link);
    made_run_end(&run);
}

SUITE(test_service)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_answered_in_words),
        cmocka_unit_test(hosts_come_and_fall_silent),
        cmocka_unit_test(nobody_takes_the_home_servers_place),
        cmocka_unit_test(all_hosts_hear_of_the_end_at_once),
        cmocka_unit_test(files_are_given_out),
        cmocka_unit_test(collectors_are_switched),
        cmocka_unit_test(collective_trees_are_told_and_changed),
        cmocka_unit_test(a_size_that_cannot_be_grows_no_answer),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
