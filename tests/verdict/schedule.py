# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""schedule.py - generates random programs with or without a planted fault, and the
truth about them.

A schedule is a list of steps for each rank.  It is made from one sequence of events in
which all ranks take part, so it always terminates.  A fault changes one place.
simulate() executes the steps by MPI's rules (short standard sends are buffered, long
ones wait for their receive) and returns the ranks that cannot continue and their knots.

Messages for receives from any source have a separate tag for each event and are short,
so the outcome does not depend on the order in which they are matched.

The MPI's tree decides which ranks leave a rooted collective operation before all have
entered it.  Each choice has its own truth, and the verdict must be one of them.
"""

import itertools
import random

ANY = -1
LONG = 1 << 17
SHORT = (0, 4, 512)
TAG_NEVER = 77
COLLECTIVES = ("barrier", "allreduce", "allgather", "alltoall")
FAULTS = ("drop-send", "drop-receive", "swap", "tag", "source", "root", "missing-collective",
          "other-collective", "double-receive", "communicator")


class Schedule:
    def __init__(self, seed, ranks, colours):
        self.seed, self.ranks, self.colours = seed, ranks, colours
        self.steps = [[] for _ in range(ranks)]
        self.requests = [0] * ranks
        # World ranks of the members of each communicator, for each rank in it.
        self.members = [{rank: [other for other in range(ranks) if line[other] == line[rank]]
                         for rank in range(ranks) if line[rank] >= 0} for line in colours]

    def add(self, rank, *step):
        self.steps[rank].append(step)

    def new_request(self, rank):
        self.requests[rank] += 1
        return self.requests[rank] - 1

    def lines(self):
        for rank, steps in enumerate(self.steps):
            for step in steps:
                yield "%d %s" % (rank, " ".join(map(str, step)))


class Generator:
    """Generates fault-free schedules."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        ranks = self.random.randint(2, 4)
        colours = [[0] * ranks]
        for _ in range(self.random.randint(1, 3)):
            colours.append([self.random.randint(-1, 1) for _ in range(ranks)])
        self.schedule = Schedule(seed, ranks, colours)
        self.pending = [[] for _ in range(ranks)]  # requests not yet waited for
        self.tag = 100

    def pick_pair(self):
        """Returns a communicator, and two of its members as world ranks."""
        while True:
            communicator = self.random.randrange(len(self.schedule.colours))
            groups = [group for group in self.schedule.members[communicator].values()
                      if len(group) > 1]
            if groups:
                return (communicator, *self.random.sample(self.random.choice(groups), 2))

    def rank_in(self, communicator, rank):
        return self.schedule.members[communicator][rank].index(rank)

    def add_receive(self, rank, communicator, source, tag):
        if self.random.random() < 0.4 and self.schedule.requests[rank] < 60:
            request = self.schedule.new_request(rank)
            self.schedule.add(rank, "irecv", communicator, source, tag, request)
            self.pending[rank].append(request)
        else:
            self.schedule.add(rank, "recv", communicator, source, tag)

    def add_send(self, rank, communicator, target, tag, short):
        size = self.random.choice(SHORT if short or self.random.random() < 0.6 else (LONG,))
        kind = self.random.choice(("send", "send", "isend", "send" if short else "ssend"))
        if kind == "isend" and self.schedule.requests[rank] < 60:
            request = self.schedule.new_request(rank)
            self.schedule.add(rank, "isend", communicator, target, tag, size, request)
            self.pending[rank].append(request)
        else:
            kind = "send" if kind == "isend" else kind
            self.schedule.add(rank, kind, communicator, target, tag, size)

    def add_message(self):
        communicator, source, target = self.pick_pair()
        tag = self.random.randint(1, 3)
        self.add_send(source, communicator, self.rank_in(communicator, target), tag, False)
        self.add_receive(target, communicator, self.rank_in(communicator, source), tag)

    def add_wildcards(self):
        """Lets all members of a communicator send to one, which receives from any
        source."""
        communicator, target, _ = self.pick_pair()
        group = self.schedule.members[communicator][target]
        self.tag += 1
        for source in group:
            if source != target:
                self.add_send(source, communicator, group.index(target), self.tag, True)
        for _ in group[1:]:
            self.add_receive(target, communicator, ANY, self.tag)

    def add_collective(self):
        communicator, rank, _ = self.pick_pair()
        group = self.schedule.members[communicator][rank]
        kind = self.random.choice((*COLLECTIVES, "ibarrier", "bcast", "reduce"))
        root = self.random.randrange(len(group))
        for member in group:
            if kind != "ibarrier":
                self.schedule.add(member, kind, communicator, root)
            elif self.schedule.requests[member] < 62:
                request = self.schedule.new_request(member)
                self.schedule.add(member, "ibarrier", communicator, request)
                self.pending[member].append(request)
        if kind == "ibarrier" and any(self.schedule.requests[m] >= 62 for m in group):
            raise OverflowError
        # All leave a rooted operation together, so its tree affects only who waits for
        # whom.
        if kind in ("bcast", "reduce"):
            for member in group:
                self.schedule.add(member, "barrier", communicator, 0)

    def add_waits(self, rank):
        requests = self.pending[rank]
        if len(requests) == 1:
            self.schedule.add(rank, "wait", requests[0])
        elif requests:
            requests = requests[-14:]
            if self.random.random() < 0.4:
                self.schedule.add(rank, "waitany", *requests)
            self.schedule.add(rank, "waitall", *requests)
        self.pending[rank] = [r for r in self.pending[rank] if r not in requests]

    def make(self):
        for _ in range(self.random.randint(4, 14)):
            event = self.random.random()
            if event < 0.5:
                self.add_message()
            elif event < 0.65:
                self.add_wildcards()
            else:
                self.add_collective()
            if self.random.random() < 0.4:
                self.add_waits(self.random.randrange(self.schedule.ranks))
        for rank in range(self.schedule.ranks):
            while self.pending[rank]:
                self.add_waits(rank)
        return self.schedule


