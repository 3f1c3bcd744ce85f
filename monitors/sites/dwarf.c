/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* dwarf.c - lines, functions and symbols of a file, with elfutils' libdw. */
#include "config.h"

#include "monitors/sites/dwarf.h"

#include <errno.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct esi_dwarf {
    Dwfl *dwfl;
    Dwfl_Module *module; /* of dwfl */
    Dwarf_Addr bias;     /* from addresses in dwfl to those in the file */
};

static char *debuginfo_path; /* NULL: the standard one */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

/* Whether the file is the one that the process had loaded. */
static bool is_file_of(const struct es_module *module, Elf *elf)
{
    const void *id = NULL;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

    if (bytes <= 0)
        return module->build_id_bytes == 0;
    return (size_t)bytes == module->build_id_bytes &&
           memcmp(id, module->build_id, (size_t)bytes) == 0;
}

static int dwarf_load(struct esi_dwarf *dwarf, const struct es_module *module)
{
    Elf *elf;

    dwarf->dwfl = dwfl_begin(&callbacks);
    if (!dwarf->dwfl)
        return -ENOMEM;
    dwfl_report_begin(dwarf->dwfl);
    dwarf->module = dwfl_report_offline(dwarf->dwfl, "", module->path, -1);
    dwfl_report_end(dwarf->dwfl, NULL, NULL);
    if (!dwarf->module)
        return -ENOENT;
    elf = dwfl_module_getelf(dwarf->module, &dwarf->bias);
    return elf && is_file_of(module, elf) ? 0 : -ENOENT;
}

int esi_dwarf_open(const struct es_module *module, struct esi_dwarf **ret_dwarf)
{
    struct esi_dwarf *dwarf;
    int result;

    if (module->path[0] != '/' || access(module->path, R_OK) != 0)
        return -ENOENT;
    dwarf = calloc(1, sizeof *dwarf);
    if (!dwarf)
        return -ENOMEM;
    result = dwarf_load(dwarf, module);
    if (result < 0) {
        esi_dwarf_close(dwarf);
        return result;
    }
    *ret_dwarf = dwarf;
    return 0;
}

void esi_dwarf_close(struct esi_dwarf *dwarf)
{
    int saved_errno = errno;

    if (!dwarf)
        return;
    if (dwarf->dwfl)
        dwfl_end(dwarf->dwfl);
    free(dwarf);
    errno = saved_errno;
}

/* --- Lines ------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Headers of the system, especially those of MPI, are not part of the program. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/usr/include/", 13) == 0 ||
           strncmp(path, "/usr/lib/", 9) == 0;
}

/* A source location. */
struct source_place {
    const char *file;
    int line;
    const char *function; /* NULL = not known */
};

static const char *function_of(Dwarf_Die *scopes, int count)
{
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
            return dwarf_diename(&scopes[i]);
    }
    return NULL;
}

/* Reads where the function scopes[0] was inlined into the next one. */
static bool read_call(Dwarf_Die *unit, Dwarf_Die *scope, struct source_place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return false;
    place->file = dwarf_filesrc(files, file, NULL, NULL);
    place->line = (int)line;
    return place->file != NULL;
}

/* Adds the function; for inlined system code, continues with its caller in the
 * program. */
static void read_scopes(Dwarf_Die *unit, Dwarf_Addr address, struct source_place *place)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);

    place->function = count > 0 ? function_of(scopes, count) : NULL;
    for (int i = 0; i < count && is_of_system(place->file); i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
            read_call(unit, &scopes[i], place))
            place->function = function_of(&scopes[i + 1], count - i - 1);
    free(scopes);
}

/* The unit that contains the address.  Not all compilers write the address table
 * (.debug_aranges) that makes this fast. */
static Dwarf_Die *find_unit(const struct esi_dwarf *dwarf,
                            Dwarf_Addr address,
                            Dwarf_Addr *ret_bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(dwarf->module, address, ret_bias);

    if (unit)
        return unit;
    do
        unit = dwfl_module_nextcu(dwarf->module, unit, ret_bias);
    while (unit && dwarf_haspc(unit, address - *ret_bias) <= 0);
    return unit;
}

static bool find_line(const struct esi_dwarf *dwarf,
                      Dwarf_Addr address,
                      struct source_place *ret_place)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = find_unit(dwarf, address, &bias);
    Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;

    *ret_place = (struct source_place){.file = NULL};
    if (!line || dwarf_lineno(line, &ret_place->line) != 0 || ret_place->line <= 0)
        return false;
    ret_place->file = dwarf_linesrc(line, NULL, NULL);
    if (!ret_place->file)
        return false;
    read_scopes(unit, address - bias, ret_place);
    return true;
}

/* --- Symbols ---------------------------------------------------------------------- */

/* The function that contains the address; functions without a size have no known
 * end. */
static const char *find_symbol(const struct esi_dwarf *dwarf,
                               Dwarf_Addr address,
                               GElf_Off *ret_offset)
{
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(dwarf->module, address, ret_offset, &symbol,
                                            NULL, NULL, NULL);

    return name && *ret_offset < symbol.st_size ? name : NULL;
}

int esi_dwarf_format(struct esi_dwarf *dwarf,
                     uint64_t address,
                     char *out,
                     size_t out_bytes)
{
    Dwarf_Addr at = address + dwarf->bias - 1;
    struct source_place place;
    GElf_Off offset;
    const char *symbol = find_symbol(dwarf, at, &offset);

    if (find_line(dwarf, at, &place)) {
        if (!place.function)
            place.function = symbol;
        snprintf(out, out_bytes, place.function ? "%s:%d in %s()" : "%s:%d",
                 base_name(place.file), place.line, place.function);
        return 0;
    }
    if (!symbol)
        return -ENOENT;
    snprintf(out, out_bytes, "%s()+0x%" PRIx64, symbol, (uint64_t)offset + 1);
    return 0;
}

#else

int esi_dwarf_open(const struct es_module *module, struct esi_dwarf **ret_dwarf)
{
    (void)module;
    (void)ret_dwarf;
    return -ENOTSUP;
}

void esi_dwarf_close(struct esi_dwarf *dwarf)
{
    (void)dwarf;
}

int esi_dwarf_format(struct esi_dwarf *dwarf,
                     uint64_t address,
                     char *out,
                     size_t out_bytes)
{
    (void)dwarf;
    (void)address;
    (void)out;
    (void)out_bytes;
    return -ENOTSUP;
}

#endif
