/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* why_over.h - what `eventspace why` says of a run that is over. */
#ifndef ES_CLI_WHY_OVER_H
#define ES_CLI_WHY_OVER_H

#include "cli/command.h"

struct esi_facts;

/* Prints the verdicts on the run of an archive, with all ranks where `all`, and latent
 * deadlocks and races.  The exit status as of runs: that of the verdicts, possible
 * (there is only the latter), or usage after the message. */
int esi_why_archive(const char *directory, enum esi_format format, bool all);

/* Prints what a run has left over, if it is over.  `status` is the exit status so far;
 * returns it, or possible instead of success where something is left. */
int esi_why_leaks(const struct esi_facts *facts, enum esi_format format, int status);

#endif
