/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* How a program uses MPI, read from its file without running it. */
#ifndef ES_CLI_PROGRAM_FILE_H
#define ES_CLI_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

enum esi_program_kind {
    ES_PROGRAM_DYNAMIC, /* an ELF program for the dynamic loader */
    ES_PROGRAM_STATIC,  /* a static ELF program */
    ES_PROGRAM_SCRIPT,  /* "#!" and an interpreter */
    ES_PROGRAM_OTHER,
};

/* Words and array; both owned. */
struct esi_word_list {
    char **words;
    size_t count;
    size_t capacity;
};

struct esi_program_file {
    char *path; /* owned */
    enum esi_program_kind kind;
    char interpreter[256]; /* for scripts: the line after "#!" */
    bool changes_rights;   /* set-user-ID, set-group-ID or capabilities */
    bool is_same_machine;  /* same class and machine as this command */
    bool defines_mpi;      /* the file contains MPI_Init: MPI is linked statically */
    struct esi_word_list libraries; /* DT_NEEDED, in order */
    struct esi_word_list
        routines; /* MPI routines it calls, by C name ("MPI_Send"), sorted, without
                     duplicates */
};

/* Searches `name` in PATH like execvp(3), and reads the file.  Returns 0; -ENOENT and
 * other file errors; -ENOTSUP for ELF files if built without libelf; with `error`
 * filled. */
int esi_program_file_read(const char *name,
                          struct es_error *error,
                          struct esi_program_file *ret_file);

/* Why no library can be preloaded into the program, or does not see its calls of MPI: a
 * predicate for its name, "is linked statically ...".  NULL if nothing is known. */
const char *esi_program_file_obstacle(const struct esi_program_file *file);

/* Whether execvp(3) would find an executable program of this name. */
bool esi_program_is_there(const char *name);

/* Frees the contents; the struct is the caller's. */
void esi_program_file_fini(struct esi_program_file *file);

/* Whether this build can read ELF files. */
bool esi_program_file_can_read(void);

#endif
