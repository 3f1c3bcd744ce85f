/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How a program uses MPI, read from its file.
 *
 * Reads with libelf: section headers for the symbols, which every dynamically linked
 * program has (.dynsym cannot be stripped), and the dynamic section for the libraries.
 */
#include "config.h"

#include "cli/program_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifdef HAVE_LIBELF
#include <gelf.h>
#include <libelf.h>
#endif

#include "base/array.h"

/* --- Words ------------------------------------------------------------------------ */

static void free_words(struct esi_word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->words[i]);
    free(list->words);
    *list = (struct esi_word_list){.words = NULL};
}

/* --- Names ------------------------------------------------------------------------ */

/* "mpi_comm_rank_" to "MPI_Comm_rank": in C, one capital follows the prefix. */
static bool name_from_fortran(const char *symbol, char *out, size_t size)
{
    static const char *const endings[] = {"_f08ts_", "_f08_", "__", "_"};
    const char *name = strncmp(symbol, "pmpi_", 5) == 0 ? symbol + 1 : symbol;
    size_t length = strlen(name);

    if (strncmp(name, "mpi_", 4) != 0 || !isalpha((unsigned char)name[4]))
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length <= ending + 4 || strcmp(name + length - ending, endings[i]) != 0)
            continue;
        snprintf(out, size, "MPI_%.*s", (int)(length - ending - 4), name + 4);
        out[4] = (char)toupper((unsigned char)out[4]);
        return true;
    }
    return false;
}

/* The C name of the MPI routine of a symbol: "PMPI_Send", "mpi_send_" and
 * "mpi_send_f08_" are "MPI_Send". Returns false for other symbols. */
static bool routine_name(const char *symbol, char *out, size_t size)
{
    const char *name = symbol + (*symbol == 'P');

    /* MPI_Xxx are routines, MPI_XXX constants, MPIR_ and the like are internal. */
    if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "MPIX_", 5) != 0)
        return name_from_fortran(symbol, out, size);
    const char *rest = strchr(name, '_') + 1;
    bool is_tool = strncmp(rest, "T_", 2) == 0;
    if (!isupper((unsigned char)rest[0]) ||
        (!is_tool && !islower((unsigned char)rest[1])))
        return false;
    snprintf(out, size, "%s", name);
    return true;
}

/* --- The file --------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

/* Like execvp(3); caller frees.  NULL if there is none. */
static char *look_up(const char *name)
{
    char joined[PATH_MAX];
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return strdup(name);
    for (const char *part = path ? path : "/bin:/usr/bin"; part;) {
        size_t length = strcspn(part, ":");
        snprintf(joined, sizeof joined, "%.*s/%s", (int)length, length ? part : ".",
                 name);
        if (length == 0)
            snprintf(joined, sizeof joined, "./%s", name);
        if (is_program(joined))
            return strdup(joined);
        part = part[length] ? part + length + 1 : NULL;
    }
    return NULL;
}

bool esi_program_is_there(const char *name)
{
    char *path = look_up(name);
    bool is_there = path && is_program(path);

    free(path);
    return is_there;
}

static enum esi_program_kind look_at_start(int descriptor,
                                           char *interpreter,
                                           size_t size)
{
    char start[256];
    ssize_t length = pread(descriptor, start, sizeof start - 1, 0);

    if (length < 4)
        return ES_PROGRAM_OTHER;
    start[length] = '\0';
    if (memcmp(start, "\177ELF", 4) == 0)
        return ES_PROGRAM_DYNAMIC;
    if (start[0] != '#' || start[1] != '!')
        return ES_PROGRAM_OTHER;
    char *line = start + 2 + strspn(start + 2, " \t");
    line[strcspn(line, "\n")] = '\0';
    snprintf(interpreter, size, "%s", line);
    return ES_PROGRAM_SCRIPT;
}

#ifdef HAVE_LIBELF

static int add_word(struct esi_word_list *list, const char *word)
{
    if (ESI_ARRAY_RESERVE(list->words, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    list->words[list->count] = strdup(word);
    if (!list->words[list->count])
        return -ENOMEM;
    list->count++;
    return 0;
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorts and removes duplicates. */
static void make_unique(struct esi_word_list *list)
{
    size_t kept = 0;

    if (list->count == 0)
        return;
    qsort(list->words, list->count, sizeof *list->words, compare_words);
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->words[i], list->words[kept]) == 0)
            free(list->words[i]);
        else
            list->words[++kept] = list->words[i];
    }
    list->count = kept + 1;
}

static bool same_machine(Elf *elf)
{
    GElf_Ehdr theirs, ours;
    bool same = false;

    int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return true;
    Elf *self = elf_begin(descriptor, ELF_C_READ, NULL);
    if (gelf_getehdr(elf, &theirs) && gelf_getehdr(self, &ours))
        same = theirs.e_machine == ours.e_machine &&
               theirs.e_ident[EI_CLASS] == ours.e_ident[EI_CLASS];
    elf_end(self);
    close(descriptor);
    return same;
}

