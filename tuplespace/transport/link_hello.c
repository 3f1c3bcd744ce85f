/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The handshake of a connection.
 *
 *     client                          server
 *       HELLO                    ->
 *                                <-   CHALLENGE      over links that need a proof
 *       PROOF                    ->
 *                                <-   WELCOME        with the server's proof
 *                                or   REFUSAL        at any time, with the reason
 *
 * The client proves first, so that strangers receive nothing derived from the key.
 */
#include "config.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "tuplespace/transport/link_private.h"

/* --- Proofs of the run's key ------------------------------------------------------ */

#define LABEL_BYTES 32

/* Fresh random bytes.  Returns 0 or -errno. */
static int make_challenge(unsigned char out[ESI_TOKEN_BYTES])
{
    if (getrandom(out, ESI_TOKEN_BYTES, 0) != ESI_TOKEN_BYTES)
        return errno ? -errno : -EIO;
    return 0;
}

/* The proof of the key for both hellos: HMAC-SHA256 over the role of the prover, the
 * client's hello and the server's hello.  Returns 0 or -ENOMEM. */
static int make_proof(const struct esi_run_key *key,
                      bool by_server,
                      const unsigned char client[ESI_HELLO_BYTES],
                      const unsigned char server[ESI_HELLO_BYTES],
                      unsigned char out[ESI_TOKEN_BYTES])
{
    /* The label prevents a proof from being reflected. */
    unsigned char text[LABEL_BYTES + 2 * ESI_HELLO_BYTES] = {0};
    unsigned length = 0;

    strcpy((char *)text, by_server ? "eventspace server" : "eventspace client");
    memcpy(text + LABEL_BYTES, client, ESI_HELLO_BYTES);
    memcpy(text + LABEL_BYTES + ESI_HELLO_BYTES, server, ESI_HELLO_BYTES);
    if (!HMAC(EVP_sha256(), key->bytes, ES_RUN_KEY_BYTES, text, sizeof text, out,
              &length))
        return -ENOMEM;
    return length == ESI_TOKEN_BYTES ? 0 : -EIO;
}

/* In constant time. */
static bool is_equal_proof(const unsigned char a[ESI_TOKEN_BYTES],
                           const unsigned char b[ESI_TOKEN_BYTES])
{
    return CRYPTO_memcmp(a, b, ESI_TOKEN_BYTES) == 0;
}

/* --- The handshake ---------------------------------------------------------------- */

#define REFUSAL_BYTES 400
#define LINGER_BYTES 65536

struct hello {
    struct es_link *link;
    const struct esi_greeting *greeting; /* ours */
    struct esi_party party;
    uint64_t deadline_ns;
    const char *peer; /* for error messages */
    struct es_error *error;
    bool is_stepping;         /* does not block: -EAGAIN */
    const char *public_words; /* sent to the peer instead of the reason; or NULL */
    struct esi_hello theirs;
    /* As transmitted: this is what is proved. */
    unsigned char client[ESI_HELLO_BYTES];
    unsigned char server[ESI_HELLO_BYTES];
};

static int link_hello_fail(const struct hello *hello, int code, const char *reason)
{
    return es_error_set_at(hello->error, code, hello->peer, 0, 0, "%s", reason);
}

/* --- Frames ---------------------------------------------------------------------- */

/* Describes data that is not a frame. */
static bool looks_like_tls(const struct es_link *link)
{
    const unsigned char *bytes = link->buffer + link->begin;

    /* A record of type 21 (alert) or 22 (handshake), version 3.x. */
    return link->end - link->begin >= 3 && (bytes[0] == 0x15 || bytes[0] == 0x16) &&
           bytes[1] == 3;
}

static int link_hello_explain(const struct hello *hello,
                              int code,
                              const struct es_error *fault)
{
    if (looks_like_tls(hello->link))
        return link_hello_fail(
            hello, -EPROTO,
            "the peer speaks TLS: one side says tls:, the other does not");
    if (code == -ETIMEDOUT)
        return link_hello_fail(hello, code, "no hello within the limit");
    if (code == -EPIPE)
        return link_hello_fail(hello, code,
                               "the connection was closed during the hello");
    return es_error_set_at(hello->error, code, hello->peer, 0, 0,
                           "the peer does not speak our protocol: %s", fault->text);
}

static int link_hello_await(const struct hello *hello, struct esi_frame *ret_frame)
{
    struct es_error fault = {.text = ""};
    uint64_t left = hello->is_stepping ? 0 : esi_link_remaining(hello->deadline_ns);
    int rc = esi_link_receive(hello->link, left, &fault, ret_frame);

    if (rc == -ETIMEDOUT && hello->is_stepping)
        return -EAGAIN;
    return rc == 0 ? 0 : link_hello_explain(hello, rc, &fault);
}

