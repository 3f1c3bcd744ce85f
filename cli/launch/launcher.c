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
#include "cli/command.h"
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

/* --- Sections: several programs, separated by ":" --------------------------------- */

/* Options of a section with their number of values, for the launchers of MPICH and Open
 * MPI and for srun. */
static const struct {
    const char *name;
    size_t values;
} section_options[] = {
    {"n", 1},        {"np", 1},          {"c", 1},      {"ntasks", 1},
    {"env", 2},      {"envlist", 1},     {"x", 1},      {"envnone", 0},
    {"envall", 0},   {"host", 1},        {"hosts", 1},  {"H", 1},
    {"hostfile", 1}, {"machinefile", 1}, {"f", 1},      {"wdir", 1},
    {"wd", 1},       {"chdir", 1},       {"D", 1},      {"path", 1},
    {"arch", 1},     {"umask", 1},       {"w", 1},      {"N", 1},
    {"npernode", 1}, {"ppn", 1},         {"map-by", 1}, {"bind-to", 1},
    {"rank-by", 1},  {"mca", 2},         {"prefix", 1}, {"cpus-per-task", 1},
    {"nodes", 1},    {"nodelist", 1},
};

static bool is_separator(const char *word)
{
    return strcmp(word, ":") == 0;
}

static bool counts_ranks(const char *name)
{
    return strcmp(name, "n") == 0 || strcmp(name, "np") == 0 ||
           strcmp(name, "c") == 0 || strcmp(name, "ntasks") == 0;
}

/* Counts the words of a section before its program.  Returns -EINVAL if the next one is
 * an option that is not known: then it is not known where the program begins. */
static int measure_options(char *const *words, size_t *ret_count, int *ret_ranks)
{
    const size_t known = sizeof section_options / sizeof *section_options;
    size_t count = 0;

    *ret_ranks = 1;
    while (words[count] && words[count][0] == '-') {
        const char *name = words[count] + 1 + (words[count][1] == '-');
        size_t i = 0, values = 0;

        while (i < known && strcmp(section_options[i].name, name) != 0)
            i++;
        if (i < known)
            values = section_options[i].values;
        else if (!strchr(name, '='))
            break;
        if (strncmp(name, "ntasks=", 7) == 0)
            *ret_ranks = atoi(name + 7);
        else if (counts_ranks(name) && words[count + 1])
            *ret_ranks = atoi(words[count + 1]);
        for (size_t value = 0; value <= values && words[count]; value++)
            count++;
    }
    *ret_count = count;
    return words[count] && words[count][0] == '-' ? -EINVAL : 0;
}

/* Whether ":" has a meaning for the launcher; for others it is an argument. */
static bool has_sections(const char *command)
{
    static const char *const names[] = {"mpiexec", "mpirun", "orterun", "prterun",
                                        "srun"};

    if (!command)
        command = getenv("EVENTSPACE_LAUNCHER");
    if (!command || !*command)
        return true;
    size_t length = strcspn(command, " \t");
    while (length > 0 && memchr(command, '/', length)) {
        command++;
        length--;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(command, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

int esi_launcher_later_ranks(const char *command, char *const *program)
{
    int all = 0;

    for (; has_sections(command) && *program; program++) {
        size_t count;
        int ranks;
        if (!is_separator(*program))
            continue;
        measure_options(program + 1, &count, &ranks);
        all += ranks > 0 ? ranks : 0;
    }
    return all;
}

/* Each section gets the form that collects. */
static int append_sections(struct esi_command_line *line,
                           const struct esi_launcher_request *request)
{
    bool prepares = request->collect && has_sections(request->command);
    int code = 0;

    for (char **word = request->program; *word && code == 0; word++) {
        size_t options;
        int ranks;
        code = append_argument(line, *word);
        if (!prepares || !is_separator(*word))
            continue;
        if (measure_options(word + 1, &options, &ranks) < 0) {
            esi_command_note("not collecting the program after ':': option '%s' is not "
                             "known here; put 'eventspace exec --' before the program",
                             word[1 + options]);
            continue;
        }
        for (; options > 0 && code == 0; options--)
            code = append_argument(line, *++word);
        if (code == 0)
            code = append_self(line);
    }
    return code;
}

int esi_launcher_command_line(const struct esi_launcher_request *request,
                              struct es_error *error,
                              struct esi_command_line *ret_line)
{
    struct esi_command_line line = {.words = NULL};
    int later = esi_launcher_later_ranks(request->command, request->program);
    char ranks[16];

    if (later >= request->ranks)
        return es_error_set(error, -EINVAL,
                            "the programs after ':' have all %d ranks of the map",
                            request->ranks);
    snprintf(ranks, sizeof ranks, "%d", request->ranks - later);
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
        code = append_sections(&line, request);
    if (code < 0) {
        esi_command_line_fini(&line);
        return code;
    }
    *ret_line = line;
    return 0;
}
