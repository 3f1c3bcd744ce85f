/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The fuzz targets for libFuzzer. Links fuzz_NAME point to this program; it runs the
 * target of the name by which it is called. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *slash = strrchr((*argv)[0], '/');

    (void)argc;
    target = fuzz_target_find(slash ? slash + 1 : (*argv)[0]);
    if (!target) {
        fprintf(stderr, "fuzzer: call it as fuzz_NAME\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return target->run(data, size);
}
