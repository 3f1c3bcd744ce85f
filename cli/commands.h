/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The subcommands, one line for each cli/cmd_NAME.c. */
#ifndef ES_CLI_COMMANDS_H
#define ES_CLI_COMMANDS_H

#include "cli/command.h"

/* In the order of a user's first steps; the last one has no name. */
extern const struct esi_command esi_commands[];

int esi_cmd_check(int argc, char **argv);
int esi_cmd_clean(int argc, char **argv);
int esi_cmd_collect(int argc, char **argv);
int esi_cmd_collectives(int argc, char **argv);
int esi_cmd_events(int argc, char **argv);
int esi_cmd_complete(int argc, char **argv);
int esi_cmd_demo(int argc, char **argv);
int esi_cmd_doctor(int argc, char **argv);
int esi_cmd_exec(int argc, char **argv);
int esi_cmd_export(int argc, char **argv);
int esi_cmd_heartbeat(int argc, char **argv);
int esi_cmd_import(int argc, char **argv);
int esi_cmd_list(int argc, char **argv);
int esi_cmd_map(int argc, char **argv);
int esi_cmd_metrics(int argc, char **argv);
int esi_cmd_order(int argc, char **argv);
int esi_cmd_profile(int argc, char **argv);
int esi_cmd_record(int argc, char **argv);
int esi_cmd_run(int argc, char **argv);
int esi_cmd_scope(int argc, char **argv);
int esi_cmd_search(int argc, char **argv);
int esi_cmd_compare(int argc, char **argv);
int esi_cmd_time(int argc, char **argv);
int esi_cmd_top(int argc, char **argv);
int esi_cmd_view(int argc, char **argv);
int esi_cmd_why(int argc, char **argv);

#endif
