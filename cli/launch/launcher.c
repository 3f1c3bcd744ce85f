/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The command line with which `eventspace run` starts its ranks. */
#include "config.h"

#include "cli/launch/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/array.h"
#include "cli/launch/mpi.h"

static int append_argument(struct esi_command_line *line, const char *word)
{
    if (ESI_ARRAY_RESERVE(line->words, line->capacity, line->count + 2) < 0)
        return -ENOMEM;
    line->words[line->count] = strdup(word);
    line->words[line->count + 1] = NULL;
    return line->words[line->count++] ? 0 : -ENOMEM;
}

static int append_all(struct esi_command_line *line, const char *const *words)
{
    int code = 0;

    for (; *words && code == 0; words++)
        code = append_argument(line, *words);
    return code;
}

void esi_command_line_fini(struct esi_command_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free(line->words[i]);
    free(line->words);
    *line = (struct esi_command_line){.words = NULL};
}

static const char *why_not_split(int failure)
{
    switch (failure) {
    case WRDE_BADCHAR:
        return "it has one of | & ; < > ( ) { } or a line break outside quotes";
    case WRDE_CMDSUB:
        return "it has a command substitution, which is not supported";
    case WRDE_SYNTAX:
        return "a quote or bracket is not closed";
    default:
        return "it cannot be split into words";
    }
}

static int append_launcher(struct esi_command_line *line,
                           const char *command,
                           struct es_error *error)
{
    wordexp_t split;

    int failure = wordexp(command, &split, WRDE_NOCMD);
    if (failure == WRDE_NOSPACE) {
        wordfree(&split);
        return -ENOMEM;
    }
    if (failure)
        return es_error_set(error, -EINVAL, "'%s': %s", command,
                            why_not_split(failure));
    int code = split.we_wordc > 0
                   ? append_all(line, (const char *const *)split.we_wordv)
                   : es_error_set(error, -EINVAL, "it is empty");
    wordfree(&split);
    return code;
}

/* Words that start this same command on every rank. */
static int append_self(struct esi_command_line *line)
{
    char self[PATH_MAX];

    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return -errno;
    self[length] = '\0';
    int code = append_argument(line, self);
    if (code == 0)
        code = append_argument(line, "exec");
    return code == 0 ? append_argument(line, "--") : code;
}

/* The launcher of the MPI that the program uses. */
static int append_own_launcher(struct esi_command_line *line,
                               const struct esi_launcher_request *request)
{
    const struct esi_mpi *mpi;

    if (esi_mpi_choose(request->program[0], NULL, &mpi) < 0)
        return append_argument(line, *ES_MPIEXEC ? ES_MPIEXEC : "mpiexec");
    int code = append_argument(line, mpi->launcher);
    /* Like MPICH, allow more ranks than cores. */
    if (code == 0 && mpi->family == ES_MPI_OPEN_MPI && !request->hostfile)
        code = append_argument(line, "--oversubscribe");
    return code;
}

static int append_any_launcher(struct esi_command_line *line,
                               const struct esi_launcher_request *request,
                               struct es_error *error)
{
    const char *chosen = request->command;

    if (!chosen)
        chosen = getenv("EVENTSPACE_LAUNCHER");
    if (request->command || (chosen && *chosen))
        return append_launcher(line, chosen, error);
    return append_own_launcher(line, request);
}

int esi_launcher_command_line(const struct esi_launcher_request *request,
                              struct es_error *error,
                              struct esi_command_line *ret_line)
{
    struct esi_command_line line = {.words = NULL};
    char ranks[16];

    snprintf(ranks, sizeof ranks, "%d", request->ranks);
    const char *counts[] = {"-n", ranks, NULL};
    /* An option common to the launchers of MPICH and Open MPI. */
    const char *hosts[] = {"-machinefile", request->hostfile, NULL};

    int code = append_any_launcher(&line, request, error);
    if (code == 0)
        code = append_all(&line, counts);
    if (code == 0 && request->hostfile)
        code = append_all(&line, hosts);
    if (code == 0 && request->collect)
        code = append_self(&line);
    if (code == 0)
        code = append_all(&line, (const char *const *)request->program);
    if (code < 0) {
        esi_command_line_fini(&line);
        return code;
    }
    *ret_line = line;
    return 0;
}
