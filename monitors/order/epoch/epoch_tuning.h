/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_tuning.h - what can be chosen of the store "epoch". */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_TUNING_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_TUNING_H

#include <stdbool.h>
#include <stdint.h>

/* For tests.  The defaults are zeros. */
struct esi_epoch_tuning {
    uint32_t seal_entries; /* length at which a log is packed; 0 = the store's choice */
    bool is_tight;         /* behave as if memory use were close to that of vectors */
};

#endif
