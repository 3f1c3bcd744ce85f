/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * spawn.c - exchanges the ranks of both sides of MPI_Comm_spawn without communication.
 */
#include "config.h"

#include "wrappers/mpi/spawn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/layout.h"
#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/process.h"

/* Known to all spawning processes. */
struct spawning {
    uint64_t key[2]; /* of the resulting communicator; 0 if not known */
    bool is_root;    /* the arguments of this process are significant */
};

/* --- The environment of the new processes ----------------------------------------- */

/* Only Open MPI accepts environment variables from the program: a key of the info
 * object, with lines of NAME=VALUE. */
#ifdef OPEN_MPI

/* Passed from this process, so that the new ones belong to the same run.  Variables
 * that do not fit are omitted. */
static const char *const handed_on[] = {"EVENTSPACE_RUN",    "EVENTSPACE_RUN_DIR",
                                        "EVENTSPACE_PLAN",   "EVENTSPACE_SITES",
                                        "EVENTSPACE_CLOCK",  "EVENTSPACE_LEDGER",
                                        "EVENTSPACE_REMOVE", "EVENTSPACE_RUNTIMES"};

struct lines {
    char text[MPI_MAX_INFO_VAL];
    size_t length;
};

/* Appends a line if it fits. */
static bool add_line(struct lines *lines, const char *line, size_t length)
{
    size_t end = lines->length > 0 ? 1 : 0; /* terminator of the previous line */

    if (length + end >= sizeof lines->text - lines->length)
        return false;
    if (end > 0)
        lines->text[lines->length++] = '\n';
    memcpy(lines->text + lines->length, line, length);
    lines->length += length;
    return true;
}

static bool add_variable(struct lines *lines, const char *name, const char *value)
{
    char line[MPI_MAX_INFO_VAL];
    int length = snprintf(line, sizeof line, "%s=%s", name, value);

    return length > 0 && add_line(lines, line, (size_t)length);
}

/* The value of a variable in the lines, up to the end of the line; NULL if it is not
 * set. */
