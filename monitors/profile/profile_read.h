/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_read.h - reads the profiles of a run (alive, hanging or over) and of an
 * archive. */
#ifndef ES_MONITORS_PROFILE_PROFILE_READ_H
#define ES_MONITORS_PROFILE_PROFILE_READ_H

#include "eventspace/error.h"
#include "eventspace/scope.h"
#include "monitors/profile/profile_report.h"
#include "monitors/sites/sites.h"

/* Reads the current profiles of all processes of a scope.  `sites` resolves source
 * locations and must outlive the report; NULL = no locations.  Returns 0 or -ENOMEM;
 * processes whose profile cannot be read are counted in `without`. */
int esi_profile_read_run(const struct es_scope *scope,
                         struct esi_sites *sites,
                         struct esi_profile_report *ret_report);

/* Reads the profiles of an archive, only for these ranks; NULL = all.  The caller
 * destroys *ret_sites after the report.  Returns 0; -EINVAL (with `error` filled) if
 * there is no archive or no such rank; -ENOENT if it has no profiles. */
int esi_profile_read_archive(const char *directory,
                             const char *ranks,
                             struct es_error *error,
                             struct esi_sites **ret_sites,
                             struct esi_profile_report *ret_report);

#endif
