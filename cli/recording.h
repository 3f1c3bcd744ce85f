/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recording.h - records a run from the command line: `record`, and `run --record`. */
#ifndef ES_CLI_RECORDING_H
#define ES_CLI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"
#include "cli/consumer.h"
#include "monitors/archive/recorder.h"

struct esi_recording {
    struct esi_recorder_config recorder;
    enum esi_format format;
    uint64_t limit_ns; /* ends after this time; 0 = with the run */
    bool quiet;        /* alongside a program: the summary goes to stderr */
    int ready;         /* descriptor that receives a byte when the recording is
                          ready, and is closed then or on failure; -1 = none */
    int lifeline;      /* descriptor whose end of file ends the recording; -1 = none */
};

/* Records until the run is over, the time limit, or SIGINT or SIGTERM, unless these are
 * ignored.  Returns an exit status, after a message if it is not success. */
int esi_recording_run(const struct esi_consumer *consumer,
                      const struct esi_recording *recording);

/* The process that records a run alongside `eventspace run`. */
struct esi_recording_child {
    pid_t pid; /* 0 = none */
    int lifeline;
};

/* Starts the process, which records `run` into `directory` from the first event on.
 * Returns 0 when it is ready, or an exit status after a message; then nothing is
 * left. */
int esi_recording_start(const char *run,
                        const char *directory,
                        struct esi_recording_child *ret_child);

/* Reports that the program has ended, and waits for the recording; prints a message if
 * that was killed. */
void esi_recording_end(struct esi_recording_child *child);

#endif
