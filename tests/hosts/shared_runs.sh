#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# shared_runs.sh - runs results_stay.sh on hosts that share the folder of run directories,
# as clusters with a common home directory do.

exec bash "${0%/*}/results_stay.sh" --shared-runs
