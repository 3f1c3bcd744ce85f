/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_archive.h - the leaks of a recorded run. */
#ifndef ES_MONITORS_LATENT_LEAKS_ARCHIVE_H
#define ES_MONITORS_LATENT_LEAKS_ARCHIVE_H

#include "eventspace/error.h"
#include "monitors/archive/archive_read.h"
#include "monitors/latent/leaks.h"
#include "monitors/sites/sites.h"

/* The leaks borrow names from the reader and its sites (esi_archive_sites()). In
 * archives without ledgers, written by older versions, all processes are unknown.
 * Returns 0, -ENOMEM, or -EINVAL with `error` filled. */
int esi_leaks_find_in_archive(const struct esi_archive_reader *reader,
                              struct esi_sites *sites,
                              struct es_error *error,
                              struct esi_leaks *ret_leaks);

#endif