static const char *find_line(const char *text, const char *name)
{
    size_t length = strlen(name);

    while (text != NULL) {
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            return text + length + 1;
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return NULL;
}

/* Formats "0-3,1000-1000"; "" if a rank is not known or the text does not fit. */
static void format_ranks(const int *ranks, int count, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < count;) {
        int first = i;
        int length;

        while (++i < count && ranks[i] == ranks[i - 1] + 1)
            continue;
        length = snprintf(out + used, size - used, "%s%d-%d", used > 0 ? "," : "",
                          ranks[first], ranks[i - 1]);
        if (ranks[first] < 0 || length < 0 || (size_t)length >= size - used) {
            out[0] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

static void format_spawn(const struct spawning *spawning, MPI_Comm comm, char out[256])
{
    int count = 0;
    int *ranks = esi_comm_ranks(comm, &count);
    int used = snprintf(out, 256, "%016" PRIx64 "%016" PRIx64 ":", spawning->key[0],
                        spawning->key[1]);

    format_ranks(ranks, count, out + used, 256 - (size_t)used);
    free(ranks);
}

/* Adds this library, followed by those preloaded by the program or this process. */
static bool add_preload(struct lines *lines, const char *library, const char *given)
{
    const char *others = given != NULL ? given : getenv("LD_PRELOAD");
    int length = others != NULL ? (int)strcspn(others, "\n") : 0;
    char list[MPI_MAX_INFO_VAL];

    if (library[0] == '\0')
        return true; /* the program is linked with it */
    length = snprintf(list, sizeof list, "%s%s%.*s", library, length > 0 ? ":" : "",
                      length, length > 0 ? others : "");
    return (size_t)length < sizeof list && add_variable(lines, "LD_PRELOAD", list);
}

/* Adds the lines of the program.  If a variable occurred twice, loader and library
 * might use different ones. */
static bool add_given(struct lines *lines, const char *given, bool has_preload)
{
    static const char preload[] = "LD_PRELOAD=";
    bool has_room = true;

    while (has_room && *given != '\0') {
        size_t length = strcspn(given, "\n");

        if (!has_preload || strncmp(given, preload, sizeof preload - 1) != 0)
            has_room = add_line(lines, given, length);
        given += length;
        given += *given != '\0';
    }
    return has_room;
}

/* Returns false if required lines do not fit. */
static bool add_variables(struct lines *lines, const char *given, const char *spawn)
{
    const char *library = esi_process_get()->preload;
    bool has_room = add_given(lines, given, library[0] != '\0') &&
                    add_variable(lines, "EVENTSPACE_SPAWN", spawn) &&
                    add_preload(lines, library, find_line(given, "LD_PRELOAD"));

    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0] && has_room; i++) {
        const char *value = getenv(handed_on[i]);

        if (value != NULL && find_line(given, handed_on[i]) == NULL &&
            !add_variable(lines, handed_on[i], value))
            has_room = i > 0; /* without the name of the run, the rest is useless */
    }
    return has_room;
}

/* A duplicate of the program's info object with our lines; the same object if the new
 * processes have to do without them. */
static MPI_Info extend_info(MPI_Info info, const char *spawn)
{
    struct lines lines = {.length = 0}; /* followed by 0 */
    char given[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info extended;
    int found = 0;
    int rc;

    if (info == NULL)
        return info;
    if (info != MPI_INFO_NULL)
        ESI_REAL(MPI_Info_get)(info, "env", MPI_MAX_INFO_VAL, given, &found);
    if (find_line(given, "EVENTSPACE_DISABLE") != NULL)
        return info;
    if (!add_variables(&lines, given, spawn)) {
        esi_process_warn("spawned processes run uncollected: the value of the info key "
                         "'env' would have more than %d characters",
                         MPI_MAX_INFO_VAL - 1);
        return info;
    }
    rc = info != MPI_INFO_NULL ? ESI_REAL(MPI_Info_dup)(info, &extended)
                               : ESI_REAL(MPI_Info_create)(&extended);
    if (rc != MPI_SUCCESS)
        return info;
    ESI_REAL(MPI_Info_set)(extended, "env", lines.text);
    return extended;
}

/* Returns NULL to use the program's own info objects. */
static MPI_Info *extend_infos(const struct spawning *spawning,
                              MPI_Comm comm,
                              int count,
                              const MPI_Info *infos)
{
    const struct esi_process *process = esi_process_get();
    MPI_Info *extended;
    char spawn[256];

    if (!spawning->is_root || infos == NULL || count < 1)
        return NULL;
    if (process->size >= ES_WORLD_RANKS) {
        esi_process_warn(
            "spawned processes run uncollected: worlds that spawn may have "
            "%d ranks at most",
            ES_WORLD_RANKS - 1);
        return NULL;
    }
    extended = calloc((size_t)count, sizeof *extended);
    if (extended == NULL)
        return NULL;
    format_spawn(spawning, comm, spawn);
    for (int i = 0; i < count; i++)
        extended[i] = extend_info(infos[i], spawn);
    return extended;
}

static void free_infos(MPI_Info *extended, int count, const MPI_Info *infos)
{
    for (int i = 0; extended != NULL && i < count; i++)
        if (extended[i] != infos[i])
            ESI_REAL(MPI_Info_free)(&extended[i]);
    free(extended);
}
#else
static MPI_Info *extend_infos(const struct spawning *spawning,
                              MPI_Comm comm,
                              int count,
                              const MPI_Info *infos)
{
    (void)spawning;
    (void)comm;
    (void)count;
    (void)infos;
    return NULL;
}

static void free_infos(MPI_Info *extended, int count, const MPI_Info *infos)
{
    (void)extended;
    (void)count;
    (void)infos;
}
#endif

/* --- Spawning processes ----------------------------------------------------------- */

static void begin_spawn(struct esi_call *call,
                        MPI_Comm comm,
                        int root,
                        struct spawning *ret_spawning)
{
    *ret_spawning = (struct spawning){.is_root = false};
    esi_begin_collective(call, comm, root, 0, MPI_BYTE);
    if (call->comm == NULL)
        return;
    ret_spawning->is_root = call->comm->rank == root;
    esi_comm_spawn_key(call->comm, ret_spawning->key);
}

/* The new processes have called MPI_Init, so their segments exist. */
static void know_children(const struct spawning *spawning, MPI_Comm made)
{
    const struct esi_process *process = esi_process_get();
    int first = esi_segment_find_spawned(esi_segment_layout(process->segment)->run,
                                         spawning->key[0]);
    MPI_Group group;

    if (first >= 0 && ESI_REAL(MPI_Comm_remote_group)(made, &group) == MPI_SUCCESS)
        esi_comm_know_group(group, first, NULL);
}

static void end_spawn(struct esi_call *call,
                      int result,
                      const struct spawning *spawning,
                      const MPI_Comm *made)
{
    if (result == MPI_SUCCESS && *made != MPI_COMM_NULL && spawning->key[0] != 0)
        know_children(spawning, *made);
    esi_end_spawned(call, result, spawning->key, made);
}

int esi_wrap_MPI_Comm_spawn(esi_MPI_Comm_spawn_fn *next,
                            const char *command,
                            char *argv[],
                            int maxprocs,
                            MPI_Info info,
                            int root,
                            MPI_Comm comm,
                            MPI_Comm *made,
                            int errcodes[])
{
    struct esi_call call;
    struct spawning spawning;
    MPI_Info *extended;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_spawn, ES_CLASS_COMMUNICATOR))
        return next(command, argv, maxprocs, info, root, comm, made, errcodes);
    begin_spawn(&call, comm, root, &spawning);
    extended = extend_infos(&spawning, comm, 1, &info);
    result = next(command, argv, maxprocs, extended != NULL ? extended[0] : info, root,
                  comm, made, errcodes);
    free_infos(extended, 1, &info);
    end_spawn(&call, result, &spawning, made);
    return result;
}

