/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The beginning of a connection.
 *
 *     client                          server
 *       HELLO                    ->
 *                                <-   CHALLENGE      over links that need a proof
 *       PROOF                    ->
 *                                <-   WELCOME        with the server's proof
 *                                or   REFUSAL        at any time, with the reason
 *
 * The client proves first, so that a stranger gets nothing made with the key.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tuplespace/link_private.h"

#define REFUSAL_BYTES 400
#define REFUSAL_NS UINT64_C(1000000000)
/* How long a refused peer gets to read why. */
#define LINGER_NS UINT64_C(500000000)
#define LINGER_BYTES 65536

/* A hello under way. */
struct hello {
    struct es_link *link;
    const struct es_greeting *greeting; /* ours */
    struct esi_party party;
    uint64_t deadline_ns;
    const char *peer; /* for words */
    struct es_error *error;
    struct esi_hello theirs;
    /* As they went over the wire: what is proven. */
    unsigned char client[ESI_HELLO_BYTES];
    unsigned char server[ESI_HELLO_BYTES];
};

static int fail(const struct hello *hello, int code, const char *reason)
{
    return es_error_set_at(hello->error, code, hello->peer, 0, 0, "%s", reason);
}

/* --- Frames ---------------------------------------------------------------------- */

/* What is there instead of a frame. */
static bool looks_like_tls(const struct es_link *link)
{
    const unsigned char *bytes = link->buffer + link->begin;

    /* A record of type 21 (alert) or 22 (handshake), version 3.x. */
    return link->end - link->begin >= 3 && (bytes[0] == 0x15 || bytes[0] == 0x16) &&
           bytes[1] == 3;
}

static int explain(const struct hello *hello, int code, const struct es_error *fault)
{
    if (looks_like_tls(hello->link))
        return fail(hello, -EPROTO,
                    "the peer speaks TLS: one side says tls:, the other does not");
    if (code == -ETIMEDOUT)
        return fail(hello, code, "no hello within the limit");
    if (code == -EPIPE)
        return fail(hello, code, "the connection was closed during the hello");
    return es_error_set_at(hello->error, code, hello->peer, 0, 0,
                           "the peer does not speak our protocol: %s", fault->text);
}

static int await(const struct hello *hello, struct es_frame *ret_frame)
{
    struct es_error fault = {.text = ""};
    uint64_t left = esi_link_remaining(hello->deadline_ns);
    int rc = es_link_receive(hello->link, left, &fault, ret_frame);

    return rc == 0 ? 0 : explain(hello, rc, &fault);
}

static int say(const struct hello *hello, uint16_t type, const void *bytes, size_t size)
{
    struct iovec part = {(void *)bytes, size};
    uint64_t left = esi_link_remaining(hello->deadline_ns);
    int rc = es_link_send(hello->link, type, 0, &part, 1, left);

    /* Who has closed may have said why: that is found when receiving. */
    return rc == 0 || rc == -EPIPE ? 0
                                   : explain(hello, rc, &(struct es_error){.line = 0});
}

static void encode(const struct hello *hello,
                   const unsigned char token[ESI_TOKEN_BYTES],
                   unsigned char out[ESI_HELLO_BYTES])
{
    struct esi_hello ours = {.greeting = *hello->greeting};

    memcpy(ours.token, token, ESI_TOKEN_BYTES);
    esi_hello_encode(&ours, out);
}

/* Reads their hello and compares what has to agree. */
static int decode(struct hello *hello, const struct es_frame *frame)
{
    struct es_error fault = {.text = ""};
    bool is_server = hello->party.is_server;
    uint32_t version = 0;
    int rc = esi_hello_decode(frame->payload, frame->length, &fault, &version,
                              &hello->theirs);

    if (rc == -EPROTONOSUPPORT && is_server)
        return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0,
                               "this server speaks version %u, you %u",
                               ES_PROTOCOL_VERSION, version);
    if (rc == -EPROTONOSUPPORT)
        return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0,
                               "the server speaks version %u, we %u", version,
                               ES_PROTOCOL_VERSION);
    if (rc != 0)
        return explain(hello, rc, &fault);
    if (strcmp(hello->theirs.greeting.run, hello->greeting->run) != 0)
        return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0,
                               "run \"%s\" is not %s", hello->theirs.greeting.run,
                               is_server ? "this server's" : "the one wanted");
    return 0;
}