def generate(seed):
    """Returns the fault-free schedule of this seed."""
    return Generator(seed).make()


# --- Faults ------------------------------------------------------------------------------

def places(schedule, kinds):
    return [(rank, i) for rank, steps in enumerate(schedule.steps)
            for i, step in enumerate(steps) if step[0] in kinds]


def replace(steps, i, *values):
    """Replaces the values (position, new) of a step."""
    step = list(steps[i])
    for position, value in values:
        step[position] = value
    steps[i] = tuple(step)


def plant(schedule, fault, choice):
    """Changes one place.  Returns False if the schedule has no place for this fault."""
    kinds = {"drop-send": ("send", "ssend"), "drop-receive": ("recv",),
             "tag": ("recv", "irecv"), "source": ("recv", "irecv"), "root": ("bcast", "reduce"),
             "missing-collective": (*COLLECTIVES,), "other-collective": (*COLLECTIVES,),
             "double-receive": ("recv",), "swap": ("send", "ssend", "recv", *COLLECTIVES),
             "communicator": ("recv", "irecv")}[fault]
    candidates = places(schedule, kinds)
    if not candidates:
        return False
    rank, i = choice.choice(candidates)
    steps = schedule.steps[rank]
    if fault in ("drop-send", "drop-receive", "missing-collective"):
        del steps[i]
    elif fault == "tag":
        replace(steps, i, (3, TAG_NEVER))
    elif fault == "double-receive":
        steps.insert(i, steps[i])
    elif fault == "swap":
        if i + 1 == len(steps) or steps[i + 1][0] not in kinds:
            return False
        steps[i], steps[i + 1] = steps[i + 1], steps[i]
    elif fault == "other-collective":
        others = [kind for kind in COLLECTIVES if kind != steps[i][0]]
        replace(steps, i, (0, choice.choice(others)))
    elif fault == "communicator":
        others = [n for n, members in enumerate(schedule.members)
                  if n != steps[i][1] and len(members.get(rank, ())) > max(1, steps[i][2])]
        if not others:
            return False
        replace(steps, i, (1, choice.choice(others)))
    else:  # source, root: another rank
        size = len(schedule.members[steps[i][1]][rank])
        own = schedule.members[steps[i][1]][rank].index(rank)
        others = [n for n in range(size) if n != steps[i][2] and
                  (fault == "root" or n != own)]
        if not others or steps[i][2] == ANY:
            return False
        replace(steps, i, (2, choice.choice(others)))
    return True


