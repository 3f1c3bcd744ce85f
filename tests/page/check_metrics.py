#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_metrics.py - the page's /metrics, and a Prometheus that reads it.

usage: check_metrics.py RUN FOLDER

Writes the content of /metrics to FOLDER/page.
"""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from page_client import PATIENCE_S, View, check, finish

TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: eventspace
    authorization: {{credentials_file: {folder}/token}}
    static_configs: [{{targets: ["localhost:{port}"]}}]
"""


def await_metrics(view, wanted):
    """The text, once it has this series."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        status, headers, content = view.request("/metrics")
        if status == 200:
            check(headers["Content-Type"] == TYPE, f"{headers['Content-Type']}")
            if wanted in content.decode():
                return content.decode()
        else:
            check(status == 503 and "error" in json.loads(content), f"{status}")
        time.sleep(0.05)
    sys.exit(f"fault: no {wanted}")


def check_looks(view):
    """There is at most one look each second, independent of the number of requests."""
    begun = time.monotonic()
    texts = {view.request("/metrics")[2] for _ in range(50)}
    check(len(texts) <= 2 + (time.monotonic() - begun), f"{len(texts)} looks")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def query_until(port, expression, process):
    """The value of an expression, once it has one."""
    url = (f"http://127.0.0.1:{port}/api/v1/query?" +
           urllib.parse.urlencode({"query": expression}))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                result = json.load(reply)["data"]["result"]
            if result:
                return float(result[0]["value"][1])
        except OSError:
            pass
        time.sleep(0.1)
    return None


def check_prometheus(view, run, folder):
    with open(os.path.join(folder, "token"), "w", encoding="ascii") as file:
        file.write(view.token)
    configuration = os.path.join(folder, "prometheus.yml")
    with open(configuration, "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(folder=folder, port=view.place))
    port = free_port()
    with open(os.path.join(folder, "prometheus.log"), "wb") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}",
             f"--storage.tsdb.path={folder}/prometheus",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    atexit.register(process.kill)
    sent = query_until(
        port, f'eventspace_operations_total{{run="{run}",class="send"}} > 0', process)
    check(sent is not None, "Prometheus has no operations of the run")
    check(query_until(port, "up", process) == 1, "Prometheus cannot read the page")
    process.terminate()
    process.wait()


def main():
    run, folder = sys.argv[1:]
    view = View("--port", "0", run)
    text = await_metrics(view, "eventspace_late_rank_wait_seconds_total{")
    with open(os.path.join(folder, "page"), "w", encoding="utf-8") as file:
        file.write(text)
    check(f'eventspace_deadlocked_ranks{{run="{run}"}} 0\n' in text, text)
    view.refuses(401, "/metrics", headers={"X-EventSpace-Token": None})
    view.refuses(401, "/metrics", headers={"Authorization": "Bearer x"})
    view.refuses(400, "/metrics", top=1)
    check_looks(view)
    if shutil.which("prometheus"):
        check_prometheus(view, run, folder)
    else:
        print("no prometheus: that it reads the page is left out")
    check(view.stop(signal.SIGINT) == 0, "SIGINT")


main()
finish()
