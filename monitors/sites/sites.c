/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sites.c - names the sites of calls.
 *
 * Processes of one program share its file: an address in memory becomes a file and an
 * address in it, of which the text is kept.  Texts are kept once each: who wants to
 * know whether two sites are the same compares pointers.
 */
#include "config.h"

#include "monitors/sites/sites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/now.h"
#include "base/plain.h"
#include "monitors/sites/dwarf.h"

#define REFRESH_NS UINT64_C(1000000000)
enum { TEXT_BYTES = 256 };

/* A file of code; the same for all processes that have it. */
struct site_file {
    struct es_module module; /* as the first process had it */
    struct esi_dwarf *dwarf; /* owned; NULL = not opened yet, or it cannot be */
    bool opened;
};

/* Where a file lies in a process. */
struct site_range {
    uint64_t begin;
    uint64_t end;
    uint64_t bias;
    uint32_t file;
};

struct site_process {
    struct site_range *ranges; /* owned */
    size_t range_count;
    char host[64]; /* of a scope's process, with the next two; else "" */
    int pid;
    uint64_t made;
    uint64_t asked_ns; /* when its modules were read */
};

/* An address that was resolved. */
struct site_known {
    uint32_t file; /* or NO_FILE: the address is of memory */
    uint64_t address;
    const char *text; /* borrowed from the texts */
};

#define NO_FILE UINT32_MAX

struct esi_sites {
    struct site_file *files;
    size_t file_count;
    size_t file_capacity;
    struct site_process *processes;
    size_t process_count;
    size_t process_capacity;
    struct esi_hash processes_by_key; /* those of scopes */
    struct site_known *known;
    size_t known_count;
    size_t known_capacity;
    struct esi_hash known_by_hash;
    char **texts; /* owned, each */
    size_t text_count;
    size_t text_capacity;
    struct esi_hash texts_by_hash;
};

int esi_sites_create(struct esi_sites **ret_sites)
{
    *ret_sites = calloc(1, sizeof **ret_sites);
    return *ret_sites ? 0 : -ENOMEM;
}

void esi_sites_destroy(struct esi_sites *sites)
{
    int saved_errno = errno;

    if (!sites)
        return;
    for (size_t i = 0; i < sites->file_count; i++)
        esi_dwarf_close(sites->files[i].dwarf);
    for (size_t i = 0; i < sites->process_count; i++)
        free(sites->processes[i].ranges);
    for (size_t i = 0; i < sites->text_count; i++)
        free(sites->texts[i]);
    esi_hash_fini(&sites->processes_by_key);
    esi_hash_fini(&sites->known_by_hash);
    esi_hash_fini(&sites->texts_by_hash);
    free(sites->files);
    free(sites->processes);
    free(sites->known);
    free(sites->texts);
    free(sites);
    errno = saved_errno;
}

/* --- Files and processes ---------------------------------------------------------- */

static bool is_same_file(const struct es_module *a, const struct es_module *b)
{
    return a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 &&
           strcmp(a->path, b->path) == 0;
}

/* Returns the file's index or -ENOMEM. */
static int find_file(struct esi_sites *sites, const struct es_module *module)
{
    for (size_t i = 0; i < sites->file_count; i++)
        if (is_same_file(&sites->files[i].module, module))
            return (int)i;
    if (ESI_ARRAY_RESERVE(sites->files, sites->file_capacity, sites->file_count + 1) <
        0)
        return -ENOMEM;
    sites->files[sites->file_count] = (struct site_file){.module = *module};
    return (int)sites->file_count++;
}

/* Puts these modules in the place of those known.  -ENOMEM. */
static int take_modules(struct esi_sites *sites,
                        struct site_process *process,
                        const struct es_module *modules,
                        size_t count)
{
    struct site_range *ranges = calloc(count + 1, sizeof *ranges);

    if (!ranges)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        int file = find_file(sites, &modules[i]);

        if (file < 0) {
            free(ranges);
            return file;
        }
        ranges[i] = (struct site_range){.begin = modules[i].begin,
                                        .end = modules[i].end,
                                        .bias = modules[i].bias,
                                        .file = (uint32_t)file};
    }
    free(process->ranges);
    process->ranges = ranges;
    process->range_count = count;
    return 0;
}

static int add_process(struct esi_sites *sites)
{
    if (ESI_ARRAY_RESERVE(sites->processes, sites->process_capacity,
                          sites->process_count + 1) < 0)
        return -ENOMEM;
    sites->processes[sites->process_count] = (struct site_process){.ranges = NULL};
    return (int)sites->process_count++;
}

int esi_sites_add_process(struct esi_sites *sites,
                          const struct es_module *modules,
                          size_t count)
{
    int process = add_process(sites);
    int result;

    if (process < 0)
        return process;
    result = take_modules(sites, &sites->processes[process], modules, count);
    return result < 0 ? result : process;
}

/* --- Texts ------------------------------------------------------------------------ */

