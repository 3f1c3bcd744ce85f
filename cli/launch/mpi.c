/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The MPI libraries that this installation supports, and which one a program uses. */
#include "config.h"

#include "cli/launch/mpi.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch/capture.h"

enum { LIST_BYTES = 64 * 1024, LIST_LIMIT_MS = 5000 };

/* --- The table -------------------------------------------------------------------- */

static enum esi_mpi_family family_by_name(const char *name)
{
    if (strcmp(name, "mpich") == 0)
        return ES_MPI_MPICH;
    return strcmp(name, "openmpi") == 0 ? ES_MPI_OPEN_MPI : ES_MPI_UNKNOWN;
}

const char *esi_mpi_family_name(enum esi_mpi_family family)
{
    static const char *const names[] = {
        [ES_MPI_UNKNOWN] = "an unknown MPI",
        [ES_MPI_MPICH] = "MPICH or a compatible MPI",
        [ES_MPI_OPEN_MPI] = "Open MPI",
        [ES_MPI_ABI] = "the ABI of MPI 5",
    };

    return names[family];
}

const struct esi_mpi *esi_mpi_table(size_t *ret_count)
{
    static struct esi_mpi table[] = {
        {ES_MPI_UNKNOWN, ES_FIRST_MPI, ES_MPICC, ES_MPIEXEC,
         "wrappers/mpi/.libs/libeventspace-mpi.so", ES_PKGLIBDIR "/" ES_FIRST_MPI},
        {ES_MPI_OPEN_MPI, "openmpi", ES_OPENMPI_MPICC, ES_OPENMPI_MPIEXEC,
         "wrappers/mpi/openmpi/.libs/libeventspace-mpi.so", ES_PKGLIBDIR "/openmpi"},
    };

    table[0].family = family_by_name(ES_FIRST_MPI);
    *ret_count = *ES_MPICC ? 1 + (*ES_OPENMPI_MPICC != '\0') : 0;
    return table;
}

const struct esi_mpi *esi_mpi_find(enum esi_mpi_family family)
{
    size_t count;
    const struct esi_mpi *table = esi_mpi_table(&count);

    for (size_t i = 0; i < count; i++)
        if (table[i].family == family)
            return &table[i];
    return NULL;
}

/* --- Programs --------------------------------------------------------------------- */

enum esi_mpi_family esi_mpi_family_of_library(const char *name)
{
    static const struct {
        const char *beginning;
        enum esi_mpi_family family;
    } rows[] = {
        {"libmpi_abi", ES_MPI_ABI},         {"libmpich", ES_MPI_MPICH},
        {"libmpi.so.12", ES_MPI_MPICH},     {"libmpi.so.20", ES_MPI_OPEN_MPI},
        {"libmpi.so.40", ES_MPI_OPEN_MPI},  {"libmpi_mpifh.so", ES_MPI_OPEN_MPI},
        {"libmpi_usempi", ES_MPI_OPEN_MPI},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(name, rows[i].beginning, strlen(rows[i].beginning)) == 0)
            return rows[i].family;
    return ES_MPI_UNKNOWN;
}

/* Searches the libraries listed by the dynamic loader, which does not start the
 * program, for a family other than `except`. */
static enum esi_mpi_family family_of_loaded(const char *program,
                                            enum esi_mpi_family except)
{
    char env[] = "env", setting[] = "LD_TRACE_LOADED_OBJECTS=1";
    char *const words[] = {env, setting, (char *)(uintptr_t)program, NULL};
    enum esi_mpi_family family = ES_MPI_UNKNOWN;
    char *list = malloc(LIST_BYTES);

    if (list && esi_capture(words, LIST_LIMIT_MS, list, LIST_BYTES) == 0) {
        char *rest = list;
        for (char *line; family == ES_MPI_UNKNOWN && (line = strsep(&rest, "\n"));) {
            family = esi_mpi_family_of_library(line + strspn(line, " \t"));
            if (family == except)
                family = ES_MPI_UNKNOWN;
        }
    }
    free(list);
    return family;
}

static enum esi_mpi_family find_family(const struct esi_program_file *file,
                                       enum esi_mpi_family except)
{
    enum esi_mpi_family family = ES_MPI_UNKNOWN;

