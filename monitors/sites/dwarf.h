/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* dwarf.h - resolves the addresses of one file with its debugging information and
 * symbols. */
#ifndef ES_MONITORS_SITES_DWARF_H
#define ES_MONITORS_SITES_DWARF_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"

struct esi_dwarf;

/* Opens the module's file.  Returns 0; -ENOENT if it does not exist on this host or has
 * another build id; -ENOTSUP if built without elfutils; or -ENOMEM. */
int esi_dwarf_open(const struct es_module *module, struct esi_dwarf **ret_dwarf);
/* Accepts NULL. */
void esi_dwarf_close(struct esi_dwarf *dwarf);

/* Formats the location of the call with the return address `address` in the file.
 * Returns 0, or -ENOENT if neither line nor symbol is known. */
int esi_dwarf_format(struct esi_dwarf *dwarf,
                     uint64_t address,
                     char *out,
                     size_t out_bytes);

#endif
