/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints the collective trees in force. */
#ifndef ES_CLI_TREE_SHOW_H
#define ES_CLI_TREE_SHOW_H

#include "cli/command.h"
#include "monitors/advice/tree_hosts.h"

/* Prints all of them as a table or as JSON Lines.  Returns 0, -ENOMEM or -EIO. */
int esi_tree_show(const struct esi_tree_rows *trees,
                  const char *run,
                  enum esi_format format);

/* Prints one line each, only for trees that are not the library's. */
void esi_tree_list(const struct esi_tree_rows *trees,
                   const char *run,
                   enum esi_format format);

#endif
