/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * TLS 1.3 over TCP, with the run's key as an external pre-shared key.
 *
 * The identity of the key is a hash that only its holders can compute, so the traffic
 * reveals neither the run nor its user.  There are no certificates: without the key
 * there is no connection.  All refusals look the same from outside: an identity unknown
 * to the server is checked against a key that nobody has, and every alert of a server
 * before the end of the handshake is handshake_failure.
 *
 * OpenSSL reads and writes through our own BIO, which applies the time limits of link.c
 * and raises no SIGPIPE.  A frame that fits into a record is sent with one system call,
 * and read-ahead receives a record with one.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "tuplespace/transport/link_private.h"

#define RECORD_BYTES 16384
#define ALERT_BYTES 7

struct secret {
    SSL *ssl;
    const struct esi_party *party;        /* during the handshake only */
    char identity[ES_RUN_KEY_TEXT_BYTES]; /* of the client */
    bool is_unknown;                      /* whether the client's identity is unknown */
    bool is_read_only;
    bool plain; /* the peer does not speak TLS, and is told so in plain text */
    int failed; /* -errno of the last read or write below TLS */
    unsigned char record[RECORD_BYTES];
};

/* --- Contexts, one for all links of the process ----------------------------------- */

static SSL_CTX *client_context;
static SSL_CTX *server_context;
static BIO_METHOD *socket_method;

