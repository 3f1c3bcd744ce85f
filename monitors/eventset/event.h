/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event.h - the events of event sets, as eventspace/event.h installs them. */
#ifndef ES_MONITORS_EVENTSET_EVENT_H
#define ES_MONITORS_EVENTSET_EVENT_H

#include "eventspace/event.h"

#endif
