/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Marks a symbol that the public library exports; all others are hidden. */
#ifndef EVENTSPACE_API_H
#define EVENTSPACE_API_H

#define ES_API __attribute__((visibility("default")))

#endif