/* The key, as a session to be resumed by OpenSSL. */
static SSL_SESSION *make_session(SSL *ssl, const struct esi_run_key *key)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *session = SSL_SESSION_new();

    if (session && cipher &&
        SSL_SESSION_set1_master_key(session, key->bytes, ES_RUN_KEY_BYTES) &&
        SSL_SESSION_set_cipher(session, cipher) &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int use_key(SSL *ssl,
                   const EVP_MD *hash,
                   const unsigned char **ret_identity,
                   size_t *ret_length,
                   SSL_SESSION **ret_session)
{
    struct secret *secret = SSL_get_app_data(ssl);
    const struct esi_party *party = secret->party;

    *ret_session = NULL;
    if (hash && EVP_MD_type(hash) != NID_sha256)
        return 1;
    if (esi_run_key_identify(party->key, party->run, secret->identity) < 0)
        return 0;
    *ret_session = make_session(ssl, party->key);
    *ret_identity = (const unsigned char *)secret->identity;
    *ret_length = strlen(secret->identity);
    return *ret_session ? 1 : 0;
}

/* Returns whether the identity belongs to the key. */
static bool is_identity(const struct esi_run_key *key,
                        const char *run,
                        const unsigned char *identity,
                        size_t length)
{
    char expected[ES_RUN_KEY_TEXT_BYTES];

    return length == sizeof expected - 1 &&
           esi_run_key_identify(key, run, expected) == 0 &&
           CRYPTO_memcmp(identity, expected, length) == 0;
}

static int find_key(SSL *ssl,
                    const unsigned char *identity,
                    size_t length,
                    SSL_SESSION **ret_session)
{
    struct secret *secret = SSL_get_app_data(ssl);
    const struct esi_party *party = secret->party;
    struct esi_run_key nobodys = {.bytes = {0}};

    *ret_session = NULL;
    bool is_full = is_identity(party->key, party->run, identity, length);
    secret->is_read_only =
        !is_full && is_identity(party->read_key, party->run, identity, length);
    secret->is_unknown = !is_full && !secret->is_read_only;
    if (secret->is_unknown && esi_run_key_make(&nobodys) == 0)
        *ret_session = make_session(ssl, &nobodys);
    else if (!secret->is_unknown)
        *ret_session = make_session(ssl, is_full ? party->key : party->read_key);
    OPENSSL_cleanse(&nobodys, sizeof nobodys);
    return *ret_session ? 1 : 0;
}

static SSL_CTX *make_context(const SSL_METHOD *method)
{
    SSL_CTX *context = SSL_CTX_new(method);

    if (!context)
        return NULL;
    if (!SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") ||
        !SSL_CTX_set_num_tickets(context, 0)) {
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_psk_use_session_callback(context, use_key);
    SSL_CTX_set_psk_find_session_callback(context, find_key);
    return context;
}

/* --- Below TLS -------------------------------------------------------------------- */

static int socket_read(BIO *bio, char *memory, int size)
{
    struct es_link *link = BIO_get_data(bio);
    struct secret *secret = link->secret;
    ssize_t got = esi_socket_receive(link, memory, (size_t)size);

    BIO_clear_retry_flags(bio);
    if (got > 0)
        return (int)got;
    secret->failed = (int)got;
    if (got == -ETIMEDOUT)
        BIO_set_retry_read(bio);
    return -1;
}

/* Returns whether these bytes are a server's refusal: type 21, version, length 2,
 * level, description. */
static bool is_refusal(const struct secret *secret, const char *bytes, int length)
{
    return secret->party && secret->party->is_server && length == ALERT_BYTES &&
           bytes[0] == SSL3_RT_ALERT && bytes[3] == 0 && bytes[4] == 2;
}

static int socket_write(BIO *bio, const char *bytes, int length)
{
    static const char alert[ALERT_BYTES] = {
        SSL3_RT_ALERT, 3, 3, 0, 2, SSL3_AL_FATAL, SSL3_AD_HANDSHAKE_FAILURE};
    struct es_link *link = BIO_get_data(bio);
    struct secret *secret = link->secret;
    bool is_alert = is_refusal(secret, bytes, length);
    struct iovec part = {(void *)(is_alert ? alert : bytes), (size_t)length};
    int rc = esi_socket_send(link, &part, 1);

    BIO_clear_retry_flags(bio);
    if (rc == 0)
        return length;
    secret->failed = rc;
    return -1;
}

static long socket_control(BIO *bio, int command, long number, void *data)
{
    (void)bio;
    (void)number;
    (void)data;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static int socket_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "link");

    if (!method)
        return NULL;
    BIO_meth_set_read(method, socket_read);
    BIO_meth_set_write(method, socket_write);
    BIO_meth_set_ctrl(method, socket_control);
    BIO_meth_set_create(method, socket_create);
    return method;
}

static void make_contexts(void)
{
    socket_method = make_method();
    client_context = make_context(TLS_client_method());
    /* A server that presents a certificate instead of the key is not trusted. */
    if (client_context)
        SSL_CTX_set_verify(client_context, SSL_VERIFY_PEER, NULL);
    server_context = make_context(TLS_server_method());
}

/* --- The handshake ---------------------------------------------------------------- */

static int make_secret(struct es_link *link, const struct esi_party *party)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    SSL_CTX *context;
    struct secret *secret;
    BIO *bio;

    pthread_once(&once, make_contexts);
    context = party->is_server ? server_context : client_context;
    if (!context || !socket_method)
        return -ENOMEM;
    secret = calloc(1, sizeof *secret);
    if (!secret)
        return -ENOMEM;
    secret->ssl = SSL_new(context);
    bio = BIO_new(socket_method);
    if (!secret->ssl || !bio) {
        BIO_free(bio);
        SSL_free(secret->ssl);
        free(secret);
        return -ENOMEM;
    }
    BIO_set_data(bio, link);
    SSL_set_bio(secret->ssl, bio, bio);
    SSL_set_app_data(secret->ssl, secret);
    link->secret = secret;
    return 0;
}

/* The meaning of the first error that OpenSSL found; NULL if nothing special. */
static const char *link_tls_words(int reason)
{
    switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
    case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
        return "the run's key differs";
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        return "refused: the server serves another run, or the run's key differs";
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return "TLS without the run's key";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return "the peer does not speak TLS 1.3";
    default:
        return NULL;
    }
}

/* Returns whether the received data cannot be TLS. */
static bool is_something_else(int reason)
{
    return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
           reason == SSL_R_HTTPS_PROXY_REQUEST ||
           reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
           reason == SSL_R_UNEXPECTED_MESSAGE || reason == SSL_R_BAD_RECORD_TYPE;
}

