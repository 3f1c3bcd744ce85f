/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* why_over.c - latent errors of archives, and what runs left over. */
#include "config.h"

#include "cli/why_over.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "monitors/latent/latent.h"
#include "monitors/latent/leaks_facts.h"

static void print_nothing(const struct esi_latent *latent)
{
    struct esi_replay_totals totals;

    esi_replay_totals(latent->replay, &totals);
    printf("no latent deadlock in %" PRIu64
           " operations, and no race that matters of %" PRIu64
           " receive%s from any source\n",
           totals.calls, esi_races_wildcards(latent->races),
           esi_races_wildcards(latent->races) == 1 ? "" : "s");
}

static void print_latent(const struct esi_latent *latent, enum esi_format format)
{
    struct esi_json_out out;

    if (format == ES_FORMAT_JSON) {
        esi_json_out_init(&out, stdout);
        esi_latent_print_json(latent, &out);
        return;
    }
    if (esi_latent_count(latent) == 0)
        print_nothing(latent);
    esi_latent_print_text(latent, stdout);
}

int esi_why_archive(const char *directory, enum esi_format format)
{
    struct es_error error = {.text = ""};
    struct esi_latent latent;
    bool has_some;
    int result = esi_latent_read(directory, &error, &latent);

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result, "cannot read '%s'",
                                      directory);
    print_latent(&latent, format);
    has_some = esi_latent_count(&latent) > 0;
    esi_latent_fini(&latent);
    if (fflush(stdout) != 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, -EIO,
                                      "cannot write the output");
    return has_some ? ES_EXIT_POSSIBLE : ES_EXIT_SUCCESS;
}

int esi_why_leaks(const struct esi_facts *facts, enum esi_format format, int status)
{
    struct esi_leaks leaks;
    struct esi_json_out out;
    bool has_some;

    if (!facts->over || esi_leaks_find_in_facts(facts, &leaks) < 0)
        return status;
    has_some = leaks.count > 0;
    if (format == ES_FORMAT_JSON) {
        esi_json_out_init(&out, stdout);
        esi_leaks_print_json(&leaks, &out);
    } else if (has_some) {
        esi_leaks_print_text(&leaks, stdout);
    }
    esi_leaks_fini(&leaks);
    return has_some && status == ES_EXIT_SUCCESS ? ES_EXIT_POSSIBLE : status;
}
