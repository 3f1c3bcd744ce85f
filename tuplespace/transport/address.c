/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parses and formats addresses. */
#include "config.h"

#include "tuplespace/transport/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const prefixes[] = {
    [ES_ADDRESS_UNIX] = "unix:",
    [ES_ADDRESS_TCP] = "tcp:",
    [ES_ADDRESS_TLS] = "tls:",
};

static int address_refuse(struct es_error *error, const char *text, const char *reason)
{
    return es_error_set(error, -EINVAL, "address '%.300s': %s", text, reason);
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

/* The end of the host in "HOST:PORT"; NULL if there is none. */
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

/* --- Addresses of this host ------------------------------------------------------- */

static bool format_ipv4(const struct sockaddr *address, char out[ES_INTERFACE_BYTES])
{
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)(const void *)address;

    return inet_ntop(AF_INET, &ipv4->sin_addr, out, ES_INTERFACE_BYTES) != NULL;
}

static bool format_ipv6(const struct sockaddr *address, char out[ES_INTERFACE_BYTES])
{
    const struct sockaddr_in6 *ipv6 =
        (const struct sockaddr_in6 *)(const void *)address;
    char text[INET6_ADDRSTRLEN];

    if (IN6_IS_ADDR_LINKLOCAL(&ipv6->sin6_addr) ||
        !inet_ntop(AF_INET6, &ipv6->sin6_addr, text, sizeof text))
        return false;
    snprintf(out, ES_INTERFACE_BYTES, "[%s]", text);
    return true;
}

static bool interface_format(const struct ifaddrs *one,
                             int family,
                             char out[ES_INTERFACE_BYTES])
{
    if (!one->ifa_addr || one->ifa_addr->sa_family != family ||
        !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK))
        return false;
    return family == AF_INET ? format_ipv4(one->ifa_addr, out)
                             : format_ipv6(one->ifa_addr, out);
}

size_t esi_interface_addresses(char (*out)[ES_INTERFACE_BYTES], size_t max)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all;
    size_t count = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const struct ifaddrs *one = all; one && count < max; one = one->ifa_next)
            count += interface_format(one, families[i], out[count]);
    freeifaddrs(all);
    return count;
}

/* Any port, because nothing is sent. */
#define SOME_PORT "9"

static bool is_loop(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const void *)address;
        return ntohl(ipv4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *ipv6 = (const void *)address;
    return IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
}

/* Returns whether a socket can be bound to the address, which shows that it belongs to
 * this host. */
static bool is_own(const struct addrinfo *info)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    int descriptor = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (descriptor < 0)
        return false;
    memcpy(&address, info->ai_addr, info->ai_addrlen);
    if (info->ai_family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_port = 0;
    else
        ((struct sockaddr_in6 *)&address)->sin6_port = 0;
    bool can = bind(descriptor, (struct sockaddr *)&address, info->ai_addrlen) == 0;
    close(descriptor);
    return can;
}

static int format_one(const struct sockaddr *address, char out[ES_INTERFACE_BYTES])
{
    bool done = address->sa_family == AF_INET    ? format_ipv4(address, out)
                : address->sa_family == AF_INET6 ? format_ipv6(address, out)
                                                 : false;

    return done ? 0 : -EADDRNOTAVAIL;
}

/* Removes brackets around an IPv6 address.  The caller frees *ret_list with
 * freeaddrinfo(). */
static int look_up(const char *host, int flags, struct addrinfo **ret_list)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_DGRAM,
                                   .ai_flags = AI_NUMERICSERV | flags};
    char plain[256];
    size_t length = strlen(host);

    snprintf(plain, sizeof plain, "%s", host);
    if (host[0] == '[' && length > 2 && length < sizeof plain &&
        host[length - 1] == ']')
        snprintf(plain, sizeof plain, "%.*s", (int)(length - 2), host + 1);
    return getaddrinfo(plain, SOME_PORT, &hints, ret_list) == 0 ? 0 : -EHOSTUNREACH;
}

int esi_interface_find(const char *host, char out[ES_INTERFACE_BYTES])
{
    struct addrinfo *list;
    bool is_number = look_up(host, AI_NUMERICHOST, &list) == 0;
    int code = is_number ? 0 : look_up(host, 0, &list);

    if (code < 0)
        return -EADDRNOTAVAIL;
    code = -EADDRNOTAVAIL;
    for (const struct addrinfo *one = list; one && code < 0; one = one->ai_next)
        if ((is_number || !is_loop(one->ai_addr)) && is_own(one))
            code = format_one(one->ai_addr, out);
    freeaddrinfo(list);
    return code;
}

static int local_end(const struct addrinfo *info, char out[ES_INTERFACE_BYTES])
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    int descriptor = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int code = -EHOSTUNREACH;

    if (descriptor < 0)
        return code;
    if (connect(descriptor, info->ai_addr, info->ai_addrlen) == 0 &&
        getsockname(descriptor, (struct sockaddr *)&address, &length) == 0)
        code = format_one((const struct sockaddr *)&address, out);
    close(descriptor);
    return code;
}

int esi_interface_toward(const char *host, char out[ES_INTERFACE_BYTES])
{
    struct addrinfo *list;
    int code = look_up(host, 0, &list);

    if (code < 0)
        return code;
    code = -EHOSTUNREACH;
    for (const struct addrinfo *one = list; one && code < 0; one = one->ai_next)
        code = local_end(one, out);
    freeaddrinfo(list);
    return code;
}