def generate_faulty(seed):
    """Returns (schedule, fault) with a fault planted by this seed."""
    choice = random.Random("fault %d" % seed)
    while True:
        fault = choice.choice(FAULTS)
        schedule = generate(seed)
        if plant(schedule, fault, choice):
            return schedule, fault


# --- Truth -------------------------------------------------------------------------------

class Message:
    def __init__(self, source, tag, waits):
        self.source, self.tag, self.waits, self.taken = source, tag, waits, False


class Receive:
    def __init__(self, source, tag):
        self.source, self.tag, self.done = source, tag, False

    def accepts(self, message):
        return self.tag == message.tag and self.source in (ANY, message.source)


class Mismatch(Exception):
    def __init__(self, ranks):
        super().__init__()
        self.ranks = ranks


class Simulator:
    """Executes each rank until it waits.  A wait is (all or any, [condition]), and a
    condition returns (is met, the ranks that could meet it, all or any).  Ranks in
    `early` leave rooted operations as soon as some tree allows it, others when all have
    entered."""

    def __init__(self, schedule, early=()):
        self.schedule, self.early = schedule, early
        self.next = [0] * schedule.ranks
        self.waits = [None] * schedule.ranks
        self.requests = [{} for _ in range(schedule.ranks)]
        self.arrived = {}   # (communicator, target) -> unmatched messages
        self.posted = {}    # (communicator, target) -> unmatched receives
        self.entered = {}   # (communicator, rank) -> operations, in order

    def world(self, communicator, rank, peer):
        return self.schedule.members[communicator][rank][peer]

    def send(self, rank, communicator, peer, tag, waits):
        target = self.world(communicator, rank, peer)
        message = Message(rank, tag, waits)
        for receive in self.posted.setdefault((communicator, target), []):
            if receive.accepts(message):
                self.posted[communicator, target].remove(receive)
                receive.done = message.taken = True
                break
        else:
            self.arrived.setdefault((communicator, target), []).append(message)
        return lambda: (message.taken or not waits, [target], "any")

    def receive(self, rank, communicator, peer, tag):
        group = self.schedule.members[communicator][rank]
        receive = Receive(ANY if peer == ANY else group[peer], tag)
        for message in self.arrived.setdefault((communicator, rank), []):
            if receive.accepts(message):
                self.arrived[communicator, rank].remove(message)
                receive.done = message.taken = True
                break
        else:
            self.posted.setdefault((communicator, rank), []).append(receive)
        sources = [r for r in group if r != rank] if peer == ANY else [group[peer]]
        return lambda: (receive.done, sources, "any")

    def enter(self, rank, communicator, operation):
        group = self.schedule.members[communicator][rank]
        mine = self.entered.setdefault((communicator, rank), [])
        mine.append(operation)
        instance = len(mine) - 1
        differing = {other for other in group
                     if len(self.entered.get((communicator, other), ())) > instance and
                     self.entered[communicator, other][instance] != operation}
        if differing:
            raise Mismatch(differing | {rank})

        def condition():
            missing = [other for other in group
                       if len(self.entered.get((communicator, other), ())) <= instance]
            if self.leaves(rank, group, operation, missing):
                missing = []
            elif operation[0] == "bcast" and group[operation[1]] in missing:
                missing = [group[operation[1]]]
            return not missing, missing, "all"
        return condition

    def leaves(self, rank, group, operation, missing):
        """Whether the rank leaves before the missing ranks enter.  Two ranks need no
        tree."""
        name, root = operation
        is_early = len(group) == 2 or rank in self.early
        if name == "bcast":
            return rank == group[root] or (is_early and group[root] not in missing)
        return name == "reduce" and rank != group[root] and is_early

    def execute(self, rank, step):
        """Executes a step and returns its wait: (all or any, conditions)."""
        name, *a = step
        if name in ("send", "ssend"):
            return "all", [self.send(rank, *a[:3], name == "ssend" or a[3] >= LONG)]
        if name == "recv":
            return "all", [self.receive(rank, *a)]
        if name == "isend":
            self.requests[rank][a[4]] = self.send(rank, *a[:3], a[3] >= LONG)
        elif name == "irecv":
            self.requests[rank][a[3]] = self.receive(rank, *a[:3])
        elif name == "ibarrier":
            self.requests[rank][a[1]] = self.enter(rank, a[0], ("ibarrier", 0))
        elif name in ("wait", "waitall", "waitany"):
            # A waitany returns at once if all its requests are already complete.
            conditions = [self.requests[rank][r] for r in a]
            return ("any" if name == "waitany" else "all"), conditions
        else:
            root = a[1] if name in ("bcast", "reduce") else 0
            return "all", [self.enter(rank, a[0], (name, root))]
        return "all", []

    def is_released(self, rank):
        how, conditions = self.waits[rank]
        met = [condition()[0] for condition in conditions]
        return all(met) if how == "all" else any(met)

    def advance(self, rank):
        """Executes all steps that the rank can.  Returns whether there were any."""
        moved = False
        while True:
            if self.waits[rank] is not None:
                if not self.is_released(rank):
                    return moved
                self.waits[rank] = None
            if self.next[rank] == len(self.schedule.steps[rank]):
                return moved
            step = self.schedule.steps[rank][self.next[rank]]
            self.next[rank] += 1
            self.waits[rank] = self.execute(rank, step)
            moved = True

    def run(self):
        while any([self.advance(rank) for rank in range(self.schedule.ranks)]):
            pass

    def left_over(self):
        return [rank for rank in range(self.schedule.ranks) if self.waits[rank] is not None]

    def successors(self, rank):
        """Returns the ranks that a rank which cannot continue waits for."""
        ranks = set()
        if self.waits[rank] is None:
            return ranks
        for condition in self.waits[rank][1]:
            met, others, _ = condition()
            if not met:
                ranks |= set(others)
        return ranks


