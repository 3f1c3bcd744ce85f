/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_read.h - the profiles of a run that lives, hangs or is over, and of an
 * archive. */
#ifndef ES_MONITORS_PROFILE_PROFILE_READ_H
#define ES_MONITORS_PROFILE_PROFILE_READ_H

#include "eventspace/error.h"
#include "eventspace/scope.h"
#include "monitors/profile/profile_report.h"
#include "monitors/sites/sites.h"

/* Reads those of all processes of a scope as they are now.  `sites` names places, and
 * must outlive the report; NULL = no place has a name.  -ENOMEM; processes whose
 * profile cannot be read are counted in `without`. */
int esi_profile_read_run(const struct es_scope *scope,
                         struct esi_sites *sites,
                         struct esi_profile_report *ret_report);

/* Which ranks of an archive; NULL = all.  `ret_sites` is for the caller to destroy
 * after the report.  -EINVAL with words: no archive, or not such ranks; -ENOENT: it has
 * no profiles. */
int esi_profile_read_archive(const char *directory,
                             const char *ranks,
                             struct es_error *error,
                             struct esi_sites **ret_sites,
                             struct esi_profile_report *ret_report);

#endif
