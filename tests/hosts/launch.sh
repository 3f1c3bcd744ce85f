#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# launch.sh - replaces ssh: mpiexec -launcher ssh -launcher-exec .../launch.sh
#
# It is called as `launch.sh -OPTIONS HOST COMMAND...`. As under ssh, a shell on the host
# parses the command again; the launcher has quoted it for that.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec "${0%/*}/hosts.sh" exec "$host" sh -c "$*"
