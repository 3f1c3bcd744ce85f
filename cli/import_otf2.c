/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* import_otf2.c - the events of an archive of OTF2. */
#include "config.h"

#include "cli/import_otf2.h"

#include <inttypes.h>

#include "cli/command.h"
#include "cli/event_source.h"
#include "monitors/otf2/otf2_read.h"

#ifndef HAVE_OTF2

int esi_import_otf2(const char *path, const struct es_set_sink *sink)
{
    (void)path;
    (void)sink;
    return esi_command_fail(ES_EXIT_USAGE, "this eventspace was built without OTF2");
}

#else

int esi_import_otf2(const char *path, const struct es_set_sink *sink)
{
    struct esi_otf2_read_facts found;
    struct esi_set_source_facts facts = {.is_matched = true};
    struct es_error error = {.text = ""};
    int result = esi_otf2_read(path, sink, &found, &error);

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the archive");
    facts.is_incomplete = found.is_incomplete;
    facts.totals = found.totals;
    esi_event_source_tell_missing(&facts);
    if (found.records > 0 && found.skipped == found.records)
        return esi_command_fail(ES_EXIT_USAGE,
                                "%s: none of its %" PRIu64
                                " records is of MPI; there is nothing to import",
                                path, found.records);
    if (found.skipped > 0)
        esi_command_note("%" PRIu64 " of %" PRIu64 " records are not imported: they "
                         "are not of MPI, or not of a rank's thread",
                         found.skipped, found.records);
    return ES_EXIT_SUCCESS;
}

#endif
