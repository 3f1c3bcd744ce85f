/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* import_otf2.h - imports the events of an OTF2 archive. */
#ifndef ES_CLI_IMPORT_OTF2_H
#define ES_CLI_IMPORT_OTF2_H

#include "eventspace/event.h"

/* Reads the archive with this anchor file into a sink.  Returns 0, or the exit status
 * after a message. */
int esi_import_otf2(const char *path, const struct es_set_sink *sink);

#endif
