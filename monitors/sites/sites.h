/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sites.h - resolves call addresses to source lines.
 *
 *     esi_sites_create(&sites);
 *     text = esi_sites_format(sites, scope, mark->origin, mark->site);
 *     esi_sites_destroy(sites);
 *
 * The text depends on what is known about the module that contains the address:
 *
 *     solver.c:212 in exchange()   it has debugging information
 *     exchange()+0x2c              it has symbols
 *     a.out+0x12ab                 neither, or no matching file on this host
 *     0x7f3200401234               no module is known at this address
 *
 * A file matches a module if it has the same build id, so sites of other hosts, of dead
 * processes and of archives are resolved, too.  Sites are return addresses: the line is
 * that of the byte before.  For code inlined from a system header, the line of the
 * program is given.
 *
 * Each address is resolved once; a file is opened at the first address in it.
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_SITES_SITES_H
#define ES_MONITORS_SITES_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "eventspace/scope.h"

struct esi_sites;

/* Returns 0 or -ENOMEM. */
int esi_sites_create(struct esi_sites **ret_sites);
/* Accepts NULL. */
void esi_sites_destroy(struct esi_sites *sites);

/* The text for the site of a mark; "" for 0, which means not known.  Never NULL. The
 * text lives as long as `sites`; equal sites have the same pointer, even in different
 * processes.  Newly loaded modules are looked for at most once a second. */
const char *esi_sites_format(struct esi_sites *sites,
                             const struct es_scope *scope,
                             uint32_t origin,
                             uint64_t address);

/* --- Without a scope -------------------------------------------------------------- */

/* Adds a process with copies of these modules.  Returns its number or -ENOMEM. */
int esi_sites_add_process(struct esi_sites *sites,
                          const struct es_module *modules,
                          size_t count);

/* The text for an address in this process, as above. */
const char *esi_sites_format_in(struct esi_sites *sites, int process, uint64_t address);

/* --- Processes that load modules while running ------------------------------------ */

/* Finds or adds a process; new ones have no modules.  `made` distinguishes processes
 * with a reused pid.  Returns its number or -ENOMEM. */
int esi_sites_process(struct esi_sites *sites,
                      const char *host,
                      int pid,
                      uint64_t made);

/* Whether no module is known at the address, and it is time to query the modules. */
bool esi_sites_should_ask(struct esi_sites *sites, int process, uint64_t address);

/* Replaces the modules of the process.  Returns 0 or -ENOMEM. */
int esi_sites_set_modules(struct esi_sites *sites,
                          int process,
                          const struct es_module *modules,
                          size_t count);

#endif
