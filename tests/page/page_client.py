# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""page_client.py - starts `eventspace view` for a test and sends requests to it."""

import atexit
import http.client
import json
import os
import re
import select
import socket
import subprocess
import sys
import urllib.parse

EVENTSPACE = os.path.join(os.environ["top_builddir"], "cli", "eventspace")
PATIENCE_S = 60  # after which a missing result is a fault

faults = []


def check(truth, words):
    if not truth:
        faults.append(words)
        print("fault:", words)


def finish():
    sys.exit(1 if faults else 0)


class Connection(http.client.HTTPConnection):
    """A connection to a Unix socket, or to a port of the loopback interface."""

    def __init__(self, place):
        super().__init__("localhost", timeout=PATIENCE_S)
        self.place = place

    def connect(self):
        if isinstance(self.place, int):
            self.sock = socket.create_connection(("127.0.0.1", self.place), self.timeout)
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(self.place)


class View:
    """A command that serves; `place` is the path of its socket or its port."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [EVENTSPACE, "view", *arguments], stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        self.said = self.read_until(r"open http://localhost:8080/\n|#token=\w+\n")
        found = re.search(r"localhost:(\d+)/#token=(\w+)", self.said)
        self.token = found.group(2) if found else None
        self.place = (int(found.group(1)) if found
                      else re.search(r"socket (\S+)", self.said).group(1))

    def read_until(self, wanted):
        said = ""
        while not re.search(wanted, said):
            if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
                sys.exit(f"fault: the command says nothing: {said}")
            part = os.read(self.process.stdout.fileno(), 4096).decode()
            if not part:
                sys.exit(f"fault: the command ended with {self.process.wait()}: {said}")
            said += part
        return said

    def request(self, path, method="GET", headers=None, **parameters):
        """The status, the headers and the content of a reply."""
        if parameters:
            path += "?" + urllib.parse.urlencode(parameters)
        sent = {"X-EventSpace-Token": self.token} if self.token else {}
        sent.update(headers or {})
        connection = Connection(self.place)
        try:
            connection.request(method, path, headers={
                name: value for name, value in sent.items() if value is not None})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def get(self, path, **parameters):
        """The content of a reply that must succeed; decoded if it is JSON."""
        status, headers, content = self.request(path, **parameters)
        if status != 200:
            sys.exit(f"fault: {path} {parameters}: {status} {content[:300]}")
        if headers["Content-Type"] != "application/json":
            return content
        return json.loads(content)

    def refuses(self, wanted, path, method="GET", headers=None, **parameters):
        status, _, content = self.request(path, method, headers, **parameters)
        check(status == wanted, f"{method} {path} {headers} {parameters}: {status}")
        if method == "GET":
            check("error" in json.loads(content), f"{path}: no words")

    def open_stream(self):
        connection = Connection(self.place)
        connection.request("GET", "/api/stream", headers=(
            {"X-EventSpace-Token": self.token} if self.token else {}))
        return connection, connection.getresponse()

    def await_stream(self):
        """Whether a stream becomes available in time."""
        end = os.times().elapsed + PATIENCE_S
        while os.times().elapsed < end:
            connection, reply = self.open_stream()
            reply.close()
            connection.close()
            if reply.status == 200:
                return True
            select.select([], [], [], 0.02)
        return False

    def await_reply(self, path, holds, **parameters):
        """Repeat a request until `holds` is true of the reply; return the reply."""
        end = os.times().elapsed + PATIENCE_S
        while True:
            reply = self.get(path, **parameters)
            if holds(reply):
                return reply
            if os.times().elapsed > end:
                sys.exit(f"fault: {path} {parameters} never came to hold: {reply}")
            select.select([], [], [], 0.02)

    def stop(self, signal):
        """Send a signal and return the exit status."""
        self.process.send_signal(signal)
        return self.process.wait(PATIENCE_S)
