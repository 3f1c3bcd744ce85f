/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * latent.h - what is wrong with a recorded run: the facts of its end, for verdicts
 * (verdict.h), and hidden errors: deadlocks that did not occur (replay.h), receives
 * that could have matched another message (races.h), and leaks (leaks.h).
 *
 *   esi_latent_read(directory, &error, &latent);
 *   esi_latent_print_text(&latent, stdout);
 *   esi_latent_fini(&latent);
 */
#ifndef ES_MONITORS_LATENT_LATENT_H
#define ES_MONITORS_LATENT_LATENT_H

#include <stdio.h>

#include "monitors/latent/leaks.h"
#include "monitors/latent/races.h"
#include "monitors/latent/replay.h"
#include "monitors/verdict/facts_archive.h"

/* Owned. */
struct esi_latent {
    struct esi_archive_reader *reader;
    struct esi_archived_facts *archived; /* the leaks borrow names from them */
    struct esi_replay *replay;
    struct esi_races *races;
    struct esi_leaks leaks;
};

/* Reads an archive, each of its streams twice.  Returns 0, -ENOMEM, or another error
 * with `error` filled. */
int esi_latent_read(const char *directory,
                    struct es_error *error,
                    struct esi_latent *ret_latent);
/* Accepts a zeroed struct. */
void esi_latent_fini(struct esi_latent *latent);

/* Number of deadlocks, races (without benign ones) and leaks. */
size_t esi_latent_count(const struct esi_latent *latent);

/* Prints a few lines for each finding, and the reasons why they are a lower bound. */
void esi_latent_print_text(const struct esi_latent *latent, FILE *stream);
/* Prints one object per line for each finding: "type" is "latent", "race" or "leak". */
void esi_latent_print_json(const struct esi_latent *latent, FILE *stream);

#endif