    if (file->kind != ES_PROGRAM_DYNAMIC)
        return ES_MPI_UNKNOWN;
    for (size_t i = 0; i < file->libraries.count && family == ES_MPI_UNKNOWN; i++) {
        family = esi_mpi_family_of_library(file->libraries.words[i]);
        if (family == except)
            family = ES_MPI_UNKNOWN;
    }
    /* Programs for another machine are not examined. */
    return family == ES_MPI_UNKNOWN && file->is_same_machine
               ? family_of_loaded(file->path, except)
               : family;
}

enum esi_mpi_family esi_mpi_family_of_program(const struct esi_program_file *file)
{
    return find_family(file, ES_MPI_UNKNOWN);
}

enum esi_mpi_family esi_mpi_second_family(const struct esi_program_file *file)
{
    enum esi_mpi_family first = esi_mpi_family_of_program(file);

    return first == ES_MPI_UNKNOWN ? first : find_family(file, first);
}

static enum esi_mpi_family family_of_named(const char *program)
{
    enum esi_mpi_family family;
    struct esi_program_file file;

    if (esi_program_file_read(program, NULL, &file) < 0)
        return ES_MPI_UNKNOWN;
    family = esi_mpi_family_of_program(&file);
    esi_program_file_fini(&file);
    return family;
}

/* From the environment that the launcher sets for its ranks. */
static enum esi_mpi_family family_of_launcher(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return ES_MPI_OPEN_MPI;
    if (getenv("PMI_RANK"))
        return ES_MPI_MPICH;
    /* srun --mpi=pmix. */
    return getenv("PMIX_RANK") ? ES_MPI_OPEN_MPI : ES_MPI_UNKNOWN;
}

static enum esi_mpi_family family_in_folder(const char *folder, size_t length)
{
    static const char *const names[] = {"libmpich.so.12", "libmpi.so.12",
                                        "libmpi.so.40", "libmpi.so.20"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int used =
            snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, names[i]);
        if (used < (int)sizeof path && access(path, R_OK) == 0)
            return esi_mpi_family_of_library(names[i]);
    }
    return ES_MPI_UNKNOWN;
}

/* A later dlopen() searches here first, and environment modules put their MPI here. */
static enum esi_mpi_family family_of_search_path(void)
{
    const char *folder = getenv("LD_LIBRARY_PATH");
    enum esi_mpi_family family = ES_MPI_UNKNOWN;

    while (folder && *folder && family == ES_MPI_UNKNOWN) {
        size_t length = strcspn(folder, ":;");

        family = length > 0 ? family_in_folder(folder, length) : ES_MPI_UNKNOWN;
        folder += length + (folder[length] != '\0');
    }
    return family;
}

/* --- The choice ------------------------------------------------------------------- */

static int family_wanted(const char *program,
                         struct es_error *error,
                         enum esi_mpi_family *ret_family)
{
    const char *wanted = getenv("EVENTSPACE_MPI");

    if (wanted && *wanted) {
        *ret_family = family_by_name(wanted);
        return *ret_family == ES_MPI_UNKNOWN
                   ? es_error_set_at(error, -EINVAL, "EVENTSPACE_MPI", 0, 0,
                                     "'%s': give mpich or openmpi", wanted)
                   : 0;
    }
    *ret_family = family_of_named(program);
    if (*ret_family == ES_MPI_UNKNOWN)
        *ret_family = family_of_launcher();
    if (*ret_family == ES_MPI_UNKNOWN)
        *ret_family = family_of_search_path();
    return 0;
}

int esi_mpi_choose(const char *program,
                   struct es_error *error,
                   const struct esi_mpi **ret_mpi)
{
    enum esi_mpi_family family;
    size_t count;
    const struct esi_mpi *first = esi_mpi_table(&count);

    if (count == 0)
        return es_error_set(error, -ENOTSUP, "EventSpace was built without an MPI");
    int code = family_wanted(program, error, &family);
    if (code < 0)
        return code;
    *ret_mpi = family == ES_MPI_UNKNOWN ? first : esi_mpi_find(family);
    if (*ret_mpi)
        return 0;
    return es_error_set_at(error, -ENOTSUP, program, 0, 0,
                           "it uses %s, for which this installation has no library "
                           "('eventspace doctor' shows those that it has)",
                           esi_mpi_family_name(family));
}