static int link_tls_explain(struct secret *secret, struct es_error *error)
{
    unsigned long code = ERR_peek_error();
    const char *text = code != 0 ? link_tls_words(ERR_GET_REASON(code)) : NULL;

    if (secret->is_unknown)
        return es_error_set(error, -EACCES,
                            "the peer has another run, or the run's key differs");
    if (secret->failed == -ETIMEDOUT)
        return es_error_set(error, -ETIMEDOUT, "no TLS handshake within the limit");
    if (text)
        return es_error_set(error, -EACCES, "%s", text);
    secret->plain = code != 0 && is_something_else(ERR_GET_REASON(code));
    if (secret->plain)
        return es_error_set(error, -EPROTO, "%s",
                            secret->party->is_server
                                ? "the data received is not TLS; expected tls:"
                                : "the server does not speak TLS here");
    if (code == 0 || secret->failed != 0)
        return es_error_set(error, secret->failed != 0 ? secret->failed : -EPIPE,
                            "the connection was closed during the TLS handshake");
    text = ERR_reason_error_string(code);
    return es_error_set(error, -EACCES, "TLS: %s", text ? text : "handshake failed");
}

static bool must_wait(const struct secret *secret, int result)
{
    return SSL_get_error(secret->ssl, result) == SSL_ERROR_WANT_READ &&
           secret->failed == -ETIMEDOUT;
}

static int tls_secure(struct es_link *link,
                      const struct esi_party *party,
                      struct es_error *error)
{
    struct secret *secret;
    int rc = link->secret ? 0 : make_secret(link, party);

    if (rc != 0)
        return es_error_set(error, rc, "cannot set up TLS");
    secret = link->secret;
    secret->party = party;
    secret->failed = 0;
    ERR_clear_error();
    rc = party->is_server ? SSL_accept(secret->ssl) : SSL_connect(secret->ssl);
    if (rc != 1 && link->timeout_ns == 0 && must_wait(secret, rc))
        return -EAGAIN;
    if (rc != 1)
        rc = link_tls_explain(secret, error);
    else if (!SSL_session_reused(secret->ssl))
        rc = es_error_set(error, -EACCES, "TLS without the run's key");
    else
        rc = 0;
    ERR_clear_error();
    secret->party = NULL;
    link->read_only = rc == 0 && secret->is_read_only;
    return rc;
}

/* --- Bytes ------------------------------------------------------------------------ */

static int link_tls_fault(struct secret *secret, int result)
{
    int kind = SSL_get_error(secret->ssl, result);

    ERR_clear_error();
    if (kind == SSL_ERROR_ZERO_RETURN)
        return -EPIPE;
    if (secret->failed != 0)
        return secret->failed;
    return kind == SSL_ERROR_SYSCALL ? -EPIPE : -EPROTO;
}

static ssize_t tls_receive(struct es_link *link, void *memory, size_t size)
{
    struct secret *secret = link->secret;
    int got;

    secret->failed = 0;
    got = SSL_read(secret->ssl, memory, size < INT32_MAX ? (int)size : INT32_MAX);
    return got > 0 ? got : link_tls_fault(secret, got);
}

/* Fills the record from the parts.  Returns its size. */
static size_t fill_record(struct secret *secret, struct iovec **parts, int *count)
{
    size_t filled = 0;

    while (*count > 0 && filled < RECORD_BYTES) {
        size_t room = RECORD_BYTES - filled;
        size_t length = (*parts)->iov_len < room ? (*parts)->iov_len : room;

        if (length > 0)
            memcpy(secret->record + filled, (*parts)->iov_base, length);
        filled += length;
        esi_parts_advance(parts, count, length);
    }
    return filled;
}

static int tls_send(struct es_link *link, struct iovec *parts, int count)
{
    struct secret *secret = link->secret;

    if (secret && secret->plain)
        return esi_socket_send(link, parts, count);
    if (!secret || !SSL_is_init_finished(secret->ssl))
        return -ENOTCONN;
    secret->failed = 0;
    while (count > 0) {
        int length = (int)fill_record(secret, &parts, &count);
        int sent = SSL_write(secret->ssl, secret->record, length);

        if (sent <= 0)
            return link_tls_fault(secret, sent);
    }
    return 0;
}

static void tls_close(struct es_link *link)
{
    struct secret *secret = link->secret;

    if (!secret)
        return;
    SSL_free(secret->ssl);
    /* The record contained plain text. */
    OPENSSL_cleanse(secret, sizeof *secret);
    free(secret);
}

const struct esi_link_ops esi_link_tls_ops = {
    .needs_key = true,
    .connect = esi_tcp_connect,
    .listen = esi_tcp_listen,
    .prepare = esi_tcp_prepare,
    .secure = tls_secure,
    .receive = tls_receive,
    .send = tls_send,
    .close = tls_close,
};
