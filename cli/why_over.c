/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* why_over.c - verdicts and latent errors of archives, and leaks of runs. */
#include "config.h"

#include "cli/why_over.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "monitors/latent/latent.h"
#include "monitors/latent/leaks.h"
#include "monitors/verdict/verdict_print.h"

struct why_archive_style {
    enum esi_format format;
    bool all;
};

static void print_nothing(const struct esi_latent *latent)
{
    struct esi_replay_totals totals;

    esi_replay_totals(latent->replay, &totals);
    printf("no latent deadlock in %" PRIu64
           " operations, and no harmful race among %" PRIu64
           " receive%s from any source\n",
           totals.calls, esi_races_wildcards(latent->races),
           esi_races_wildcards(latent->races) == 1 ? "" : "s");
}

static void print_latent(const struct esi_latent *latent,
                         enum esi_format format,
                         enum esi_diagnosis_outcome outcome)
{
    if (format == ES_FORMAT_JSON) {
        esi_latent_print_json(latent, stdout);
        return;
    }
    if (esi_latent_count(latent) == 0 && outcome == ESI_OUTCOME_NOTHING)
        print_nothing(latent);
    esi_latent_print_text(latent, stdout);
}

static int fail_to_read(const char *directory, const struct es_error *error, int result)
{
    return esi_command_fail_error(ES_EXIT_USAGE, error, result, "cannot read '%s'",
                                  directory);
}

/* A run that ended successfully has no verdicts.  Returns 0 or -errno. */
static int print_verdicts(const struct esi_archived_facts *archived,
                          const struct why_archive_style *style,
                          enum esi_diagnosis_outcome *ret_outcome)
{
    struct esi_verdict_style verdict_style = {.all = style->all, .waits = true};
    struct esi_diagnosis diagnosis;
    int result;

    *ret_outcome = ESI_OUTCOME_NOTHING;
    if (esi_archived_facts_ended_well(archived))
        return 0;
    if (!esi_archived_facts_are_whole(archived))
        esi_command_note(
            "where the ranks were is not known; 'eventspace why %s' reads the run "
            "while it exists",
            esi_archived_facts_get(archived)->run);
    result = esi_diagnosis_make(esi_archived_facts_get(archived), NULL, &diagnosis);
    if (result == 0) {
        result = style->format == ES_FORMAT_JSON
                     ? esi_diagnosis_print_json(&diagnosis, stdout)
                     : esi_diagnosis_print_text(&diagnosis, &verdict_style, stdout);
        *ret_outcome = esi_diagnosis_outcome(&diagnosis);
        esi_diagnosis_fini(&diagnosis);
    }
    return result;
}

static int find_status(enum esi_diagnosis_outcome outcome, bool has_latent)
{
    if (outcome == ESI_OUTCOME_CERTAIN)
        return ES_EXIT_FINDING;
    return outcome == ESI_OUTCOME_POSSIBLE || has_latent ? ES_EXIT_POSSIBLE
                                                         : ES_EXIT_SUCCESS;
}

int esi_why_archive(const char *directory, enum esi_format format, bool all)
{
    struct why_archive_style style = {.format = format, .all = all};
    struct es_error error = {.text = ""};
    enum esi_diagnosis_outcome outcome;
    struct esi_latent latent;
    bool has_some;
    int result = esi_latent_read(directory, &error, &latent);

    if (result < 0)
        return fail_to_read(directory, &error, result);
    result = print_verdicts(latent.archived, &style, &outcome);
    if (result < 0) {
        esi_latent_fini(&latent);
        return fail_to_read(directory, &error, result);
    }
    print_latent(&latent, format, outcome);
    has_some = esi_latent_count(&latent) > 0;
    esi_latent_fini(&latent);
    if (fflush(stdout) != 0)
        return esi_command_fail_output(-EIO);
    return find_status(outcome, has_some);
}

int esi_why_leaks(const struct esi_facts *facts, enum esi_format format, int status)
{
    struct esi_leaks leaks;
    bool has_some;

    if (!facts->over || esi_leaks_find(facts, &leaks) < 0)
        return status;
    has_some = leaks.count > 0;
    if (format == ES_FORMAT_JSON)
        esi_leaks_print_json(&leaks, stdout);
    else if (has_some)
        esi_leaks_print_text(&leaks, stdout);
    esi_leaks_fini(&leaks);
    return has_some && status == ES_EXIT_SUCCESS ? ES_EXIT_POSSIBLE : status;
}
