/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_read.h - an archive of OTF2, of this or another tool, as an ordered stream of
 * events (docs/exports.md).
 *
 * Its events become tuples, which are matched as those of a run are (causality.h).
 * They are read twice.  In memory is what causality.h keeps, and 32 bytes for each
 * receive and collective operation.  One thread at a time.  Only where the library was
 * found (HAVE_OTF2).
 */
#ifndef ES_MONITORS_OTF2_OTF2_READ_H
#define ES_MONITORS_OTF2_OTF2_READ_H

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/causality/causality.h"

/* What an archive had, and what was found. */
struct esi_otf2_read_facts {
    bool is_incomplete; /* the order is a lower bound: see `totals` */
    struct esi_causality_totals totals;
};

/* Reads an archive by its anchor file (traces.otf2).  0; -EINVAL with words: it is
 * none, or is damaged; another -errno with words, or what the sink gave. */
int esi_otf2_read(const char *path,
                  const struct es_set_sink *sink,
                  struct esi_otf2_read_facts *ret_facts,
                  struct es_error *error);

#endif
