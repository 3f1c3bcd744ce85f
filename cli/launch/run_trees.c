/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The initial collective trees of a run.
 *
 * A rank without the library would wait forever for the trees of the others, and they
 * for it: so all ranks get the rules or none.
 */
#include "config.h"

#include "cli/launch/run_trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/program_file.h"
#include "pathmap/pathmap.h"
#include "tuplespace/plan/tree_rules.h"

/* Linux limits a variable to 128 KiB. */
enum { LONGEST = 120000 };

/* --- Whether all ranks can -------------------------------------------------------- */

/* NULL: no objection. */
static const char *why_not_program(const char *name)
{
    struct esi_program_file file;
    const char *why = NULL;

    if (esi_program_file_read(name, NULL, &file) < 0)
        return NULL;
    if (file.kind == ES_PROGRAM_STATIC)
        why = "the program is linked statically";
    else if (file.defines_mpi)
        why = "the program has MPI linked statically";
    else if (file.changes_rights)
        why = "the program runs with the rights of its file's owner";
    esi_program_file_fini(&file);
    return why;
}

static const char *why_not(const struct esi_run_request *request)
{
    if (getenv("EVENTSPACE_DISABLE"))
        return "EVENTSPACE_DISABLE is set";
    for (char **word = request->program; *word; word++)
        if (strcmp(*word, ":") == 0)
            return "programs after a ':' are started by the launcher alone";
    return why_not_program(request->program[0]);
}

/* --- The rules -------------------------------------------------------------------- */

int esi_run_trees_text(const struct esi_run_request *request,
                       const struct esi_pathmap *map,
                       struct es_error *error,
                       char **ret_text)
{
    char *text;

    *ret_text = NULL;
    if (!request->trees && !esi_pathmap_has_collectives(map))
        return 0;
    const char *why = why_not(request);
    if (why) {
        esi_command_note("no collective trees: %s", why);
        return 0;
    }
    int code = esi_pathmap_tree_text(map, request->tree, error, &text);
    if (code < 0)
        return code;
    if (strlen(text) > LONGEST) {
        esi_command_note("no collective trees: their rules take more than %d bytes",
                         LONGEST);
        free(text);
        text = NULL;
    }
    *ret_text = text;
    return 0;
}

int esi_run_trees_set(const char *text)
{
    char *line = strdup(text);

    if (!line)
        return -ENOMEM;
    esi_tree_text_flatten(line);
    int code = setenv("EVENTSPACE_TREES", line, 1) == 0 ? 0 : -errno;
    free(line);
    return code;
}
