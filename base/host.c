/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The host's name from uname(2), as seen in the container or namespace. */
#include "config.h"

#include "base/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

/* isalnum(3) depends on the locale. */
static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '-' || c == '_';
}

const char *esi_host_name(char out[ES_HOST_NAME_BYTES])
{
    struct utsname names;
    const char *name = "unknown";
    size_t length = 0;

    if (uname(&names) == 0 && names.nodename[0] != '\0' &&
        strcmp(names.nodename, "(none)") != 0)
        name = names.nodename;
    for (; name[length] != '\0' && length < ES_HOST_NAME_BYTES - 1; length++)
        out[length] = is_name_character(name[length]) ? name[length] : '_';
    out[length] = '\0';
    return out;
}