/* The one copy of a text; "" without memory. */
static const char *intern_text(struct esi_sites *sites, const char *text)
{
    uint64_t hash = esi_hash_mix_text(1, text);
    char *copy;

    if (esi_hash_reserve(&sites->texts_by_hash, sites->text_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(sites->texts, sites->text_capacity, sites->text_count + 1) <
            0)
        return "";
    ESI_HASH_FOREACH(slot, &sites->texts_by_hash, hash) {
        uint32_t index = esi_hash_index(&sites->texts_by_hash, slot);

        if (strcmp(sites->texts[index], text) == 0)
            return sites->texts[index];
    }
    copy = strdup(text);
    if (!copy)
        return "";
    esi_hash_insert(&sites->texts_by_hash, hash, sites->text_count);
    sites->texts[sites->text_count++] = copy;
    return copy;
}

static void open_file(struct site_file *file)
{
    if (file->opened)
        return;
    file->opened = true;
    if (esi_dwarf_open(&file->module, &file->dwarf) < 0)
        file->dwarf = NULL;
}

/* Names in files may hold anything: what a terminal would obey is escaped. */
static const char *resolve_site(struct esi_sites *sites,
                                struct site_file *file,
                                uint64_t address)
{
    const char *slash = strrchr(file->module.path, '/');
    char text[TEXT_BYTES], plain[TEXT_BYTES];

    open_file(file);
    if (!file->dwarf || esi_dwarf_format(file->dwarf, address, text, sizeof text) < 0)
        snprintf(text, sizeof text, "%.200s+0x%" PRIx64,
                 slash ? slash + 1 : file->module.path, address);
    esi_plain_copy(plain, sizeof plain, text);
    return intern_text(sites, plain);
}

/* The text of an address in a file, or in memory (NO_FILE). */
static const char *text_of(struct esi_sites *sites, uint32_t file, uint64_t address)
{
    uint64_t hash = esi_hash_mix(esi_hash_mix(1, file), address);
    char number[32];
    const char *text;

    if (esi_hash_reserve(&sites->known_by_hash, sites->known_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(sites->known, sites->known_capacity, sites->known_count + 1) <
            0)
        return "";
    ESI_HASH_FOREACH(slot, &sites->known_by_hash, hash) {
        const struct site_known *known =
            &sites->known[esi_hash_index(&sites->known_by_hash, slot)];

        if (known->file == file && known->address == address)
            return known->text;
    }
    snprintf(number, sizeof number, "0x%" PRIx64, address);
    text = file == NO_FILE ? intern_text(sites, number)
                           : resolve_site(sites, &sites->files[file], address);
    esi_hash_insert(&sites->known_by_hash, hash, sites->known_count);
    sites->known[sites->known_count++] =
        (struct site_known){.file = file, .address = address, .text = text};
    return text;
}

/* The newest module that has the address; NULL: none. */
static const struct site_range *find_range(const struct site_process *process,
                                           uint64_t address)
{
    for (size_t i = process->range_count; i > 0; i--) {
        const struct site_range *range = &process->ranges[i - 1];

        if (address > range->begin && address <= range->end)
            return range;
    }
    return NULL;
}

const char *esi_sites_format_in(struct esi_sites *sites, int process, uint64_t address)
{
    const struct site_range *range;

    if (address == 0)
        return "";
    range = process >= 0 && (size_t)process < sites->process_count
                ? find_range(&sites->processes[process], address)
                : NULL;
    return range ? text_of(sites, range->file, address - range->bias)
                 : text_of(sites, NO_FILE, address);
}

/* --- Processes that go on --------------------------------------------------------- */

int esi_sites_process(struct esi_sites *sites, const char *host, int pid, uint64_t made)
{
    uint64_t hash = esi_hash_mix_text(esi_hash_mix(made, (uint32_t)pid), host);
    struct site_process *process;
    int number;

    ESI_HASH_FOREACH(slot, &sites->processes_by_key, hash) {
        number = (int)esi_hash_index(&sites->processes_by_key, slot);
        process = &sites->processes[number];
        if (process->pid == pid && process->made == made &&
            strcmp(process->host, host) == 0)
            return number;
    }
    if (esi_hash_reserve(&sites->processes_by_key, sites->process_count + 1) < 0)
        return -ENOMEM;
    number = add_process(sites);
    if (number < 0)
        return number;
    esi_hash_insert(&sites->processes_by_key, hash, (size_t)number);
    process = &sites->processes[number];
    process->pid = pid;
    process->made = made;
    snprintf(process->host, sizeof process->host, "%s", host);
    return number;
}

bool esi_sites_should_ask(struct esi_sites *sites, int number, uint64_t address)
{
    struct site_process *process = &sites->processes[number];
    uint64_t now_ns;

    if (find_range(process, address))
        return false;
    now_ns = esi_now_ns(CLOCK_MONOTONIC);
    if (process->asked_ns != 0 && now_ns - process->asked_ns < REFRESH_NS)
        return false;
    process->asked_ns = now_ns;
    return true;
}

int esi_sites_set_modules(struct esi_sites *sites,
                          int process,
                          const struct es_module *modules,
                          size_t count)
{
    return take_modules(sites, &sites->processes[process], modules, count);
}
