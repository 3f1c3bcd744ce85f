/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* dwarf.h - what one file's debugging information and symbols say of its addresses. */
#ifndef ES_MONITORS_SITES_DWARF_H
#define ES_MONITORS_SITES_DWARF_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"

struct esi_dwarf;

/* Opens the module's file.  -ENOENT: it is not here, or has another build id;
 * -ENOTSUP: built without elfutils; -ENOMEM. */
int esi_dwarf_open(const struct es_module *module, struct esi_dwarf **ret_dwarf);
/* Accepts NULL. */
void esi_dwarf_close(struct esi_dwarf *dwarf);

/* Writes what the place of a call, whose return address in the file is `address`, is
 * called.  -ENOENT: neither line nor symbol is known. */
int esi_dwarf_format(struct esi_dwarf *dwarf,
                     uint64_t address,
                     char *out,
                     size_t out_bytes);

#endif
