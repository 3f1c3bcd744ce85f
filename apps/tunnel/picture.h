/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A picture of the particle density. */
#ifndef APPS_TUNNEL_PICTURE_H
#define APPS_TUNNEL_PICTURE_H

#include "crew.h"

/*
 * Rank 0 writes the density, averaged over blocks of cells and all matrices, to a
 * portable graymap (PGM) of at most 320 columns: mean density is middle gray, solid is
 * white. Collective over the layout's communicator. Returns 0 or the same negative
 * errno value on all ranks.
 */
int picture_write(const char *path,
                  const struct tunnel *tunnel,
                  const struct exchange_layout *layout,
                  const struct crew *crew);

#endif