def find_knots(edges):
    """Returns the sink components of a graph {node: successors}, as sorted tuples."""
    reach = {}
    for node in edges:
        seen, todo = set(), [node]
        while todo:
            for other in edges[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reach[node] = seen
    return sorted({tuple(sorted(reach[node] | {node})) for node in edges
                   if all(node in reach[other] for other in reach[node])})


def simulate_tree(schedule, early):
    """Returns the truth: a list of (kind, ranks).  DEADLOCK is a knot, MISSING are the
    ranks in MPI_Finalize that others wait for, MISMATCH is a group with differing
    operations."""
    simulator = Simulator(schedule, early)
    try:
        simulator.run()
    except Mismatch as mismatch:
        return [("MISMATCH", tuple(sorted(mismatch.ranks)))]
    left_over = simulator.left_over()
    edges = {rank: simulator.successors(rank) for rank in range(schedule.ranks)}
    truth = [("DEADLOCK", knot) for knot in find_knots(edges)
             if set(knot) <= set(left_over)]
    missing = set().union(*edges.values()) - set(left_over)
    if missing:
        truth.append(("MISSING", tuple(sorted(missing))))
    return truth


def simulate(schedule):
    """Returns the truths of all trees, without duplicates."""
    truths = []
    for count in range(schedule.ranks + 1):
        for early in itertools.combinations(range(schedule.ranks), count):
            truth = simulate_tree(schedule, early)
            if truth not in truths:
                truths.append(truth)
    return truths
