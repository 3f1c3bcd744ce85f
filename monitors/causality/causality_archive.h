/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causality_archive.h - from the tuples of an archive to an event set. */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_ARCHIVE_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_ARCHIVE_H

#include "eventspace/error.h"
#include "monitors/archive/archive_read.h"
#include "monitors/causality/causality.h"

/* Feeds all of an archive: its processes, elements and communicators, the tuples as
 * they were published, losses, and the operations that were under way; then finishes.
 * Memory does not depend on the archive's length.  `is_threaded`: a thread reads ahead
 * while this one matches.  0; -EBADMSG with words where the
 * archive is damaged; -errno, or what the sink gave. */
int esi_causality_read_archive(struct esi_causality *causality,
                               struct esi_archive_reader *reader,
                               bool is_threaded,
                               struct es_error *error);

#endif
