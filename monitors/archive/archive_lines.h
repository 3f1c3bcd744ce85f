/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_lines.h - what writer and reader of an archive's tables agree on. */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_LINES_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_LINES_H

#define ESI_ARCHIVE_FORMAT "eventspace-archive"
/* Goes up when readers of the version before would be wrong. */
#define ESI_ARCHIVE_VERSION 1

#endif
