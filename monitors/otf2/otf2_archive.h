/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_archive.h - an archive of OTF2 that is written beside its place, and what the
 * library says of failures.
 */
#ifndef ES_MONITORS_OTF2_OTF2_ARCHIVE_H
#define ES_MONITORS_OTF2_OTF2_ARCHIVE_H

#include <otf2/otf2.h>

#include "eventspace/error.h"

struct esi_otf2_archive {
    OTF2_Archive *archive;
    char *path;   /* where it is to be; owned, as the next */
    char *beside; /* where it is written */
};

/* What the library says is kept instead of printed, until esi_otf2_end_calls().  One
 * thread at a time. */
void esi_otf2_begin_calls(void);
void esi_otf2_end_calls(void);
/* Sets the error to what the library said first, or to the words of the code.
 * Returns -EINVAL, or the errno that it stands for. */
int esi_otf2_error(OTF2_ErrorCode code, const char *path, struct es_error *error);

/* -EEXIST with words: there is something; another -errno with words. */
int esi_otf2_archive_open(const char *path,
                          struct es_error *error,
                          struct esi_otf2_archive *ret_archive);
/* Closes it and gives it its place.  0 or -errno with words. */
int esi_otf2_archive_close(struct esi_otf2_archive *archive, struct es_error *error);
/* What was not closed is removed.  Zeros are allowed. */
void esi_otf2_archive_discard(struct esi_otf2_archive *archive);

#endif
