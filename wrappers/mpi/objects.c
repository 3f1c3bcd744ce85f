/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Datatypes and operators, by handle. */
#include "config.h"

#include "wrappers/mpi/objects.h"

#include <pthread.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/handles.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/mpi_next.h"

/* --- Operators -------------------------------------------------------------------- */

uint16_t esi_operator_find(MPI_Op op)
{
    const MPI_Op known[] = {MPI_SUM,    MPI_MAX,    MPI_MIN,     MPI_PROD, MPI_LAND,
                            MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                            MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    uint16_t count = sizeof known / sizeof known[0];

    for (uint16_t i = 0; i < count; i++)
        if (known[i] == op)
            return i + 1;
    return count + 1;
}

/* --- Basic types ------------------------------------------------------------------ */

enum basic_kind {
    SIGNED = 1,
    UNSIGNED,
    FLOATING,
    COMPLEX,
    LOGICAL,
    CHARACTER,
    BYTES,
    PAIR,   /* of a value and its location: MPI_DOUBLE_INT */
    PACKED, /* matches all types */
};

/* A word in a map of handles: size, basic type above it, and that it is present. */
#define FACTS_PRESENT (UINT64_C(1) << 63)
#define FACTS_COUNTED (UINT64_C(1) << 62)

static struct esi_handles types;
static pthread_once_t types_once = PTHREAD_ONCE_INIT;

_Static_assert(sizeof(void *) == 8, "facts take the place of a pointer");

static bool types_set(uint64_t handle,
                      const struct esi_type_facts *facts,
                      uint64_t flags)
{
    uint64_t word = facts->bytes | (uint64_t)facts->basic << 32 | flags | FACTS_PRESENT;

    return esi_handles_set(&types, handle, (void *)(uintptr_t)word);
}

static void add_predefined(MPI_Datatype type, enum basic_kind kind)
{
    struct esi_type_facts facts;
    MPI_Count size = 0;

    if (type == MPI_DATATYPE_NULL ||
        ESI_REAL(MPI_Type_size_x)(type, &size) != MPI_SUCCESS || size < 0 ||
        size > 4095)
        return;
    facts.bytes = (uint32_t)size;
    facts.basic = kind == PACKED
                      ? ESI_BASIC_UNKNOWN
                      : (uint16_t)((unsigned int)kind << 12 | (uint32_t)size);
    types_set(ESI_HANDLE(type), &facts, 0);
}

static void add_predefined_types(void)
{
    const struct {
        MPI_Datatype type;
        enum basic_kind kind;
    } predefined[] = {
        {MPI_CHAR, CHARACTER},
        {MPI_SIGNED_CHAR, SIGNED},
        {MPI_UNSIGNED_CHAR, UNSIGNED},
        {MPI_SHORT, SIGNED},
        {MPI_UNSIGNED_SHORT, UNSIGNED},
        {MPI_INT, SIGNED},
        {MPI_UNSIGNED, UNSIGNED},
        {MPI_LONG, SIGNED},
        {MPI_UNSIGNED_LONG, UNSIGNED},
        {MPI_LONG_LONG, SIGNED},
        {MPI_UNSIGNED_LONG_LONG, UNSIGNED},
        {MPI_FLOAT, FLOATING},
        {MPI_DOUBLE, FLOATING},
        {MPI_LONG_DOUBLE, FLOATING},
        {MPI_WCHAR, CHARACTER},
        {MPI_BYTE, BYTES},
        {MPI_PACKED, PACKED},
        {MPI_C_BOOL, LOGICAL},
        {MPI_INT8_T, SIGNED},
        {MPI_INT16_T, SIGNED},
        {MPI_INT32_T, SIGNED},
        {MPI_INT64_T, SIGNED},
        {MPI_UINT8_T, UNSIGNED},
        {MPI_UINT16_T, UNSIGNED},
        {MPI_UINT32_T, UNSIGNED},
        {MPI_UINT64_T, UNSIGNED},
        {MPI_C_FLOAT_COMPLEX, COMPLEX},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX},
        {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX},
        {MPI_AINT, SIGNED},
        {MPI_OFFSET, SIGNED},
        {MPI_COUNT, SIGNED},
        {MPI_FLOAT_INT, PAIR},
        {MPI_DOUBLE_INT, PAIR},
        {MPI_LONG_INT, PAIR},
        {MPI_SHORT_INT, PAIR},
        {MPI_2INT, PAIR},
        {MPI_LONG_DOUBLE_INT, PAIR},
        {MPI_CHARACTER, CHARACTER},
        {MPI_LOGICAL, LOGICAL},
        {MPI_INTEGER, SIGNED},
        {MPI_REAL, FLOATING},
        {MPI_DOUBLE_PRECISION, FLOATING},
        {MPI_COMPLEX, COMPLEX},
        {MPI_DOUBLE_COMPLEX, COMPLEX},
        {MPI_2INTEGER, PAIR},
        {MPI_2REAL, PAIR},
        {MPI_2DOUBLE_PRECISION, PAIR},
    };

    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        add_predefined(predefined[i].type, predefined[i].kind);
}

