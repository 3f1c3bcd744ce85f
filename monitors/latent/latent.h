/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * latent.h - what is wrong with a run that ended well: deadlocks that it did not have
 * (replay.h), receives that could have got another message (races.h), and what it left
 * over (leaks.h).
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
    struct esi_archive_reader *reader; /* lends names to the leaks, as the sites do */
    struct esi_sites *sites;
    struct esi_leaks leaks;
};

/* Of an archive.  0, -ENOMEM; others with words. */
int esi_latent_read(const char *directory,
                    struct es_error *error,
                    struct esi_latent *ret_latent);
/* All zero is allowed. */
void esi_latent_fini(struct esi_latent *latent);

/* Deadlocks, races that matter (benign ones do not count), and leaks. */
size_t esi_latent_count(const struct esi_latent *latent);

/* A few lines for each finding, and what makes them a lower bound. */
void esi_latent_print_text(const struct esi_latent *latent, FILE *stream);
/* An object a line for each finding: "type" is "latent", "race" or
 * "leak". */
void esi_latent_print_json(const struct esi_latent *latent, struct esi_json_out *out);

#endif