static int link_hello_say(const struct hello *hello,
                          uint16_t type,
                          const void *bytes,
                          size_t size)
{
    struct iovec part = {(void *)bytes, size};
    uint64_t left = hello->is_stepping ? 0 : esi_link_remaining(hello->deadline_ns);
    int rc = esi_link_send(hello->link, type, 0, &part, 1, left);

    /* A peer that has closed may have sent a reason, which is found when receiving. */
    return rc == 0 || rc == -EPIPE
               ? 0
               : link_hello_explain(hello, rc, &(struct es_error){.line = 0});
}

static void link_hello_encode(const struct esi_greeting *greeting,
                              const unsigned char token[ESI_TOKEN_BYTES],
                              unsigned char out[ESI_HELLO_BYTES])
{
    struct esi_hello ours = {.greeting = *greeting};

    memcpy(ours.token, token, ESI_TOKEN_BYTES);
    esi_hello_encode(&ours, out);
}

static int check_run(const struct hello *hello)
{
    if (strcmp(hello->theirs.greeting.run, hello->greeting->run) == 0)
        return 0;
    return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0,
                           "run '%s' is not %s", hello->theirs.greeting.run,
                           hello->party.is_server ? "this server's" : "the one wanted");
}

/* Decodes the peer's hello. */
static int link_hello_decode(struct hello *hello, const struct esi_frame *frame)
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
    return rc == 0 ? 0 : link_hello_explain(hello, rc, &fault);
}

static int link_hello_welcome(struct hello *hello)
{
    hello->link->peer = hello->theirs.greeting;
    hello->link->most = ES_FRAME_MAX_BYTES;
    return 0;
}

/* --- The client ------------------------------------------------------------------ */

static int send_hello(struct hello *hello)
{
    unsigned char token[ESI_TOKEN_BYTES] = {0};
    int rc = hello->link->ops->needs_proof ? make_challenge(token) : 0;

    if (rc != 0)
        return link_hello_fail(hello, rc, "no random numbers");
    link_hello_encode(hello->greeting, token, hello->client);
    return link_hello_say(hello, ES_FRAME_HELLO, hello->client, ESI_HELLO_BYTES);
}

static int read_refusal(const struct hello *hello, const struct esi_frame *frame)
{
    char text[REFUSAL_BYTES];

    esi_text_copy(frame->payload, frame->length, text, sizeof text);
    return es_error_set_at(hello->error, -EACCES, hello->peer, 0, 0, "refused: %s",
                           text);
}

static int answer_challenge(struct hello *hello, const struct esi_frame *frame)
{
    unsigned char proof[ESI_TOKEN_BYTES];
    int rc = link_hello_decode(hello, frame);

    if (rc == 0)
        rc = check_run(hello);
    if (rc != 0)
        return rc;
    memcpy(hello->server, frame->payload, ESI_HELLO_BYTES);
    rc = make_proof(hello->party.key, false, hello->client, hello->server, proof);
    if (rc != 0)
        return link_hello_fail(hello, rc, "cannot make a proof");
    return link_hello_say(hello, ES_FRAME_PROOF, proof, sizeof proof);
}

static int read_welcome(struct hello *hello, const struct esi_frame *frame)
{
    unsigned char proof[ESI_TOKEN_BYTES];
    int rc = link_hello_decode(hello, frame);

    if (rc == 0)
        rc = check_run(hello);
    if (rc != 0 || !hello->link->ops->needs_proof)
        return rc != 0 ? rc : link_hello_welcome(hello);
    rc = make_proof(hello->party.key, true, hello->client, hello->server, proof);
    if (rc != 0)
        return link_hello_fail(hello, rc, "cannot make a proof");
    if (!is_equal_proof(proof, hello->theirs.token))
        return link_hello_fail(hello, -EACCES,
                               "the server does not have the run's key");
    return link_hello_welcome(hello);
}

