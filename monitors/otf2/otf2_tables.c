/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_tables.c - the definitions of an archive being read. */
#include "config.h"

#include "monitors/otf2/otf2_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/otf2/otf2_archive.h"

#define NANOSECONDS UINT64_C(1000000000)

struct esi_otf2_row *esi_otf2_row(const struct esi_otf2_table *table, uint64_t id)
{
    ESI_HASH_FOREACH(slot, &table->hash, esi_hash_u64(id)) {
        struct esi_otf2_row *row = &table->rows[esi_hash_index(&table->hash, slot)];

        if (row->id == id)
            return row;
    }
    return NULL;
}

/* Takes the row's memory.  The first definition of a number counts. */
static OTF2_CallbackCode add_row(struct esi_otf2_table *table,
                                 const struct esi_otf2_row *row)
{
    if (esi_otf2_row(table, row->id)) {
        free(row->text);
        free(row->members);
        return OTF2_CALLBACK_SUCCESS;
    }
    if (ESI_ARRAY_RESERVE(table->rows, table->capacity, table->count + 1) < 0 ||
        esi_hash_reserve(&table->hash, table->count + 1) < 0) {
        free(row->text);
        free(row->members);
        return OTF2_CALLBACK_ERROR;
    }
    esi_hash_insert(&table->hash, esi_hash_u64(row->id), table->count);
    table->rows[table->count++] = *row;
    return OTF2_CALLBACK_SUCCESS;
}

static void finish_table(struct esi_otf2_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->rows[i].text);
        free(table->rows[i].members);
    }
    free(table->rows);
    esi_hash_fini(&table->hash);
}

void esi_otf2_tables_fini(struct esi_otf2_tables *tables)
{
    finish_table(&tables->texts);
    finish_table(&tables->nodes);
    finish_table(&tables->processes);
    finish_table(&tables->locations);
    finish_table(&tables->regions);
    finish_table(&tables->groups);
    finish_table(&tables->communicators);
    finish_table(&tables->windows);
}

/* --- Callbacks -------------------------------------------------------------------- */

static OTF2_CallbackCode take_clock(void *data,
                                    uint64_t resolution,
                                    uint64_t offset,
                                    uint64_t length,
                                    uint64_t real_ns)
{
    struct esi_otf2_tables *tables = data;

    (void)length;
    tables->resolution = resolution > 0 ? resolution : NANOSECONDS;
    tables->offset = offset;
    tables->real_ns = real_ns;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_text(void *data, OTF2_StringRef self, const char *text)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row row = {.id = self, .text = strdup(text)};

    return row.text ? add_row(&tables->texts, &row) : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode take_node(void *data,
                                   OTF2_SystemTreeNodeRef self,
                                   OTF2_StringRef name,
                                   OTF2_StringRef class_name,
                                   OTF2_SystemTreeNodeRef parent)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row row = {.id = self, .refers = name};

    (void)class_name;
    (void)parent;
    return add_row(&tables->nodes, &row);
}

static OTF2_CallbackCode take_process(void *data,
                                      OTF2_LocationGroupRef self,
                                      OTF2_StringRef name,
                                      OTF2_LocationGroupType type,
                                      OTF2_SystemTreeNodeRef node,
                                      OTF2_LocationGroupRef creator)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row row = {.id = self, .refers = node};

    (void)name;
    (void)type;
    (void)creator;
    return add_row(&tables->processes, &row);
}

static OTF2_CallbackCode take_location(void *data,
                                       OTF2_LocationRef self,
                                       OTF2_StringRef name,
                                       OTF2_LocationType type,
                                       uint64_t events,
                                       OTF2_LocationGroupRef process)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row row = {
        .id = self, .refers = process, .other = events, .kind = type};

    (void)name;
    tables->event_count += events;
    return add_row(&tables->locations, &row);
}

