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
#include "cli/program_file.h"

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
    char *path = esi_installed_find(mpi->in_build, mpi->folder, ES_PRELOAD_LIBRARY);

    if (!path)
        return es_error_set(error, -ENOENT,
                            "%s is neither beside this command nor in %s; "
                            "EVENTSPACE_PRELOAD may name it",
                            ES_PRELOAD_LIBRARY, mpi->folder);
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

/* --- The list --------------------------------------------------------------------- */

bool esi_preload_is_runtime(const char *library)
{
    static const char *const beginnings[] = {
        "libasan.so",       "libtsan.so",       "liblsan.so",         "libhwasan.so",
        "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan",
    };
    const char *slash = strrchr(library, '/');
    const char *name = slash ? slash + 1 : library;

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static void add_entry(FILE *list, const char *entry)
{
    fprintf(list, "%s%s", ftell(list) > 0 ? ":" : "", entry);
}

/* Writes the runtimes that `program` needs and the user does not preload. */
static void add_runtimes(FILE *list, const char *program, const char *others)
{
    struct esi_program_file file;

    if (esi_program_file_read(program, NULL, &file) < 0)
        return;
    for (size_t i = 0; i < file.libraries.count; i++) {
        const char *library = file.libraries.words[i];
        if (esi_preload_is_runtime(library) && !strstr(others, library))
            add_entry(list, library);
    }
    esi_program_file_fini(&file);
}

/* Writes the user's entries that are runtimes, or those that are not. */
static void add_others(FILE *list, const char *others, bool runtimes)
{
    char *copy = strdup(others);
    char *rest = copy;

    for (char *entry; (entry = strsep(&rest, ": ")) != NULL;)
        if (*entry && esi_preload_is_runtime(entry) == runtimes)
            add_entry(list, entry);
    free(copy);
}

/* Returns the lists for EVENTSPACE_RUNTIMES and LD_PRELOAD. */
static int write_lists(const char *program,
                       const char *path,
                       char **ret_runtimes,
                       char **ret_list)
{
    const char *others = getenv("LD_PRELOAD");
    size_t length;

    FILE *stream = open_memstream(ret_runtimes, &length);
    if (!stream)
        return -ENOMEM;
    add_runtimes(stream, program, others ? others : "");
    if (fclose(stream) != 0)
        return -ENOMEM;
    stream = open_memstream(ret_list, &length);
    if (!stream)
        return -ENOMEM;
    add_others(stream, others ? others : "", true);
    if (**ret_runtimes)
        add_entry(stream, *ret_runtimes);
    add_entry(stream, path);
    add_others(stream, others ? others : "", false);
    return fclose(stream) == 0 ? 0 : -ENOMEM;
}

int esi_preload_set(const char *program, const char *path)
{
    char *runtimes = NULL, *list = NULL;

    int code = write_lists(program, path, &runtimes, &list);
    if (code == 0 && (setenv("EVENTSPACE_RUNTIMES", runtimes, 1) != 0 ||
                      setenv("LD_PRELOAD", list, 1) != 0))
        code = -errno;
    if (code == 0 && !*runtimes)
        unsetenv("EVENTSPACE_RUNTIMES");
    free(runtimes);
    free(list);
    return code;
}
