/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads and writes the text form of addresses. */
#include "config.h"

#include "tuplespace/transport/address.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const prefixes[] = {
    [ES_ADDRESS_UNIX] = "unix:",
    [ES_ADDRESS_TCP] = "tcp:",
    [ES_ADDRESS_TLS] = "tls:",
};

static int address_refuse(struct es_error *error, const char *text, const char *reason)
{
    return es_error_set(error, -EINVAL, "address \"%.300s\": %s", text, reason);
}

static bool parse_port(const char *text, uint16_t *ret_port)
{
    unsigned long port;
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 5 || text[digits] != '\0')
        return false;
    port = strtoul(text, NULL, 10);
    if (port > UINT16_MAX)
        return false;
    *ret_port = (uint16_t)port;
    return true;
}

/* Where the host ends in "HOST:PORT"; NULL if there is no such place. */
static const char *address_split(const char *rest,
                                 const char **ret_host,
                                 size_t *ret_length)
{
    const char *end;

    if (rest[0] == '[') {
        end = strchr(rest, ']');
        *ret_host = rest + 1;
        *ret_length = end ? (size_t)(end - rest - 1) : 0;
        return end && end[1] == ':' ? end + 1 : NULL;
    }
    end = strchr(rest, ':');
    *ret_host = rest;
    *ret_length = end ? (size_t)(end - rest) : 0;
    return end;
}

static int parse_host(const char *text,
                      const char *rest,
                      struct es_error *error,
                      struct esi_address *address)
{
    const char *host;
    size_t length;
    const char *colon = address_split(rest, &host, &length);

    if (!colon)
        return address_refuse(error, text, "expected HOST:PORT or [IPV6]:PORT");
    if (strchr(colon + 1, ':'))
        return address_refuse(error, text, "an IPv6 address stands in brackets");
    if (!parse_port(colon + 1, &address->port))
        return address_refuse(error, text, "expected a port from 0 to 65535");
    memcpy(address->place, host, length);
    address->place[length] = '\0';
    return 0;
}

int esi_address_parse(const char *text,
                      struct es_error *error,
                      struct esi_address *ret_address)
{
    struct esi_address address = {.port = 0};
    const char *rest = NULL;
    int rc = 0;

    if (strlen(text) >= ES_ADDRESS_BYTES)
        return address_refuse(error, text, "too long");
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
            address.kind = (enum esi_address_kind)i;
            rest = text + strlen(prefixes[i]);
        }
    if (!rest)
        return address_refuse(error, text,
                              "expected unix:/PATH, tls:HOST:PORT or tcp:HOST:PORT");
    if (address.kind != ES_ADDRESS_UNIX)
        rc = parse_host(text, rest, error, &address);
    else if (rest[0] != '/')
        rc = address_refuse(error, text, "expected an absolute path");
    else
        strcpy(address.place, rest);
    if (rc == 0)
        *ret_address = address;
    return rc;
}

const char *esi_address_format(const struct esi_address *address,
                               char out[ES_ADDRESS_BYTES])
{
    const char *prefix = prefixes[address->kind];
    bool bare = !strchr(address->place, ':');

    if (address->kind == ES_ADDRESS_UNIX)
        snprintf(out, ES_ADDRESS_BYTES, "%s%.290s", prefix, address->place);
    else
        snprintf(out, ES_ADDRESS_BYTES, "%s%s%.280s%s:%u", prefix, bare ? "" : "[",
                 address->place, bare ? "" : "]", address->port);
    return out;
}
