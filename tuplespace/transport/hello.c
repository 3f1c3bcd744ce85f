/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Encodes and decodes hellos. */
#include "config.h"

#include "tuplespace/transport/hello.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/wire.h"
#include "tuplespace/segment_name.h"

/* Offsets in the payload. */
enum {
    AT_VERSION = 0, /* little endian */
    AT_ORDER = 4,   /* ORDER_MARK in the byte order of the sender */
    AT_PID = 8,     /* little endian */
    AT_RESERVED = 12,
    AT_RUN = 16,
    AT_HOST = 80,
    AT_PROGRAM = 144,
    AT_TOKEN = 208,
    TEXT_BYTES = 64,
};

_Static_assert(AT_TOKEN + ESI_TOKEN_BYTES == ESI_HELLO_BYTES, "nothing follows");

#define ORDER_MARK UINT32_C(0x01020304)
#define ORDER_SWAPPED UINT32_C(0x04030201)

static void put_text(unsigned char *out, const char *text)
{
    memcpy(out, text, strnlen(text, TEXT_BYTES - 1));
}

void esi_text_copy(const void *text, size_t length, char *out, size_t size)
{
    const unsigned char *bytes = text;
    size_t i;

    for (i = 0; i < length && i + 1 < size && bytes[i] != '\0'; i++)
        out[i] = bytes[i] < 0x20 || bytes[i] == 0x7f ? '?' : (char)bytes[i];
    out[i] = '\0';
}

void esi_hello_encode(const struct esi_hello *hello, unsigned char out[ESI_HELLO_BYTES])
{
    uint32_t mark = ORDER_MARK;

    memset(out, 0, ESI_HELLO_BYTES);
    esi_wire_store(out + AT_VERSION, ES_PROTOCOL_VERSION, 4);
    memcpy(out + AT_ORDER, &mark, sizeof mark);
    esi_wire_store(out + AT_PID, hello->greeting.pid, 4);
    put_text(out + AT_RUN, hello->greeting.run);
    put_text(out + AT_HOST, hello->greeting.host);
    put_text(out + AT_PROGRAM, hello->greeting.program);
    memcpy(out + AT_TOKEN, hello->token, ESI_TOKEN_BYTES);
}

static bool texts_end(const unsigned char *in)
{
    return memchr(in + AT_RUN, '\0', TEXT_BYTES) &&
           memchr(in + AT_HOST, '\0', TEXT_BYTES) &&
           memchr(in + AT_PROGRAM, '\0', TEXT_BYTES);
}

int esi_hello_decode(const void *bytes,
                     size_t length,
                     struct es_error *error,
                     uint32_t *ret_version,
                     struct esi_hello *ret_hello)
{
    const unsigned char *in = bytes;
    struct esi_hello hello = {.greeting = {.pid = 0}};
    uint32_t mark;

    if (length < 4)
        return es_error_set(error, -EPROTO, "a hello of %zu bytes", length);
    *ret_version = (uint32_t)esi_wire_load(in + AT_VERSION, 4);
    if (*ret_version != ES_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if (length != ESI_HELLO_BYTES)
        return es_error_set(error, -EPROTO, "a hello of %zu bytes: expected %d", length,
                            ESI_HELLO_BYTES);
    memcpy(&mark, in + AT_ORDER, sizeof mark);
    if (mark != ORDER_MARK && mark != ORDER_SWAPPED)
        return es_error_set(error, -EPROTO, "a hello of an unknown byte order");
    if (!texts_end(in))
        return es_error_set(error, -EPROTO, "a hello with a text that does not end");
    hello.greeting.pid = (uint32_t)esi_wire_load(in + AT_PID, 4);
    hello.greeting.swapped = mark == ORDER_SWAPPED;
    esi_text_copy(in + AT_RUN, TEXT_BYTES, hello.greeting.run, TEXT_BYTES);
    esi_text_copy(in + AT_HOST, TEXT_BYTES, hello.greeting.host, TEXT_BYTES);
    esi_text_copy(in + AT_PROGRAM, TEXT_BYTES, hello.greeting.program, TEXT_BYTES);
    memcpy(hello.token, in + AT_TOKEN, ESI_TOKEN_BYTES);
    if (!esi_run_id_is_valid(hello.greeting.run))
        return es_error_set(error, -EPROTO, "a hello with no valid run");
    *ret_hello = hello;
    return 0;
}
