/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The addresses that this host has on networks. */
#include "config.h"

#include "tuplespace/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

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

static bool format(const struct ifaddrs *one, int family, char out[ES_INTERFACE_BYTES])
{
    if (!one->ifa_addr || one->ifa_addr->sa_family != family ||
        !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK))
        return false;
    return family == AF_INET ? format_ipv4(one->ifa_addr, out)
                             : format_ipv6(one->ifa_addr, out);
}

size_t es_interface_addresses(char (*out)[ES_INTERFACE_BYTES], size_t max)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all;
    size_t count = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const struct ifaddrs *one = all; one && count < max; one = one->ifa_next)
            count += format(one, families[i], out[count]);
    freeifaddrs(all);
    return count;
}
