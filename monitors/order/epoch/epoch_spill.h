/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_spill.h - memory whose contents go to a file without a name and stay readable
 * at the same address.
 *
 * Readers may read while it is written: they find the same bytes before and after.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_SPILL_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

struct esi_spill;

/* In a folder; the file is gone when the process ends, in whatever way.  A negative
 * errno with words. */
int esi_spill_create(const char *folder,
                     struct es_error *error,
                     struct esi_spill **ret_spill);
/* Memory that was written stays readable.  Accepts NULL. */
void esi_spill_destroy(struct esi_spill *spill);

/* Where the next bytes go. */
uint64_t esi_spill_end(const struct esi_spill *spill);

/* Writes whole pages of anonymous memory, reads them back, and lets the file take their
 * place; nobody writes to them any more.  0 or a negative errno (-ENOSPC: the disk is
 * full, -EIO: other bytes came back): the memory is as it was. */
int esi_spill_write(struct esi_spill *spill, void *memory, size_t bytes);

/* Gives disk space back. */
void esi_spill_free(struct esi_spill *spill, uint64_t at, uint64_t bytes);

#endif