static bool facts_of_word(uint64_t word, struct esi_type_facts *ret_facts)
{
    ret_facts->bytes = (uint32_t)word;
    ret_facts->basic = (uint16_t)(word >> 32);
    return (word & FACTS_PRESENT) != 0;
}

bool esi_type_find(uint64_t handle, struct esi_type_facts *ret_facts)
{
    pthread_once(&types_once, add_predefined_types);
    return facts_of_word((uintptr_t)esi_handles_find(&types, handle), ret_facts) &&
           ret_facts->bytes != UINT32_MAX;
}

/* --- Types created by the program ------------------------------------------------- */

static void count_type(MPI_Datatype *made, uint16_t basic)
{
    struct esi_type_facts facts = {.bytes = UINT32_MAX, .basic = basic};
    MPI_Count size = 0;

    if (made == NULL || *made == MPI_DATATYPE_NULL)
        return;
    /* Without a size it is only counted. */
    if (ESI_REAL(MPI_Type_size_x)(*made, &size) == MPI_SUCCESS && size >= 0 &&
        size < UINT32_MAX)
        facts.bytes = (uint32_t)size;
    if (types_set(ESI_HANDLE(*made), &facts, FACTS_COUNTED))
        esi_ledger_count_object(ESI_LEDGER_TYPES, 1);
}

static uint16_t basic_of(MPI_Datatype type)
{
    struct esi_type_facts facts;

    return esi_type_find(ESI_HANDLE(type), &facts) ? facts.basic : ESI_BASIC_UNKNOWN;
}

void esi_count_type(MPI_Datatype *made, MPI_Datatype old)
{
    count_type(made, basic_of(old));
}

/* The basic type of a combination of two parts. */
static uint16_t join_basics(uint16_t a, uint16_t b)
{
    if (a == ESI_BASIC_NONE || a == b)
        return b;
    if (a == ESI_BASIC_UNKNOWN || b == ESI_BASIC_UNKNOWN)
        return ESI_BASIC_UNKNOWN;
    return ESI_BASIC_MIXED;
}

void esi_count_struct_type(MPI_Datatype *made,
                           MPI_Count count,
                           const void *lengths,
                           size_t length_bytes,
                           const MPI_Datatype *parts)
{
    const MPI_Count *large = lengths;
    const int *small = lengths;
    uint16_t basic = ESI_BASIC_NONE;

    for (MPI_Count i = 0; i < count; i++)
        if ((length_bytes > sizeof(int) ? large[i] : small[i]) > 0)
            basic = join_basics(basic, basic_of(parts[i]));
    count_type(made, basic);
}

void esi_count_type_freed(MPI_Datatype type)
{
    uint64_t word;

    if (type == MPI_DATATYPE_NULL)
        return;
    word = (uintptr_t)esi_handles_find(&types, ESI_HANDLE(type));
    if ((word & FACTS_COUNTED) == 0)
        return; /* predefined types are not freed; MPI reports the error */
    word = (uintptr_t)esi_handles_remove(&types, ESI_HANDLE(type));
    if ((word & FACTS_COUNTED) != 0)
        esi_ledger_count_object(ESI_LEDGER_TYPES, -1);
}

/* --- Groups and operators --------------------------------------------------------- */

void esi_count_group(const MPI_Group *made)
{
    if (made != NULL && *made != MPI_GROUP_EMPTY && *made != MPI_GROUP_NULL)
        esi_ledger_count_object(ESI_LEDGER_GROUPS, 1);
}

void esi_count_operator(void)
{
    esi_ledger_count_object(ESI_LEDGER_OPERATORS, 1);
}