static int welcome(struct hello *hello)
{
    hello->link->peer = hello->theirs.greeting;
    hello->link->most = ES_FRAME_MAX_BYTES;
    return 0;
}

/* --- The client's half ----------------------------------------------------------- */

static int say_hello(struct hello *hello)
{
    unsigned char token[ESI_TOKEN_BYTES] = {0};
    int rc = hello->link->ops->needs_proof ? esi_proof_challenge(token) : 0;

    if (rc != 0)
        return fail(hello, rc, "no random numbers");
    encode(hello, token, hello->client);
    return say(hello, ES_FRAME_HELLO, hello->client, ESI_HELLO_BYTES);
}

static int be_refused(const struct hello *hello, const struct es_frame *frame)
{
    char text[REFUSAL_BYTES];

    esi_text_copy(frame->payload, frame->length, text, sizeof text);
    return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0, "refused: %s",
                           text);
}

static int answer_challenge(struct hello *hello, const struct es_frame *frame)
{
    unsigned char proof[ESI_TOKEN_BYTES];
    int rc = decode(hello, frame);

    if (rc != 0)
        return rc;
    memcpy(hello->server, frame->payload, ESI_HELLO_BYTES);
    rc = esi_proof_make(hello->party.key, false, hello->client, hello->server, proof);
    if (rc != 0)
        return fail(hello, rc, "cannot make a proof");
    return say(hello, ES_FRAME_PROOF, proof, sizeof proof);
}

static int be_welcome(struct hello *hello, const struct es_frame *frame)
{
    unsigned char proof[ESI_TOKEN_BYTES];
    int rc = decode(hello, frame);

    if (rc != 0 || !hello->link->ops->needs_proof)
        return rc != 0 ? rc : welcome(hello);
    rc = esi_proof_make(hello->party.key, true, hello->client, hello->server, proof);
    if (rc != 0)
        return fail(hello, rc, "cannot make a proof");
    if (!esi_proof_is_equal(proof, hello->theirs.token))
        return fail(hello, -EACCES, "the server does not have the run's key");
    return welcome(hello);
}

static int client_half(struct hello *hello)
{
    bool challenged = !hello->link->ops->needs_proof;
    struct es_frame frame;
    int rc = say_hello(hello);

    while (rc == 0) {
        rc = await(hello, &frame);
        if (rc != 0)
            break;
        if (frame.type == ES_FRAME_REFUSAL)
            return be_refused(hello, &frame);
        if (frame.type == ES_FRAME_WELCOME && challenged)
            return be_welcome(hello, &frame);
        if (frame.type != ES_FRAME_CHALLENGE || challenged)
            return fail(hello, -EPROTO, "the server answers the hello with nonsense");
        challenged = true;
        rc = answer_challenge(hello, &frame);
    }
    return rc;
}

static int greet_server(struct hello *hello)
{
    const struct esi_link_ops *ops = hello->link->ops;
    struct es_error fault = {.text = ""};
    int rc = 0;

    esi_link_begin(hello->link, esi_link_remaining(hello->deadline_ns));
    if (ops->secure)
        rc = ops->secure(hello->link, &hello->party, &fault);
    if (rc != 0)
        return fail(hello, rc, fault.text[0] != '\0' ? fault.text : strerror(-rc));
    return client_half(hello);
}

int es_link_connect(const char *address,
                    const struct es_greeting *greeting,
                    const struct es_run_key *key,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct es_link **ret_link)
{
    struct hello hello = {.greeting = greeting,
                          .party = {.run = greeting->run, .key = key},
                          .deadline_ns = esi_link_deadline(timeout_ns),
                          .peer = address,
                          .error = error};
    const struct esi_link_ops *ops;
    struct es_address place;
    int descriptor;
    int rc = es_address_parse(address, error, &place);

    if (rc != 0)
        return rc;
    ops = esi_link_ops_of(place.kind);
    if (ops->needs_key && !key)
        return fail(&hello, -EINVAL, "needs the run's key");
    rc = ops->connect(&place, hello.deadline_ns, error, &descriptor);
    if (rc != 0)
        return rc;
    rc = esi_link_make(ops, descriptor, &hello.link);
    if (rc != 0)
        return fail(&hello, rc, strerror(-rc));
    rc = greet_server(&hello);
    if (rc != 0) {
        es_link_close(hello.link);
        return rc;
    }
    *ret_link = hello.link;
    return 0;
}

