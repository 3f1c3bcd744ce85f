/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_archive.c - the folder of an archive, and error messages of the library. */
#include "config.h"

#include "monitors/otf2/otf2_archive.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { EVENT_CHUNK_BYTES = 1 << 20, DEFINITION_CHUNK_BYTES = 4 << 20 };
enum { ANCHOR_MAX = 1 << 24 }; /* bytes of an anchor file that are looked at */
enum { OPEN_DIRECTORIES = 8 };

/* --- Messages of the library ------------------------------------------------------ */

/* The library has only one callback. */
static struct {
    OTF2_ErrorCallback before;
    OTF2_ErrorCode code;
    char text[256];
} failure;

static OTF2_ErrorCode note_failure(void *data,
                                   const char *file,
                                   uint64_t line,
                                   const char *function,
                                   OTF2_ErrorCode code,
                                   const char *format,
                                   va_list arguments)
{
    (void)data;
    (void)file;
    (void)line;
    (void)function;
    if (failure.code == OTF2_SUCCESS && code > OTF2_SUCCESS) {
        failure.code = code;
        vsnprintf(failure.text, sizeof failure.text, format, arguments);
    }
    return code;
}

void esi_otf2_begin_calls(void)
{
    failure.code = OTF2_SUCCESS;
    failure.text[0] = '\0';
    failure.before = OTF2_Error_RegisterCallback(note_failure, NULL);
}

void esi_otf2_end_calls(void)
{
    OTF2_Error_RegisterCallback(failure.before, NULL);
}

int esi_otf2_error(OTF2_ErrorCode code, const char *path, struct es_error *error)
{
    OTF2_ErrorCode first = failure.code != OTF2_SUCCESS ? failure.code : code;
    int result = first == OTF2_ERROR_ENOSPC   ? -ENOSPC
                 : first == OTF2_ERROR_ENOENT ? -ENOENT
                 : first == OTF2_ERROR_EACCES ? -EACCES
                 : first == OTF2_ERROR_ENOMEM ? -ENOMEM
                                              : -EINVAL;

    return es_error_set(error, result, "%s: OTF2: %s%s%s", path,
                        OTF2_Error_GetDescription(first), failure.text[0] ? ": " : "",
                        failure.text);
}

/* --- The folder ------------------------------------------------------------------- */

static OTF2_FlushType before_flush(void *data,
                                   OTF2_FileType type,
                                   OTF2_LocationRef location,
                                   void *caller,
                                   bool final)
{
    (void)data;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static int remove_entry(const char *path,
                        const struct stat *status,
                        int type,
                        struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

static OTF2_ErrorCode open_files(OTF2_Archive *archive)
{
    /* No post_flush: it would add a flush record to the events. */
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    OTF2_ErrorCode code = OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);

    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_SetCreator(archive, PACKAGE_STRING);
    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_OpenEvtFiles(archive);
    return code == OTF2_SUCCESS ? OTF2_Archive_OpenDefFiles(archive) : code;
}

/* The library allocates memory for as many properties as the anchor file says, and
 * fills it, before it reads one.  After the header the file has three strings and the
 * number, in the byte order that the second byte names; a property is two strings. */
int esi_otf2_check_anchor(const char *path, struct es_error *error)
{
    enum { MAJOR = 9, HEADER = 46, STRINGS = 3 };
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t length = 0, at = HEADER;
    char *text = NULL;
    uint32_t count;

    /* What is not like this is an error, or an older format, for the library. */
    if (file < 0)
        return 0;
    if (esi_file_read_all(file, ANCHOR_MAX, &text, &length) < 0)
        length = 0;
    close(file);
    for (int i = 0; i < STRINGS && at < length; i++)
        at += strnlen(text + at, length - at) + 1;
    if (at + sizeof count > length || text[MAJOR] < 2) {
        free(text);
        return 0;
    }
    memcpy(&count, text + at, sizeof count);
    count = text[1] == 'B' ? le32toh(count) : be32toh(count);
    at += sizeof count;
    free(text);
    if (count <= (length - at) / 2)
        return 0;
    return es_error_set(error, -EINVAL,
                        "%s: is damaged: it has no room for %" PRIu32 " properties",
                        path, count);
}

int esi_otf2_archive_open(const char *path,
                          struct es_error *error,
                          struct esi_otf2_archive *ret_archive)
{
    struct esi_otf2_archive made = {.path = strdup(path)};
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;

    if (access(path, F_OK) == 0) {
        free(made.path);
        return es_error_set(error, -EEXIST, "%s: already exists", path);
    }
    if (!made.path || asprintf(&made.beside, "%s.XXXXXX", path) < 0) {
        free(made.path);
        return -ENOMEM;
    }
    if (!mkdtemp(made.beside)) {
        int result = es_error_set(error, -errno, "%s: cannot be created: %s", path,
                                  strerror(errno));

        free(made.beside);
        free(made.path);
        return result;
    }
    made.archive = OTF2_Archive_Open(made.beside, "traces", OTF2_FILEMODE_WRITE,
                                     EVENT_CHUNK_BYTES, DEFINITION_CHUNK_BYTES,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (made.archive)
        code = open_files(made.archive);
    if (code != OTF2_SUCCESS) {
        int result = esi_otf2_error(code, path, error);

        esi_otf2_archive_discard(&made);
        return result;
    }
    *ret_archive = made;
    return 0;
}

static int take_place(const struct esi_otf2_archive *archive, struct es_error *error)
{
    mode_t mask = umask(0);

    umask(mask);
    if (chmod(archive->beside, 0777 & ~mask) < 0 ||
        rename(archive->beside, archive->path) < 0)
        return es_error_set(error, -errno, "%s: cannot be created: %s", archive->path,
                            strerror(errno));
    return 0;
}

int esi_otf2_archive_close(struct esi_otf2_archive *archive, struct es_error *error)
{
    OTF2_ErrorCode code = OTF2_Archive_CloseEvtFiles(archive->archive);
    int result;

    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_CloseDefFiles(archive->archive);
    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_Close(archive->archive);
    archive->archive = NULL;
    result = code == OTF2_SUCCESS ? take_place(archive, error)
                                  : esi_otf2_error(code, archive->path, error);
    if (result == 0) {
        free(archive->beside);
        archive->beside = NULL;
    }
    esi_otf2_archive_discard(archive);
    return result;
}

void esi_otf2_archive_discard(struct esi_otf2_archive *archive)
{
    if (archive->archive)
        OTF2_Archive_Close(archive->archive);
    if (archive->beside)
        nftw(archive->beside, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
    free(archive->beside);
    free(archive->path);
    *archive = (struct esi_otf2_archive){.archive = NULL};
}
