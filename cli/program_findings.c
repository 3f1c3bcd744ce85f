/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The findings of `eventspace doctor` on a program: what cannot be collected, and
 * why. */
#include "config.h"

#include "cli/findings.h"

#include <stdio.h>
#include <string.h>

#include "cli/launch/mpi.h"
#include "cli/launch/preload.h"
#include "cli/program_file.h"
#include "eventspace/operation.h"

static const char clears[] =
    "clears the environment: what it starts does not load EventSpace's library; keep "
    "LD_PRELOAD and EVENTSPACE_*";
static const char by_ctypes[] =
    "opens a library by ctypes, and calls of MPI through its handle are not seen: take "
    "MPI's routines from ctypes.CDLL(None) after that";
static const char by_ccall[] =
    "takes MPI's routines from the library's handle, as Julia's ccall does, and such "
    "calls are not seen";

/* Parts of a script's line that hide calls of MPI, unless `except` follows in the
 * same command. */
static const struct {
    const char *part;
    const char *except;
    const char *effect;
} traps[] = {
    {"LD_PRELOAD=", "LD_PRELOAD",
     "sets LD_PRELOAD anew, and what starts then does not load EventSpace's library: "
     "write LD_PRELOAD=OTHER:$LD_PRELOAD"},
    {"unset LD_PRELOAD", NULL,
     "unsets LD_PRELOAD, and what starts then does not load EventSpace's library"},
    {"env -i", NULL, clears},
    {"env - ", NULL, clears},
    {"env --ignore-environment", NULL, clears},
    {"exec -c ", NULL, clears},
    {"CDLL(", "None", by_ctypes},
    {"LoadLibrary(", "None", by_ctypes},
    {"ccall(", NULL, by_ccall},
    {"using MPI", NULL, by_ccall},
};

static const char *find_trap(const char *line)
{
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        const char *found = strstr(line, traps[i].part);
        if (!found)
            continue;
        const char *rest = found + strlen(traps[i].part);
        const char *except = traps[i].except ? strstr(rest, traps[i].except) : NULL;
        if (!except || except > rest + strcspn(rest, ");"))
            return traps[i].effect;
    }
    return NULL;
}

/* Lines of a script that hide calls of MPI, up to one that is too long for text. */
static void add_traps(struct esi_findings *findings, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096];
    bool is_text = true;

    for (int number = 1; file && is_text && fgets(line, sizeof line, file); number++) {
        bool is_comment = line[strspn(line, " \t")] == '#';
        const char *effect = is_comment ? NULL : find_trap(line);
        if (effect)
            esi_findings_add(findings, ES_FINDING_NOTE, "program", "%s:%d %s", path,
                             number, effect);
        is_text = strchr(line, '\n') != NULL;
    }
    if (file)
        fclose(file);
}

static void add_other_kind(struct esi_findings *findings,
                           const struct esi_program_file *file)
{
    if (file->kind == ES_PROGRAM_SCRIPT) {
        add_traps(findings, file->path);
        esi_findings_add(
            findings, ES_FINDING_NOTE, "program",
            "%s is a script for %s: check the MPI program that the script starts "
            "instead",
            file->path, file->interpreter);
    } else {
        esi_findings_add(findings, ES_FINDING_PROBLEM, "program",
                         "%s is neither an ELF program nor a script", file->path);
    }
}

/* Whether the dynamic loader accepts the preload library and MPI calls go through
 * it. */
static bool can_be_preloaded(struct esi_findings *findings,
                             const struct esi_program_file *file)
{
    static const char link[] = "link it with 'mpicc -profile=eventspace' instead";
    const char *why = esi_program_file_obstacle(file);

    if (why)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "program", "%s %s: %s",
                         file->path, why, link);
    else if (!file->is_same_machine)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "program",
                         "%s is for another machine than this command and its library: "
                         "build EventSpace for that one",
                         file->path);
    return !why && file->is_same_machine;
}