static int client_half(struct hello *hello)
{
    bool challenged = !hello->link->ops->needs_proof;
    struct esi_frame frame;
    int rc = send_hello(hello);

    while (rc == 0) {
        rc = link_hello_await(hello, &frame);
        if (rc != 0)
            break;
        if (frame.type == ES_FRAME_REFUSAL)
            return read_refusal(hello, &frame);
        if (frame.type == ES_FRAME_WELCOME && challenged)
            return read_welcome(hello, &frame);
        if (frame.type != ES_FRAME_CHALLENGE || challenged)
            return link_hello_fail(hello, -EPROTO,
                                   "the server's answer to the hello is invalid");
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
        return link_hello_fail(hello, rc,
                               fault.text[0] != '\0' ? fault.text : strerror(-rc));
    return client_half(hello);
}

int esi_link_connect(const char *address,
                     const struct esi_greeting *greeting,
                     const struct esi_run_key *key,
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
    struct esi_address place;
    int descriptor;
    int rc = esi_address_parse(address, error, &place);

    if (rc != 0)
        return rc;
    ops = esi_link_ops_of(place.kind);
    if (ops->needs_key && !key)
        return link_hello_fail(&hello, -EINVAL, "needs the run's key");
    rc = ops->connect(&place, hello.deadline_ns, error, &descriptor);
    if (rc != 0)
        return rc;
    rc = esi_link_make(ops, descriptor, &hello.link);
    if (rc != 0)
        return link_hello_fail(&hello, rc, strerror(-rc));
    rc = greet_server(&hello);
    if (rc != 0) {
        esi_link_close(hello.link);
        return rc;
    }
    *ret_link = hello.link;
    return 0;
}

/* --- The server ------------------------------------------------------------------ */

/* The next step. */
enum stage { STAGE_SECURE, STAGE_HELLO, STAGE_PROOF, STAGE_GREETED };

struct esi_handshake {
    struct hello hello;
    struct esi_run_key read_key;
    enum stage stage;
};

/* The peer cannot tell from the message whether the run or the key is wrong. */
static const char not_ours[] =
    "the server serves another run, or the run's key differs";

bool esi_link_drain(struct es_link *link)
{
    char bytes[1024];
    ssize_t got;

    do {
        got = recv(link->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
        link->drained += got > 0 ? (size_t)got : 0;
    } while (got > 0 && link->drained < LINGER_BYTES);
    return link->drained < LINGER_BYTES && got < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* Sends the reason to the peer if possible, and shuts down sending. */
static int link_hello_refuse(const struct hello *hello, int code, const char *reason)
{
    const char *words = hello->public_words ? hello->public_words : reason;
    struct iovec part = {(void *)words, strnlen(words, REFUSAL_BYTES)};

    link_hello_fail(hello, code, reason);
    esi_link_send(hello->link, ES_FRAME_REFUSAL, 0, &part, 1, 0);
    shutdown(hello->link->descriptor, SHUT_WR);
    return code;
}

static int send_welcome(struct esi_handshake *handshake,
                        const unsigned char token[ESI_TOKEN_BYTES])
{
    struct hello *hello = &handshake->hello;
    unsigned char bytes[ESI_HELLO_BYTES];

    link_hello_encode(hello->greeting, token, bytes);
    int rc = link_hello_say(hello, ES_FRAME_WELCOME, bytes, sizeof bytes);
    if (rc != 0)
        return rc;
    handshake->stage = STAGE_GREETED;
    return link_hello_welcome(hello);
}

static int link_hello_secure(struct esi_handshake *handshake)
{
    struct hello *hello = &handshake->hello;
    const struct esi_link_ops *ops = hello->link->ops;
    int rc = 0;

    if (ops->needs_key && !hello->party.key)
        return link_hello_fail(hello, -EACCES, "this server has no key of the run");
    esi_link_begin(hello->link, 0);
    if (ops->secure)
        rc = ops->secure(hello->link, &hello->party, hello->error);
    if (rc == 0)
        handshake->stage = STAGE_HELLO;
    return rc;
}

/* The client has not proved the key yet: the challenge repeats only what it has asked
 * for. */
static int link_hello_challenge(struct esi_handshake *handshake)
{
    struct hello *hello = &handshake->hello;
    struct esi_greeting nobody = {.pid = 0};
    unsigned char token[ESI_TOKEN_BYTES];
    int rc = make_challenge(token);

    if (rc != 0)
        return link_hello_fail(hello, rc, "no random numbers");
    memcpy(nobody.run, hello->theirs.greeting.run, sizeof nobody.run);
    link_hello_encode(&nobody, token, hello->server);
    handshake->stage = STAGE_PROOF;
    return link_hello_say(hello, ES_FRAME_CHALLENGE, hello->server, ESI_HELLO_BYTES);
}

static int take_hello(struct esi_handshake *handshake)
{
    static const unsigned char no_token[ESI_TOKEN_BYTES];
    struct hello *hello = &handshake->hello;
    struct esi_frame frame;
    int rc = link_hello_await(hello, &frame);

    if (rc != 0)
        return rc;
    if (frame.type != ES_FRAME_HELLO)
        return link_hello_fail(hello, -EPROTO, "the first frame is not a hello");
    rc = link_hello_decode(hello, &frame);
    if (rc != 0)
        return rc;
    memcpy(hello->client, frame.payload, ESI_HELLO_BYTES);
    if (hello->link->ops->needs_proof)
        return link_hello_challenge(handshake);
    rc = check_run(hello);
    return rc == 0 ? send_welcome(handshake, no_token) : rc;
}

/* Returns whether the proof was made with `key`, and then computes ours. */
static bool is_proof(const struct hello *hello,
                     const struct esi_run_key *key,
                     const void *proof,
                     unsigned char ret_ours[ESI_TOKEN_BYTES])
{
    unsigned char expected[ESI_TOKEN_BYTES];

    return make_proof(key, false, hello->client, hello->server, expected) == 0 &&
           is_equal_proof(expected, proof) &&
           make_proof(key, true, hello->client, hello->server, ret_ours) == 0;
}

static int take_proof(struct esi_handshake *handshake)
{
    struct hello *hello = &handshake->hello;
    unsigned char ours[ESI_TOKEN_BYTES];
    struct esi_frame frame;
    int rc = link_hello_await(hello, &frame);

    if (rc != 0)
        return rc;
    if (frame.type != ES_FRAME_PROOF || frame.length != ESI_TOKEN_BYTES)
        return link_hello_fail(hello, -EPROTO, "expected a proof of the run's key");
    bool is_full = is_proof(hello, hello->party.key, frame.payload, ours);
    hello->link->read_only =
        !is_full && is_proof(hello, &handshake->read_key, frame.payload, ours);
    hello->public_words = not_ours;
    rc = check_run(hello);
    if (rc == 0 && !is_full && !hello->link->read_only)
        rc = link_hello_fail(hello, -EACCES, "the run's key differs");
    return rc == 0 ? send_welcome(handshake, ours) : rc;
}

int esi_handshake_create(struct es_link *link,
                         const struct esi_greeting *greeting,
                         const struct esi_run_key *key,
                         struct esi_handshake **ret_handshake)
{
    struct esi_handshake *handshake = calloc(1, sizeof *handshake);

    if (!handshake)
        return -ENOMEM;
    handshake->hello =
        (struct hello){.link = link,
                       .greeting = greeting,
                       .party = {.is_server = true, .run = greeting->run, .key = key},
                       .peer = link->peer_address,
                       .is_stepping = true};
    int rc = key ? esi_run_key_derive_read(key, &handshake->read_key) : 0;
    if (rc != 0) {
        free(handshake);
        return rc;
    }
    handshake->hello.party.read_key = key ? &handshake->read_key : NULL;
    *ret_handshake = handshake;
    return 0;
}

void esi_handshake_destroy(struct esi_handshake *handshake)
{
    if (!handshake)
        return;
    explicit_bzero(&handshake->read_key, sizeof handshake->read_key);
    free(handshake);
}

int esi_handshake_step(struct esi_handshake *handshake, struct es_error *error)
{
    static int (*const stages[])(struct esi_handshake *) = {[STAGE_SECURE] =
                                                                link_hello_secure,
                                                            [STAGE_HELLO] = take_hello,
                                                            [STAGE_PROOF] = take_proof};
    struct es_error fault = {.text = ""};
    int rc = 0;

    handshake->hello.error = &fault;
    while (rc == 0 && handshake->stage != STAGE_GREETED)
        rc = stages[handshake->stage](handshake);
    handshake->hello.error = error;
    if (rc == 0 || rc == -EAGAIN)
        return rc;
    return link_hello_refuse(&handshake->hello, rc,
                             fault.text[0] ? fault.text : strerror(-rc));
}

int esi_handshake_expire(struct esi_handshake *handshake, struct es_error *error)
{
    handshake->hello.error = error;
    return link_hello_refuse(&handshake->hello, -ETIMEDOUT,
                             handshake->stage == STAGE_SECURE &&
                                     handshake->hello.link->ops->secure
                                 ? "no TLS handshake within the limit"
                                 : "no hello within the limit");
}

/* Closing a socket with unread data discards what the peer has not read yet, so the
 * peer's data is read until it closes. */
static void link_hello_linger(struct es_link *link)
{
    uint64_t deadline_ns = esi_link_deadline(ESI_LINGER_NS);

    while (esi_link_drain(link) &&
           esi_socket_wait(link->descriptor, POLLIN, deadline_ns) == 0)
        continue;
}

int esi_link_greet(struct es_link *link,
                   const struct esi_greeting *greeting,
                   const struct esi_run_key *key,
                   uint64_t timeout_ns,
                   struct es_error *error)
{
    const uint64_t deadline_ns = esi_link_deadline(timeout_ns);
    struct esi_handshake *handshake;
    int rc = esi_handshake_create(link, greeting, key, &handshake);

    if (rc != 0)
        return rc;
    do {
        rc = esi_handshake_step(handshake, error);
        if (rc == -EAGAIN &&
            esi_socket_wait(link->descriptor, POLLIN, deadline_ns) != 0)
            rc = esi_handshake_expire(handshake, error);
    } while (rc == -EAGAIN);
    esi_handshake_destroy(handshake);
    if (rc != 0)
        link_hello_linger(link);
    return rc;
}
