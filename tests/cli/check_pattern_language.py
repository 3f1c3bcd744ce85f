#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_pattern_language.py - docs/pattern-language.md says what a search does.

The page has fenced blocks:
  events SET         an event set
  pattern SET begin  statements with which all other blocks of the set begin
  pattern SET        predicates, each followed by "# finds" and its matches, or "nothing"
  refused SET        statements, the last followed by "# refused:" and what is said of it
Every engine is asked.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

FAULTS = []


def fault(text):
    FAULTS.append(text)
    print(f"NOT ok: {text}")


def blocks(page):
    """(line, words behind the fence, text) of each block that has words."""
    found = []
    words = None
    for number, line in enumerate(page.split("\n"), 1):
        if not line.startswith("```"):
            if words:
                text.append(line)
        elif words is None:
            begin, words, text = number, line[3:].split(), []
        else:
            if words:
                found.append((begin, words, "\n".join(text) + "\n"))
            words = None
    return found


class Set:
    """An event set in a file, and with what its patterns begin."""

    def __init__(self, folder, name, text):
        self.path = os.path.join(folder, name + ".jsonl")
        self.begin = ""
        self.traces = [t.lower() for t in json.loads(text.split("\n")[0])["traces"]]
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(text)

    def event(self, label):
        """p1, or 2:1 for the first event of the second trace."""
        named = re.fullmatch(r"([a-z]+)(\d+)", label)
        if named:
            return self.traces.index(named[1]), int(named[2])
        trace, index = label.split(":")
        return int(trace) - 1, int(index)

    def expected(self, text):
        """{p1,p2} {q1} as a set of sets of events."""
        if text.strip() == "nothing":
            return set()
        matches = re.findall(r"\{([^}]*)\}", text)
        if not matches or re.sub(r"\{[^}]*\}", "", text).strip():
            raise ValueError(f"not understood: {text}")
        return {frozenset(self.event(label) for label in match.split(",") if label)
                for match in matches}


def expectations(events, text):
    """What each predicate of a block finds."""
    expected = {}
    name = None
    for line in text.split("\n"):
        code, mark, found = line.partition("# finds ")
        for defined in re.finditer(r"(?:^|;)\s*(\w+)\s*:=", code):
            name = defined[1]
        if mark:
            expected[name] = events.expected(found)
    return expected


def run(*arguments):
    program = os.path.join(os.environ["top_builddir"], "cli/eventspace")
    return subprocess.run([program, "search", *arguments], capture_output=True,
                          text=True, timeout=60)


def found_matches(output, names):
    """Of each predicate the list of its matches."""
    found = {name: [] for name in names}
    for line in output.splitlines():
        answer = json.loads(line)
        name = answer.get("pattern", next(iter(names)))
        found[name].append(frozenset(tuple(event) for event in answer["match"]))
    return found


def write_pattern(folder, events, text):
    path = os.path.join(folder, "example.pattern")
    with open(path, "w", encoding="utf-8") as out:
        out.write(events.begin + text)
    return path


def engines(folder, events):
    """Those that there are: the message about one that is not names them."""
    path = write_pattern(folder, events, 'Any := ["", "", ""];')
    done = run(events.path, "-p", path, "--engine", "no such")
    named = done.stderr.partition("expected ")[2]
    found = re.findall(r"\w+", named.replace(" or ", " "))
    if not found:
        fault(f"no engines: {done.stderr}")
    return found


def show(matches):
    return " ".join(str(sorted(match)) for match in sorted(matches, key=sorted)) or "nothing"


def check_found(folder, line, events, text, engine):
    expected = expectations(events, text)
    path = write_pattern(folder, events, text)
    done = run(events.path, "-p", path, *expected, "--format", "json", "--engine", engine)
    status = 0 if any(expected.values()) else 1
    if done.returncode != status or done.stderr:
        fault(f"line {line}, {engine}: status {done.returncode}: {done.stderr}")
        return 0
    found = found_matches(done.stdout, expected)
    for name, matches in expected.items():
        if len(found[name]) != len(set(found[name])):
            fault(f"line {line}, {engine}: {name} finds a match twice")
        if set(found[name]) != matches:
            fault(f"line {line}, {engine}: {name} finds {show(found[name])}, "
                  f"expected {show(matches)}")
    return len(expected)


def check_refused(folder, line, events, text):
    expected = text.partition("# refused: ")[2].strip()
    done = run("--check", "-p", write_pattern(folder, events, text), events.path)
    said = done.stderr.split("\n")[0]  # the line that is shown has the comment, too
    if not expected or done.returncode != 2 or expected not in said:
        fault(f"line {line}: expected '{expected}', status {done.returncode}: "
              f"{done.stdout}{done.stderr}")


def check_page(folder, page):
    sets = {}
    counts = {"finds": 0, "refused": 0}
    for line, words, text in blocks(page):
        if words[0] == "events":
            sets[words[1]] = Set(folder, words[1], text)
        elif words[0] == "pattern" and words[2:] == ["begin"]:
            sets[words[1]].begin = text
        elif words[0] == "pattern":
            for engine in engines(folder, sets[words[1]]):
                counts["finds"] += check_found(folder, line, sets[words[1]], text, engine)
        elif words[0] == "refused":
            check_refused(folder, line, sets[words[1]], text)
            counts["refused"] += 1
    return counts


def main():
    path = os.path.join(os.environ["top_srcdir"], "docs/pattern-language.md")
    with open(path, encoding="utf-8") as page, tempfile.TemporaryDirectory() as folder:
        counts = check_page(folder, page.read())
    print(f"{counts['finds']} searches, {counts['refused']} refusals")
    if counts["finds"] < 100 or counts["refused"] < 15:
        fault("the page has lost its examples")
    return 1 if FAULTS else 0


sys.exit(main())