int esi_wrap_MPI_Comm_spawn_multiple(esi_MPI_Comm_spawn_multiple_fn *next,
                                     int count,
                                     char *commands[],
                                     char **argvs[],
                                     const int maxprocs[],
                                     const MPI_Info infos[],
                                     int root,
                                     MPI_Comm comm,
                                     MPI_Comm *made,
                                     int errcodes[])
{
    struct esi_call call;
    struct spawning spawning;
    MPI_Info *extended;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Comm_spawn_multiple, ES_CLASS_COMMUNICATOR))
        return next(count, commands, argvs, maxprocs, infos, root, comm, made,
                    errcodes);
    begin_spawn(&call, comm, root, &spawning);
    extended = extend_infos(&spawning, comm, count, infos);
    result = next(count, commands, argvs, maxprocs, extended != NULL ? extended : infos,
                  root, comm, made, errcodes);
    free_infos(extended, count, infos);
    end_spawn(&call, result, &spawning, made);
    return result;
}

/* --- Spawned processes ------------------------------------------------------------ */

/* Parses "KEY:RANKS"; NULL if the text is invalid. */
static const char *parse_key(const char *text, uint64_t ret_key[2])
{
    int used = 0;

    if (sscanf(text, "%16" SCNx64 "%16" SCNx64 "%n", &ret_key[0], &ret_key[1], &used) <
            2 ||
        text[used] != ':')
        return NULL;
    return text + used + 1;
}

uint64_t esi_spawn_mark(const char *text)
{
    uint64_t key[2];

    return parse_key(text, key) != NULL ? key[0] : 0;
}

/* The ranks of a group of this size; NULL if the text has other ones.  The caller frees
 * them. */
static int *parse_ranks(const char *text, int size)
{
    int *ranks = calloc((size_t)size + 1, sizeof *ranks);
    int count = 0;
    int first, last, used;

    while (ranks != NULL && sscanf(text, "%d-%d%n", &first, &last, &used) == 2) {
        while (first >= 0 && first <= last && count < size)
            ranks[count++] = first++;
        text += used;
        text += *text == ',';
    }
    if (count == size && *text == '\0')
        return ranks;
    free(ranks);
    return NULL;
}

void esi_spawn_register_parent(MPI_Comm parent)
{
    const struct esi_process *process = esi_process_get();
    const char *text = NULL;
    uint64_t key[2] = {0, 0};
    MPI_Group group;
    int *ranks = NULL;
    int size = 0;

    if (process != NULL)
        text = parse_key(process->spawn, key);
    if (text != NULL &&
        ESI_REAL(MPI_Comm_remote_group)(parent, &group) == MPI_SUCCESS) {
        ESI_REAL(MPI_Group_size)(group, &size);
        ranks = parse_ranks(text, size);
        if (ranks != NULL)
            esi_comm_know_group(group, -1, ranks);
        else
            ESI_REAL(MPI_Group_free)(&group);
    }
    esi_comm_register_with_key(parent, NULL, 0, key);
    esi_comm_set_name(ESI_HANDLE(parent), "MPI_COMM_PARENT");
}
