/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* installed.h - where the files are that come with this command. */
#ifndef ES_CLI_LAUNCH_INSTALLED_H
#define ES_CLI_LAUNCH_INSTALLED_H

/* The file `in_build` of the build tree that this command runs from; else `name` in
 * the installed folder `folder`, which may have moved together with this command.
 * Caller frees; NULL: it is nowhere. */
char *esi_installed_find(const char *in_build, const char *folder, const char *name);

#endif