/* The MPI that the program is linked with, and whether it is supported. */
static void add_mpi(struct esi_findings *findings, const struct esi_program_file *file)
{
    enum esi_mpi_family family = esi_mpi_family_of_program(file);
    enum esi_mpi_family second = esi_mpi_second_family(file);
    const struct esi_mpi *mpi = esi_mpi_find(family);

    for (size_t i = 0; i < file->libraries.count; i++)
        if (strncmp(file->libraries.words[i], "libmpi", 6) == 0)
            esi_findings_add(findings, ES_FINDING_GOOD, "program", "needs %s",
                             file->libraries.words[i]);
    if (second != ES_MPI_UNKNOWN)
        esi_findings_add(
            findings, ES_FINDING_PROBLEM, "program",
            "is linked with two MPIs, %s and %s, whose calls have the same "
            "names: link it, and each library that it needs, with one MPI",
            esi_mpi_family_name(family), esi_mpi_family_name(second));
    else if (mpi)
        esi_findings_add(findings, ES_FINDING_GOOD, "program",
                         "is linked with %s; 'eventspace run' starts it with %s",
                         esi_mpi_family_name(family), mpi->launcher);
    else if (family == ES_MPI_ABI)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "program",
                         "is linked with libmpi_abi, the ABI of MPI 5: there is no "
                         "library to collect it yet; link it with one of the MPIs "
                         "above");
    else if (family != ES_MPI_UNKNOWN)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "program",
                         "is linked with %s, for which this installation has no "
                         "library: build EventSpace with the program's MPI",
                         esi_mpi_family_name(family));
    else
        esi_findings_add(
            findings, ES_FINDING_NOTE, "program",
            "%s is linked with no MPI; one that it loads later is collected if it is "
            "that of the launcher, of LD_LIBRARY_PATH, or of EVENTSPACE_MPI; calls are "
            "not seen if it takes MPI's routines by dlsym() from the handle of "
            "dlopen(), as ctypes and Julia do, instead of RTLD_DEFAULT",
            file->path);
}

/* A sanitizer, whose runtime the loader must see before our library. */
static void add_sanitizers(struct esi_findings *findings,
                           const struct esi_program_file *file)
{
    for (size_t i = 0; i < file->libraries.count; i++)
        if (esi_preload_is_runtime(file->libraries.words[i]))
            esi_findings_add(findings, ES_FINDING_GOOD, "program",
                             "needs %s, the runtime of a sanitizer: 'eventspace run' "
                             "and 'exec' preload it before their library",
                             file->libraries.words[i]);
}

static const char *why_missed(const char *name)
{
    if (strncmp(name, "MPIX_", 5) == 0)
        return "an extension that is not in the MPI standard";
    return "not in the table of this version: newer than it";
}

static void add_routines(struct esi_findings *findings,
                         const struct esi_program_file *file)
{
    size_t recorded = 0;

    for (size_t i = 0; i < file->routines.count; i++) {
        const char *name = file->routines.words[i];
        const struct es_routine *routine = es_routine_find(name);
        if (routine && routine->operation)
            recorded++;
        else if (routine)
            esi_findings_add(findings, ES_FINDING_NOTE, name, "not recorded: %s",
                             routine->why ? routine->why : "no operation");
        else
            esi_findings_add(findings, ES_FINDING_NOTE, name, "not recorded: %s",
                             why_missed(name));
    }
    esi_findings_add(findings, recorded ? ES_FINDING_GOOD : ES_FINDING_NOTE, "program",
                     "%zu MPI routines called, %zu recorded", file->routines.count,
                     recorded);
}

int esi_find_in_program(struct esi_findings *findings, const char *program)
{
    struct es_error error = {.text = ""};
    struct esi_program_file file;

    int code = esi_program_file_read(program, &error, &file);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot read the program");
    if (file.kind == ES_PROGRAM_SCRIPT || file.kind == ES_PROGRAM_OTHER) {
        add_other_kind(findings, &file);
    } else if (can_be_preloaded(findings, &file)) {
        add_mpi(findings, &file);
        add_sanitizers(findings, &file);
        add_routines(findings, &file);
    }
    esi_program_file_fini(&file);
    return ES_EXIT_SUCCESS;
}
