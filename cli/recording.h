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
    bool quiet;        /* beside a program: what was recorded goes to stderr */
    int ready;         /* descriptor that gets a byte when all is ready, and is closed
                          then or where it will never be; -1 = none */
    int lifeline;      /* descriptor whose end ends the recording; -1 = none */
};

/* Records until the run is over, the time is up, or SIGINT or SIGTERM come, unless
 * these are ignored.  An exit status, after the message where it is none of success. */
int esi_recording_run(const struct esi_consumer *consumer,
                      const struct esi_recording *recording);

/* The process that records a run beside `eventspace run`. */
struct esi_recording_child {
    pid_t pid; /* 0 = there is none */
    int lifeline;
};

/* Starts it: records `run` into `directory` from the first event on.  Returns 0 when it
 * is ready, or an exit status after saying why it cannot be; then nothing is left. */
int esi_recording_start(const char *run,
                        const char *directory,
                        struct esi_recording_child *ret_child);

/* Says that the program has ended, and waits for the recording to; says so where that
 * was killed. */
void esi_recording_end(struct esi_recording_child *child);

#endif