static int add_routine(struct esi_program_file *file,
                       const char *symbol,
                       bool is_defined)
{
    char name[128];

    if (!routine_name(symbol, name, sizeof name))
        return 0;
    if (!is_defined)
        return add_word(&file->routines, name);
    /* Tools may define some MPI routines; only a complete MPI defines this one. */
    if (strcmp(name, "MPI_Init") == 0)
        file->defines_mpi = true;
    return 0;
}

static int read_symbols(Elf *elf,
                        Elf_Scn *section,
                        const GElf_Shdr *header,
                        struct esi_program_file *file)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    int code = 0;

    for (int i = 0; data && code == 0 && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name)
            continue;
        bool is_defined = symbol.st_shndx != SHN_UNDEF;
        if (!is_defined || GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            code = add_routine(file, name, is_defined);
    }
    return code;
}

static int read_libraries(Elf *elf,
                          Elf_Scn *section,
                          const GElf_Shdr *header,
                          struct esi_program_file *file)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    int code = 0;

    for (int i = 0; data && code == 0 && gelf_getdyn(data, i, &entry); i++) {
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (name)
            code = add_word(&file->libraries, name);
    }
    return code;
}

static int read_sections(Elf *elf, struct esi_program_file *file)
{
    Elf_Scn *section = NULL;
    bool has_dynamic = false;
    int code = 0;

    while (code == 0 && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
            code = read_symbols(elf, section, &header, file);
        if (header.sh_type != SHT_DYNAMIC)
            continue;
        code = read_libraries(elf, section, &header, file);
        /* Static PIE programs have this section, too. */
        has_dynamic = file->libraries.count > 0;
    }
    file->kind = has_dynamic ? ES_PROGRAM_DYNAMIC : ES_PROGRAM_STATIC;
    make_unique(&file->routines);
    return code;
}

static int read_elf(int descriptor,
                    struct es_error *error,
                    struct esi_program_file *file)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(descriptor, ELF_C_READ, NULL);
    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        elf_end(elf);
        return es_error_set_at(error, -ENOEXEC, file->path, 0, 0,
                               "not a valid ELF file: %s", elf_errmsg(-1));
    }
    file->is_same_machine = same_machine(elf);
    int code = read_sections(elf, file);
    elf_end(elf);
    return code;
}

bool esi_program_file_can_read(void)
{
    return true;
}

#else

static int read_elf(int descriptor,
                    struct es_error *error,
                    struct esi_program_file *file)
{
    (void)descriptor;
    return es_error_set_at(
        error, -ENOTSUP, file->path, 0, 0,
        "this command was built without libelf and cannot look into programs");
}

bool esi_program_file_can_read(void)
{
    return false;
}

#endif

static int read_file(struct esi_program_file *file, struct es_error *error)
{
    struct stat status;
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);

    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        int reason = errno;
        if (descriptor >= 0)
            close(descriptor);
        return es_error_set_at(error, -reason, file->path, 0, 0, "%s",
                               strerror(reason));
    }
    int code = 0;
    if (S_ISREG(status.st_mode)) {
        file->changes_rights =
            (status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
            fgetxattr(descriptor, "security.capability", NULL, 0) > 0;
        file->kind =
            look_at_start(descriptor, file->interpreter, sizeof file->interpreter);
        if (file->kind == ES_PROGRAM_DYNAMIC)
            code = read_elf(descriptor, error, file);
    } else {
        code = es_error_set_at(error, -EACCES, file->path, 0, 0, "not a regular file");
    }
    close(descriptor);
    return code;
}

int esi_program_file_read(const char *name,
                          struct es_error *error,
                          struct esi_program_file *ret_file)
{
    struct esi_program_file file = {.path = look_up(name), .kind = ES_PROGRAM_OTHER};

    if (!file.path)
        return es_error_set_at(error, -ENOENT, name, 0, 0, "no such program in PATH");
    int code = read_file(&file, error);
    if (code < 0) {
        esi_program_file_fini(&file);
        return code;
    }
    *ret_file = file;
    return 0;
}

const char *esi_program_file_obstacle(const struct esi_program_file *file)
{
    if (file->kind == ES_PROGRAM_STATIC)
        return "is linked statically, nothing can be preloaded";
    if (file->defines_mpi)
        return "has MPI linked in statically, its calls cannot be seen from outside";
    if (file->changes_rights)
        return "changes the user, group or capabilities it runs with, the loader then "
               "ignores preloads";
    return NULL;
}

void esi_program_file_fini(struct esi_program_file *file)
{
    free(file->path);
    file->path = NULL;
    free_words(&file->libraries);
    free_words(&file->routines);
}
