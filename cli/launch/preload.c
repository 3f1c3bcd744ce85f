/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The preload library: where it is, and how it gets into a program's environment. */
#include "config.h"

#include "cli/launch/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libeventspace-mpi.so"

/* The folder this command's file lies in.  `size` is PATH_MAX. */
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
static char *existing_library(const char *folder, const char *relative)
{
    char joined[2 * PATH_MAX];

    int length = snprintf(joined, sizeof joined, "%s/%s", folder, relative);
    if (length < 0 || (size_t)length >= sizeof joined || access(joined, R_OK) != 0)
        return NULL;
    return realpath(joined, NULL);
}

/* Uninstalled: BUILD/cli/eventspace, or BUILD/cli/.libs/eventspace behind libtool's
 * script. */
static char *find_in_build_tree(const char *folder)
{
    static const char *const ways_up[] = {"..", "../.."};
    char relative[128];

    for (size_t i = 0; i < sizeof ways_up / sizeof ways_up[0]; i++) {
        snprintf(relative, sizeof relative, "%s/config.status", ways_up[i]);
        char *mark = existing_library(folder, relative);
        if (!mark)
            continue;
        free(mark);
        snprintf(relative, sizeof relative, "%s/wrappers/mpi/.libs/" LIBRARY,
                 ways_up[i]);
        return existing_library(folder, relative);
    }
    return NULL;
}

/* Installed, and perhaps moved since: the way from ES_BINDIR to ES_LIBDIR, from here.
 */
static char *find_beside(const char *folder)
{
    const char *from = ES_BINDIR, *to = ES_LIBDIR;
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
    strncat(relative, "/" LIBRARY, sizeof relative - strlen(relative) - 1);
    return existing_library(folder, relative);
}

static int find_chosen(const char *chosen, struct es_error *error, char **ret_path)
{
    char *path = realpath(chosen, NULL);

    if (!path || access(path, R_OK) != 0) {
        int reason = errno;
        free(path);
        return es_error_set_at(error, -reason, "EVENTSPACE_PRELOAD", 0, 0, "%s: %s",
                               chosen, strerror(reason));
    }
    *ret_path = path;
    return 0;
}

static int find_anywhere(struct es_error *error, char **ret_path)
{
    char folder[PATH_MAX];
    char *path = NULL;

    if (own_folder(folder, sizeof folder)) {
        path = find_in_build_tree(folder);
        if (!path)
            path = find_beside(folder);
    }
    if (!path)
        path = existing_library(ES_LIBDIR, LIBRARY);
    if (!path)
        return es_error_set(error, -ENOENT,
                            "%s is neither beside this command nor in %s; "
                            "EVENTSPACE_PRELOAD may name it",
                            LIBRARY, ES_LIBDIR);
    *ret_path = path;
    return 0;
}

int esi_preload_find(struct es_error *error, char **ret_path)
{
    const char *chosen = getenv("EVENTSPACE_PRELOAD");
    char *path = NULL;

    int code = chosen && *chosen ? find_chosen(chosen, error, &path)
                                 : find_anywhere(error, &path);
    if (code < 0)
        return code;
    /* The loader takes both as separators and knows no way to quote them. */
    if (strpbrk(path, ": ")) {
        code =
            es_error_set_at(error, -EINVAL, path, 0, 0,
                            "the path of a preloaded library may have no ':' or blank");
        free(path);
        return code;
    }
    *ret_path = path;
    return 0;
}

int esi_preload_set(const char *path)
{
    const char *others = getenv("LD_PRELOAD");
    char *list;

    if (!others || !*others)
        return setenv("LD_PRELOAD", path, 1) == 0 ? 0 : -errno;
    if (asprintf(&list, "%s:%s", path, others) < 0)
        return -ENOMEM;
    int code = setenv("LD_PRELOAD", list, 1) == 0 ? 0 : -errno;
    free(list);
    return code;
}
