/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* import_otf2.h - the events of an archive of OTF2. */
#ifndef ES_CLI_IMPORT_OTF2_H
#define ES_CLI_IMPORT_OTF2_H

#include "eventspace/event.h"

/* Reads the archive of an anchor file into a sink.  0 or the exit status after the
 * message. */
int esi_import_otf2(const char *path, const struct es_set_sink *sink);

#endif
