/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a program's file says about how it uses MPI, without running it. */
#ifndef ES_CLI_PROGRAM_FILE_H
#define ES_CLI_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

enum esi_program_kind {
    ES_PROGRAM_DYNAMIC, /* an ELF program that the dynamic loader starts */
    ES_PROGRAM_STATIC,  /* an ELF program that it does not */
    ES_PROGRAM_SCRIPT,  /* "#!" and an interpreter */
    ES_PROGRAM_OTHER,
};

/* Words with their array; both owned. */
struct esi_word_list {
    char **words;
    size_t count;
    size_t capacity;
};

struct esi_program_file {
    char *path; /* owned */
    enum esi_program_kind kind;
    char interpreter[256]; /* scripts: the line behind "#!" */
    bool changes_rights;   /* set-user-ID, set-group-ID */
    bool is_same_machine;  /* the class and machine of this command itself */
    bool defines_mpi;      /* MPI_Init is in the file: MPI is linked statically */
    struct esi_word_list libraries; /* DT_NEEDED, in order */
    struct esi_word_list
        routines; /* MPI routines it calls, as in C ("MPI_Send"), sorted, once */
};

/* Looks `name` up in PATH as execvp(3) does, and reads the file.  -ENOENT and other
 * errors of files; -ENOTSUP when built without libelf and the file is ELF; words in
 * `error`. */
int esi_program_file_read(const char *name,
                          struct es_error *error,
                          struct esi_program_file *ret_file);

/* Whether execvp(3) would find a program of this name that may be run here. */
bool esi_program_is_there(const char *name);

/* Frees what the record owns; the struct is the caller's. */
void esi_program_file_fini(struct esi_program_file *file);

/* Whether this build can read ELF files at all. */
bool esi_program_file_can_read(void);

#endif
