/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The preload library: finds it and adds it to a program's environment. */
#include "config.h"

#include "cli/launch/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch/installed.h"

#define LIBRARY "libeventspace-mpi.so"

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

static int find_anywhere(const struct esi_mpi *mpi,
                         struct es_error *error,
                         char **ret_path)
{
    char *path = esi_installed_find(mpi->in_build, mpi->folder, LIBRARY);

    if (!path)
        return es_error_set(error, -ENOENT,
                            "%s is neither beside this command nor in %s; "
                            "EVENTSPACE_PRELOAD may name it",
                            LIBRARY, mpi->folder);
    *ret_path = path;
    return 0;
}

int esi_preload_find(const struct esi_mpi *mpi, struct es_error *error, char **ret_path)
{
    const char *chosen = getenv("EVENTSPACE_PRELOAD");
    char *path = NULL;

    int code = chosen && *chosen ? find_chosen(chosen, error, &path)
                                 : find_anywhere(mpi, error, &path);
    if (code < 0)
        return code;
    /* The loader treats both as separators, and they cannot be quoted. */
    if (strpbrk(path, ": ")) {
        code =
            es_error_set_at(error, -EINVAL, path, 0, 0,
                            "the path of a preloaded library must not contain ':' or "
                            "blanks");
        free(path);
        return code;
    }
    *ret_path = path;
    return 0;
}

int esi_preload_find_for(const char *program, struct es_error *error, char **ret_path)
{
    const struct esi_mpi *mpi;

    int code = esi_mpi_choose(program, error, &mpi);
    return code < 0 ? code : esi_preload_find(mpi, error, ret_path);
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
