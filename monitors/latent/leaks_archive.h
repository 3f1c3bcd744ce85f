/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_archive.h - what is left over of a run that was recorded. */
#ifndef ES_MONITORS_LATENT_LEAKS_ARCHIVE_H
#define ES_MONITORS_LATENT_LEAKS_ARCHIVE_H

#include "eventspace/error.h"
#include "monitors/archive/archive_read.h"
#include "monitors/latent/leaks.h"
#include "monitors/sites/sites.h"

/* Names of the leaks are borrowed from the reader and its sites (esi_archive_sites()).
 * Archives without ledgers, as older versions wrote them, leave all processes unknown.
 * 0, -ENOMEM; -EINVAL with words. */
int esi_leaks_find_in_archive(const struct esi_archive_reader *reader,
                              struct esi_sites *sites,
                              struct es_error *error,
                              struct esi_leaks *ret_leaks);

#endif
