/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* installed.c - finds the files of this command relative to its own location. */
#include "config.h"

#include "cli/launch/installed.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this command's file.  `size` is PATH_MAX. */
static bool own_folder(char *ret_folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", ret_folder, size - 1);

    if (length < 0)
        return false;
    ret_folder[length] = '\0';
    char *slash = strrchr(ret_folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* FOLDER/RELATIVE, if it can be read; caller frees. */
static char *existing_file(const char *folder, const char *relative)
{
    char joined[2 * PATH_MAX];

    int length = snprintf(joined, sizeof joined, "%s/%s", folder, relative);
    if (length < 0 || (size_t)length >= sizeof joined || access(joined, R_OK) != 0)
        return NULL;
    return realpath(joined, NULL);
}

/* Not installed: BUILD/cli/eventspace, or BUILD/cli/.libs/eventspace run by libtool's
 * script. */
static char *find_in_build_tree(const char *folder, const char *in_build)
{
    static const char *const ways_up[] = {"..", "../.."};
    char relative[256];

    for (size_t i = 0; i < sizeof ways_up / sizeof ways_up[0]; i++) {
        snprintf(relative, sizeof relative, "%s/config.status", ways_up[i]);
        char *mark = existing_file(folder, relative);
        if (!mark)
            continue;
        free(mark);
        snprintf(relative, sizeof relative, "%s/%s", ways_up[i], in_build);
        return existing_file(folder, relative);
    }
    return NULL;
}

/* Installed, and possibly moved since: applies the path from ES_BINDIR to `to` here. */
static char *find_beside(const char *folder, const char *to, const char *name)
{
    const char *from = ES_BINDIR;
    char relative[PATH_MAX] = "";
    size_t common = 0;

    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            common = i + 1;
    for (const char *part = from + common; part; part = strchr(part, '/')) {
        part += *part == '/';
        strncat(relative, "../", sizeof relative - strlen(relative) - 1);
    }
    strncat(relative, to + common, sizeof relative - strlen(relative) - 1);
    strncat(relative, "/", sizeof relative - strlen(relative) - 1);
    strncat(relative, name, sizeof relative - strlen(relative) - 1);
    return existing_file(folder, relative);
}

char *esi_installed_find(const char *in_build, const char *folder, const char *name)
{
    char own[PATH_MAX];
    char *path = NULL;

    if (own_folder(own, sizeof own)) {
        path = find_in_build_tree(own, in_build);
        if (!path)
            path = find_beside(own, folder, name);
    }
    return path ? path : existing_file(folder, name);
}