static OTF2_CallbackCode take_region(void *data,
                                     OTF2_RegionRef self,
                                     OTF2_StringRef name,
                                     OTF2_StringRef canonical,
                                     OTF2_StringRef description,
                                     OTF2_RegionRole role,
                                     OTF2_Paradigm paradigm,
                                     OTF2_RegionFlag flags,
                                     OTF2_StringRef file,
                                     uint32_t begin,
                                     uint32_t end)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row *text = esi_otf2_row(&tables->texts, name);
    const struct esi_otf2_row row = {.id = self,
                                     .operation =
                                         text && strncmp(text->text, "MPI_", 4) == 0
                                             ? es_operation_by_name(text->text)
                                             : NULL};

    (void)canonical;
    (void)description;
    (void)role;
    (void)paradigm;
    (void)flags;
    (void)file;
    (void)begin;
    (void)end;
    return add_row(&tables->regions, &row);
}

static OTF2_CallbackCode take_group(void *data,
                                    OTF2_GroupRef self,
                                    OTF2_StringRef name,
                                    OTF2_GroupType type,
                                    OTF2_Paradigm paradigm,
                                    OTF2_GroupFlag flags,
                                    uint32_t count,
                                    const uint64_t *members)
{
    struct esi_otf2_tables *tables = data;
    struct esi_otf2_row row = {.id = self, .kind = type, .count = count};

    (void)name;
    (void)flags;
    row.members = calloc((size_t)count + 1, sizeof *row.members);
    if (!row.members)
        return OTF2_CALLBACK_ERROR;
    if (count > 0)
        memcpy(row.members, members, count * sizeof *members);
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI)
        tables->ranks = self;
    return add_row(&tables->groups, &row);
}

static OTF2_CallbackCode take_communicator(void *data,
                                           OTF2_CommRef self,
                                           OTF2_StringRef name,
                                           OTF2_GroupRef group,
                                           OTF2_CommRef parent,
                                           OTF2_CommFlag flags)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row *text = esi_otf2_row(&tables->texts, name);
    const struct esi_otf2_row row = {.id = self,
                                     .refers = group,
                                     .other = UINT64_MAX,
                                     .text = strdup(text ? text->text : "")};

    (void)parent;
    (void)flags;
    return row.text ? add_row(&tables->communicators, &row) : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode take_between(void *data,
                                      OTF2_CommRef self,
                                      OTF2_StringRef name,
                                      OTF2_GroupRef a,
                                      OTF2_GroupRef b,
                                      OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row *text = esi_otf2_row(&tables->texts, name);
    const struct esi_otf2_row row = {
        .id = self, .refers = a, .other = b, .text = strdup(text ? text->text : "")};

    (void)common;
    (void)flags;
    return row.text ? add_row(&tables->communicators, &row) : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode take_window(void *data,
                                     OTF2_RmaWinRef self,
                                     OTF2_StringRef name,
                                     OTF2_CommRef communicator,
                                     OTF2_RmaWinFlag flags)
{
    struct esi_otf2_tables *tables = data;
    const struct esi_otf2_row row = {
        .id = self, .refers = communicator, .count = (uint32_t)tables->windows.count};

    (void)name;
    (void)flags;
    return add_row(&tables->windows, &row);
}

/* --- Reading ---------------------------------------------------------------------- */

static void set_callbacks(OTF2_GlobalDefReaderCallbacks *callbacks)
{
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, take_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, take_text);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, take_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, take_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, take_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, take_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, take_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, take_communicator);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, take_between);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, take_window);
}

int esi_otf2_tables_read(struct esi_otf2_tables *tables,
                         OTF2_Reader *reader,
                         const char *path,
                         struct es_error *error)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    uint64_t count;

    *tables = (struct esi_otf2_tables){.ranks = UINT64_MAX,
                                       .resolution = NANOSECONDS,
                                       .real_ns = OTF2_UNDEFINED_TIMESTAMP};
    if (callbacks && definitions) {
        set_callbacks(callbacks);
        code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks,
                                                      tables);
    }
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    return code == OTF2_SUCCESS ? 0 : esi_otf2_error(code, path, error);
}

uint64_t esi_otf2_time_ns(const struct esi_otf2_tables *tables, OTF2_TimeStamp time)
{
    __extension__ typedef unsigned __int128 wide;

    if (tables->real_ns == OTF2_UNDEFINED_TIMESTAMP || time < tables->offset)
        return (uint64_t)((wide)time * NANOSECONDS / tables->resolution);
    return tables->real_ns +
           (uint64_t)((wide)(time - tables->offset) * NANOSECONDS / tables->resolution);
}
