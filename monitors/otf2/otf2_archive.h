/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_archive.h - an OTF2 archive written under a temporary name, and the error
 * messages of the library.
 */
#ifndef ES_MONITORS_OTF2_OTF2_ARCHIVE_H
#define ES_MONITORS_OTF2_OTF2_ARCHIVE_H

#include <otf2/otf2.h>

#include "eventspace/error.h"

struct esi_otf2_archive {
    OTF2_Archive *archive;
    char *path;   /* final path; owned, like the next */
    char *beside; /* temporary path */
};

/* Stores the messages of the library instead of printing them, until
 * esi_otf2_end_calls(). One thread at a time. */
void esi_otf2_begin_calls(void);
void esi_otf2_end_calls(void);
/* Sets the error to the first message of the library, or to the description of the
 * code.  Returns -EINVAL or the corresponding errno. */
int esi_otf2_error(OTF2_ErrorCode code, const char *path, struct es_error *error);

/* Checks the counts of an anchor file that the library does not check.  Returns 0, also
 * for what the library refuses; or -EINVAL with `error` filled. */
int esi_otf2_check_anchor(const char *path, struct es_error *error);

/* Returns 0, -EEXIST if the path exists, or another -errno; both with `error`
 * filled. */
int esi_otf2_archive_open(const char *path,
                          struct es_error *error,
                          struct esi_otf2_archive *ret_archive);
/* Closes the archive and moves it to its path.  Returns 0 or -errno with `error`
 * filled. */
int esi_otf2_archive_close(struct esi_otf2_archive *archive, struct es_error *error);
/* Removes an archive that was not closed.  Accepts a zeroed struct. */
void esi_otf2_archive_discard(struct esi_otf2_archive *archive);

#endif
