/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Why no call of MPI is seen: looks at processes in /proc. */
#include "config.h"

#include "cli/launch/unseen.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/command.h"
#include "cli/launch/mpi.h"
#include "cli/launch/preload.h"
#include "cli/program_file.h"

#define FIRST_PAUSE_NS UINT64_C(25000000)

/* Looks take at most a twentieth of the time; pauses grow with the age of the run. */
enum { REST = 20, SHARE_OF_AGE = 8, DEEPEST = 64 };

/* --- One process ------------------------------------------------------------------ */

/* What the memory map of a process shows. */
struct mapped {
    bool has_segment; /* calls are recorded */
    bool has_library;
    bool has_mpi;
};

static FILE *open_of_process(pid_t pid, const char *file)
{
    char path[96];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return fopen(path, "re");
}

static void note_file(struct mapped *map, const char *path)
{
    static const char segment[] = "/dev/shm/eventspace.";
    const char *name = strrchr(path, '/') + 1;

    map->has_segment |= strncmp(path, segment, strlen(segment)) == 0;
    map->has_library |= strstr(path, ES_PRELOAD_LIBRARY) != NULL;
    map->has_mpi |= esi_mpi_family_of_library(name) != ES_MPI_UNKNOWN;
}

static struct mapped read_map(pid_t pid)
{
    struct mapped map = {.has_segment = false};
    FILE *file = open_of_process(pid, "maps");
    char *line = NULL;
    size_t room = 0;

    while (file && getline(&line, &room, file) > 0) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path)
            note_file(&map, path);
    }
    free(line);
    if (file)
        fclose(file);
    return map;
}

static void read_environment(pid_t pid, struct esi_unseen *unseen)
{
    static const char disable[] = "EVENTSPACE_DISABLE=", run[] = "EVENTSPACE_RUN=",
                      preload[] = "LD_PRELOAD=";
    FILE *file = open_of_process(pid, "environ");
    char *variable = NULL;
    size_t room = 0;

    unseen->is_disabled = false;
    unseen->lost_environment = file != NULL;
    unseen->preload[0] = '\0';
    while (file && getdelim(&variable, &room, '\0', file) > 0) {
        if (strncmp(variable, disable, strlen(disable)) == 0)
            unseen->is_disabled = true;
        if (strncmp(variable, run, strlen(run)) == 0)
            unseen->lost_environment = false;
        if (strncmp(variable, preload, strlen(preload)) == 0)
            snprintf(unseen->preload, sizeof unseen->preload, "%s",
                     variable + strlen(preload));
    }
    free(variable);
    if (file)
        fclose(file);
}

static void read_program(pid_t pid, struct esi_unseen *unseen)
{
    char path[64], program[PATH_MAX];

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(program, '/');
    snprintf(unseen->program, sizeof unseen->program, "%s",
             slash ? slash + 1 : "a process");
}

static void look_at_process(struct esi_unseen *unseen, pid_t pid)
{
    struct mapped map = read_map(pid);
    enum esi_unseen_reason reason =
        map.has_library ? ES_UNSEEN_NO_CALL : ES_UNSEEN_NO_LIBRARY;

    /* `eventspace exec` maps the segment for a moment, but neither of the libraries. */
    unseen->is_over = map.has_segment && (map.has_library || map.has_mpi);
    if (unseen->is_over || !map.has_mpi)
        return;
    if (reason <= unseen->reason)
        return;
    unseen->reason = reason;
    read_program(pid, unseen);
    read_environment(pid, unseen);
}

/* --- All processes ---------------------------------------------------------------- */

static void look_at_tree(struct esi_unseen *unseen, pid_t pid, int depth);

/* The children that a thread of the process has started. */
static void look_at_children(struct esi_unseen *unseen,
                             pid_t pid,
                             const char *thread,
                             int depth)
{
    char name[64];
    int child;

    snprintf(name, sizeof name, "task/%.20s/children", thread);
    FILE *file = open_of_process(pid, name);
    while (file && !unseen->is_over && fscanf(file, "%d", &child) == 1)
        look_at_tree(unseen, child, depth + 1);
    if (file)
        fclose(file);
}

static void look_at_tree(struct esi_unseen *unseen, pid_t pid, int depth)
{
    struct dirent *entry;
    char path[32];

    if (depth > DEEPEST)
        return;
    look_at_process(unseen, pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    while (threads && !unseen->is_over && (entry = readdir(threads)) != NULL)
        if (entry->d_name[0] != '.')
            look_at_children(unseen, pid, entry->d_name, depth);
    if (threads)
        closedir(threads);
}

int esi_unseen_look(struct esi_unseen *unseen, pid_t root)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    if (unseen->is_over)
        return -1;
    if (unseen->began_ns == 0)
        unseen->began_ns = now;
    if (now >= unseen->next_ns) {
        uint64_t pause = (now - unseen->began_ns) / SHARE_OF_AGE;
        look_at_tree(unseen, root, 0);
        uint64_t end = esi_now_ns(CLOCK_MONOTONIC);
        if (pause < (end - now) * REST)
            pause = (end - now) * REST;
        unseen->next_ns = end + (pause > FIRST_PAUSE_NS ? pause : FIRST_PAUSE_NS);
    }
    return unseen->is_over ? -1 : (int)(esi_now_left_ns(unseen->next_ns) / 1000000 + 1);
}

/* --- The message ------------------------------------------------------------------ */

/* Why the loader did not load the library. */
static void describe_missing_library(const struct esi_unseen *unseen,
                                     char *out,
                                     size_t size)
{
    if (unseen->is_disabled)
        snprintf(out, size, "EVENTSPACE_DISABLE is set");
    else if (unseen->lost_environment)
        snprintf(out, size, "its environment was cleared, as by env -i");
    else if (!unseen->preload[0])
        snprintf(out, size, "LD_PRELOAD does not name it");
    else if (!strstr(unseen->preload, ES_PRELOAD_LIBRARY))
        snprintf(out, size,
                 "LD_PRELOAD is '%s' and does not name it: add to its value instead of "
                 "replacing it",
                 unseen->preload);
    else
        snprintf(out, size,
                 "the loader ignored LD_PRELOAD, as for a program that changes its "
                 "user, group or capabilities");
}

void esi_unseen_note(const struct esi_unseen *unseen,
                     const char *program,
                     bool is_one_host)
{
    const char *where = is_one_host ? " on this host" : "";
    struct esi_program_file file;
    const char *obstacle = NULL;
    char missing[1200];

    if (unseen->reason == ES_UNSEEN_NO_LIBRARY) {
        describe_missing_library(unseen, missing, sizeof missing);
        esi_command_note("nothing was recorded%s: %s used MPI without the library that "
                         "records: %s",
                         where, unseen->program, missing);
        return;
    }
    if (unseen->reason == ES_UNSEEN_NO_CALL) {
        esi_command_note(
            "nothing was recorded%s: %s loaded MPI, but no call was seen: it made "
            "none, or takes MPI's routines by dlsym() from a library's handle, as "
            "ctypes and Julia do ('eventspace doctor %s' says what helps)",
            where, unseen->program, program);
        return;
    }
    int code = esi_program_file_read(program, NULL, &file);
    if (code == 0)
        obstacle = esi_program_file_obstacle(&file);
    esi_command_note("nothing was recorded%s: %s%s%s ('eventspace doctor %s' says %s)",
                     where, obstacle ? program : "no call of MPI was seen",
                     obstacle ? " " : "", obstacle ? obstacle : "", program,
                     obstacle ? "what helps" : "what can hide calls");
    if (code == 0)
        esi_program_file_fini(&file);
}
