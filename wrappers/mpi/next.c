/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Keeps the addresses of the real MPI's routines that we call ourselves. */
#include "config.h"

#include "wrappers/mpi/mpi_next.h"

_Atomic(void *) esi_real[ESI_ROUTINE_COUNT];
