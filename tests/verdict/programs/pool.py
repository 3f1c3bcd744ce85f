# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""pool.py - a pool of Python threads: one sends after the sign "go" (cases.h), while the
main thread receives.  The argument is an extension with the MPI calls (pool_calls.c)."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SIGNS = os.environ["VERDICT_SIGNS"]
calls = ctypes.CDLL(sys.argv[1])
rank = calls.start()


def send_late():
    subprocess.run(["sh", "-c", "while ! [ -e '%s/go' ]; do sleep 0.01; done" % SIGNS],
                   check=True)
    calls.send_to(1 - rank)


with ThreadPoolExecutor(2) as pool:
    sent = pool.submit(send_late)
    with open("%s/reached.%d" % (SIGNS, rank), "w", encoding="utf-8"):
        pass
    value = calls.receive_from(1 - rank)
    sent.result()
calls.stop()
sys.exit(value != 1 - rank)