/* --- The server's half ----------------------------------------------------------- */

/* Closed with bytes unread, a socket takes back what the peer has not read yet: so its
 * words are read away until it closes. */
static void linger(const struct es_link *link)
{
    uint64_t deadline_ns = esi_link_deadline(LINGER_NS);
    char bytes[1024];
    size_t total = 0;
    ssize_t got = 1;

    shutdown(link->descriptor, SHUT_WR);
    while (got > 0 && total < LINGER_BYTES &&
           esi_socket_wait(link->descriptor, POLLIN, deadline_ns) == 0) {
        got = recv(link->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
        total += got > 0 ? (size_t)got : 0;
    }
}

/* Tells the peer why, where it can still be told. */
static int refuse(const struct hello *hello, int code, const char *reason)
{
    struct iovec part = {(void *)reason, strnlen(reason, REFUSAL_BYTES)};

    fail(hello, code, reason);
    if (es_link_send(hello->link, ES_FRAME_REFUSAL, 0, &part, 1, REFUSAL_NS) == 0)
        linger(hello->link);
    return code;
}

static int await_hello(struct hello *hello)
{
    struct es_frame frame;
    int rc = await(hello, &frame);

    if (rc != 0)
        return rc;
    if (frame.type != ES_FRAME_HELLO)
        return fail(hello, -EPROTO, "the first frame is no hello");
    rc = decode(hello, &frame);
    if (rc == 0)
        memcpy(hello->client, frame.payload, ESI_HELLO_BYTES);
    return rc;
}

/* Lets the client prove the key; makes our own proof. */
static int challenge(struct hello *hello, unsigned char ret_proof[ESI_TOKEN_BYTES])
{
    unsigned char token[ESI_TOKEN_BYTES], expected[ESI_TOKEN_BYTES];
    struct es_frame frame;
    int rc = esi_proof_challenge(token);

    if (rc != 0)
        return fail(hello, rc, "no random numbers");
    encode(hello, token, hello->server);
    rc = say(hello, ES_FRAME_CHALLENGE, hello->server, ESI_HELLO_BYTES);
    if (rc == 0)
        rc = await(hello, &frame);
    if (rc != 0)
        return rc;
    if (frame.type != ES_FRAME_PROOF || frame.length != ESI_TOKEN_BYTES)
        return fail(hello, -EPROTO, "expected a proof of the run's key");
    rc =
        esi_proof_make(hello->party.key, false, hello->client, hello->server, expected);
    if (rc == 0)
        rc = esi_proof_make(hello->party.key, true, hello->client, hello->server,
                            ret_proof);
    if (rc != 0)
        return fail(hello, rc, "cannot make a proof");
    if (!esi_proof_is_equal(expected, frame.payload))
        return fail(hello, -EACCES, "the run's key is another one");
    return 0;
}

static int server_half(struct hello *hello)
{
    const struct esi_link_ops *ops = hello->link->ops;
    unsigned char token[ESI_TOKEN_BYTES] = {0}, bytes[ESI_HELLO_BYTES];
    int rc = 0;

    if (ops->needs_key && !hello->party.key)
        return fail(hello, -EACCES, "this server has no key of the run");
    if (ops->secure)
        rc = ops->secure(hello->link, &hello->party, hello->error);
    if (rc == 0)
        rc = await_hello(hello);
    if (rc == 0 && ops->needs_proof)
        rc = challenge(hello, token);
    if (rc != 0)
        return rc;
    encode(hello, token, bytes);
    rc = say(hello, ES_FRAME_WELCOME, bytes, sizeof bytes);
    return rc == 0 ? welcome(hello) : rc;
}

int es_link_greet(struct es_link *link,
                  const struct es_greeting *greeting,
                  const struct es_run_key *key,
                  uint64_t timeout_ns,
                  struct es_error *error)
{
    struct es_error fault = {.text = ""};
    struct hello hello = {
        .link = link,
        .greeting = greeting,
        .party = {.is_server = true, .run = greeting->run, .key = key},
        .deadline_ns = esi_link_deadline(timeout_ns),
        .peer = link->peer_address,
        .error = &fault};
    int rc;

    esi_link_begin(link, timeout_ns);
    rc = server_half(&hello);
    if (rc == 0)
        return 0;
    hello.error = error;
    return refuse(&hello, rc, fault.text[0] != '\0' ? fault.text : strerror(-rc));
}
