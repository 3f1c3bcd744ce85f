/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causality_archive.h - converts the tuples of an archive to an event set. */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_ARCHIVE_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_ARCHIVE_H

#include "eventspace/error.h"
#include "monitors/archive/archive_read.h"
#include "monitors/causality/causality.h"

/* Adds everything in an archive: its processes, elements and communicators, the tuples
 * in the order of publication, losses, and the operations that were under way; then
 * calls esi_causality_finish().  Memory does not depend on the length of the archive.
 * If `is_threaded`, another thread reads ahead while this one matches.  Returns 0,
 * -EBADMSG with a message if the archive is damaged, -errno, or the error of the
 * sink. */
int esi_causality_read_archive(struct esi_causality *causality,
                               struct esi_archive_reader *reader,
                               bool is_threaded,
                               struct es_error *error);

#endif
