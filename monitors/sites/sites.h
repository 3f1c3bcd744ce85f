/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sites.h - addresses of calls as lines of source.
 *
 *     esi_sites_create(&sites);
 *     text = esi_sites_format(sites, scope, mark->origin, mark->site);
 *     esi_sites_destroy(sites);
 *
 * What a site is called depends on what is known of the module that it lies in:
 *
 *     solver.c:212 in exchange()   it has debugging information
 *     exchange()+0x2c              it has symbols
 *     a.out+0x12ab                 neither, or the file is not here, or another one
 *     0x7f3200401234               no module is known at this address
 *
 * A file counts as the module's if it has the same build id; so sites of other hosts,
 * of processes that have ended and of archives are resolved, too.  Sites are addresses
 * behind the call: the line is that of the byte before.  Of code that was inlined from
 * a system header the line of the program is given.
 *
 * Each address is resolved once; a file is opened when the first address in it comes.
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

/* -ENOMEM. */
int esi_sites_create(struct esi_sites **ret_sites);
/* Accepts NULL. */
void esi_sites_destroy(struct esi_sites *sites);

/* What the site of a mark is called; "" for 0, which is not known.  Never NULL.  The
 * text lives as long as `sites`; those of equal sites are the same pointer, also of
 * different processes.  Modules that a process has loaded since are looked for once a
 * second at most. */
const char *esi_sites_format(struct esi_sites *sites,
                             const struct es_scope *scope,
                             uint32_t origin,
                             uint64_t address);

/* --- Without a scope -------------------------------------------------------------- */

/* Makes a process whose modules are these, copied.  Returns its number or -ENOMEM. */
int esi_sites_add_process(struct esi_sites *sites,
                          const struct es_module *modules,
                          size_t count);

/* What an address in this process is called, as above. */
const char *esi_sites_format_in(struct esi_sites *sites, int process, uint64_t address);

/* --- Processes that load modules while they go on --------------------------------- */

/* The process of these, added without modules if need be: `made` tells one of a pid
 * that is used again.  Its number or -ENOMEM. */
int esi_sites_process(struct esi_sites *sites,
                      const char *host,
                      int pid,
                      uint64_t made);

/* Whether no module is known at the address, and it is time to ask for them. */
bool esi_sites_should_ask(struct esi_sites *sites, int process, uint64_t address);

/* Puts these in the place of its modules.  -ENOMEM. */
int esi_sites_set_modules(struct esi_sites *sites,
                          int process,
                          const struct es_module *modules,
                          size_t count);

#endif
