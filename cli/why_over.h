/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* why_over.h - the output of `eventspace why` for a run that is over. */
#ifndef ES_CLI_WHY_OVER_H
#define ES_CLI_WHY_OVER_H

#include "cli/command.h"

struct esi_facts;

/* Prints the verdicts on the run of an archive, with all ranks if `all`, and latent
 * deadlocks and races.  Returns the exit status as for runs: that of the verdicts,
 * possible (if there are only latent errors), or usage after a message. */
int esi_why_archive(const char *directory, enum esi_format format, bool all);

/* Prints the leaks of a run, if it is over.  `status` is the exit status so far;
 * returns it, or possible instead of success if there are leaks. */
int esi_why_leaks(const struct esi_facts *facts, enum esi_format format, int status);

#endif
