/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* shiviz_give.h - gives the events of an execution, as an ordered stream. */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_GIVE_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_GIVE_H

#include "monitors/eventset/formats/shiviz_order.h"
#include "monitors/eventset/formats/shiviz_read.h"

/* Tells the traces, whose names begin with `prefix` and whose numbers begin with that
 * of statistics->traces, and gives the events; adds to `statistics`.  0, -ENOMEM, or
 * what the sink gave. */
int esi_shiviz_give(const struct esi_shiviz_order *order,
                    const char *prefix,
                    const struct es_set_sink *sink,
                    struct es_shiviz_statistics *statistics);

#endif
