/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* installed.h - locates the files installed with this command. */
#ifndef ES_CLI_LAUNCH_INSTALLED_H
#define ES_CLI_LAUNCH_INSTALLED_H

/* Finds the file `in_build` if this command runs from a build tree; otherwise `name` in
 * the installation folder `folder`, which may have been moved together with this
 * command.  Caller frees; NULL if it was not found. */
char *esi_installed_find(const char *in_build, const char *folder, const char *name);

#endif
