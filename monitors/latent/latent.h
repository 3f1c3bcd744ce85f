/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * latent.h - hidden errors of a run that ended normally: deadlocks that did not occur
 * (replay.h), receives that could have matched another message (races.h), and leaks
 * (leaks.h).
 *
 *   esi_latent_read(directory, &error, &latent);
 *   esi_latent_print_text(&latent, stdout);
 *   esi_latent_fini(&latent);
 */
#ifndef ES_MONITORS_LATENT_LATENT_H
#define ES_MONITORS_LATENT_LATENT_H

#include <stdio.h>

#include "base/json_out.h"
#include "monitors/latent/leaks.h"
#include "monitors/latent/races.h"
#include "monitors/latent/replay.h"

struct esi_archive_reader;
struct esi_sites;

/* Owned. */
struct esi_latent {
    struct esi_replay *replay;
    struct esi_races *races;
    struct esi_archive_reader *reader; /* the leaks borrow names from it and from the
                                          sites */
    struct esi_sites *sites;
    struct esi_leaks leaks;
};

/* Reads an archive.  Returns 0, -ENOMEM, or another error with `error` filled. */
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
void esi_latent_print_json(const struct esi_latent *latent, struct esi_json_out *out);

#endif
