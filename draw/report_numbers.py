# SPDX-License-Identifier: BSD-3-Clause
"""report_numbers - what a report holds, added up as people ask for it: by collective, by communicator and size, by late rank."""
import json
import os

MOST = 20  # rows of a picture, the largest ones
NUMBER, NONE = (int, float), type(None)
NEEDED = {"collective": str, "ranks": int, "plan": str, "reason": (str, NONE), "from": int, "to": int, "calls": int,
          "seconds": NUMBER, "waiting_seconds": (*NUMBER, NONE)}  # in each row


class Wrong(Exception):
    pass


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
    except OSError as why:
        raise Wrong("%s: %s" % (path, why.strerror)) from None
    except ValueError:
        raise Wrong("%s is no JSON: `mortar run --report FILE.json` writes such a report" % path) from None
    fine = isinstance(facts, dict) and {"mortar", "mpi", "ranks", "heap"} <= set(facts) and isinstance(
        facts.get("collectives"), list)
    if not fine or not all(isinstance(row, dict) and all(isinstance(row.get(name, ...), kind) for name, kind in NEEDED.items())
                           for row in facts["collectives"]):
        raise Wrong("%s is no report of mortar's: `mortar run --report FILE.json` writes one" % path)
    return facts


class Parts:
    """Seconds of some calls: waiting for late ranks, and the rest, by mortar or by the MPI library."""

    def __init__(self):
        self.calls, self.waiting, self.mortar, self.native = 0, 0, 0, 0

    def add(self, row):
        waiting = max(row.get("waiting_seconds") or 0, 0)
        self.calls += row["calls"]
        self.waiting += waiting
        if row["plan"] == "native":
            self.native += row["seconds"] - waiting
        else:
            self.mortar += row["seconds"] - waiting
        return self

    @property
    def seconds(self):
        return self.waiting + self.mortar + self.native


class Run:
    def __init__(self, path):
        facts = read(path)
        self.name = name_text(os.path.basename(path))
        self.facts = facts
        self.rows = sorted(facts["collectives"], key=lambda row: -row["seconds"])
        self.untaken = facts.get("not_taken")
        self.moved = facts.get("moved") or {"buffers": 0, "bytes": 0, "seconds": 0}
        self.teams = [team for team in facts.get("teams", []) if not team.get("native")]
        self.all = Parts()
        self.collectives, self.cells = {}, {}
        for row in self.rows:
            self.all.add(row)
            self.collectives.setdefault(row["collective"], Parts()).add(row)
            self.cells.setdefault(cell_of(row), Parts()).add(row)

    @property
    def gains(self):
        """Rows with an interval, those with the most time first."""
        return [row for row in self.rows if row.get("pairs", 0) > 1 and row.get("gain_interval")]

    @property
    def late(self):
        """[(rank, seconds that others waited for it, as means over those that did, added up, times)], the worst first."""
        ranks = {}
        for row in self.rows:
            for late in row.get("late", []):
                seconds, times = ranks.get(late["rank"], (0, 0))
                ranks[late["rank"]] = seconds + late["seconds"], times + late["times"]
        return sorted(((rank, *found) for rank, found in ranks.items()), key=lambda late: -late[1])

    @property
    def late_over_time(self):
        """(seconds of a slice, [(label, share of each slice that each of the others waited)]); None: not known, or nobody."""
        found = self.facts.get("late_over_time")
        if not found or not found["by_rank"]:
            return None
        length = found["slice_seconds"]
        rows = [("rank %d" % row["rank"], row["seconds"]) for row in found["by_rank"]]
        if max(found["rest"]) > 0.003 * length:  # else it cannot be seen
            rows.append(("all others", found["rest"]))
        return length, [(label, [min(seconds / length, 1) for seconds in row]) for label, row in rows]

    @property
    def setup_seconds(self):
        return sum(team["setup_seconds"] for team in self.teams)


def cell_of(row):
    """A communicator and a size: (collective, ranks, nodes, smallest bytes of a block; -1: of any size)."""
    sized = row["to"] > 0 or row.get("reason") == "no bytes"
    return row["collective"], row["ranks"], row.get("nodes") or 1, row["from"] if sized else -1


def cell_text(cell):
    collective, ranks, nodes, least = cell
    where = "%d ranks" % ranks + (" on %d nodes" % nodes if nodes > 1 else "")
    return "%s, %s, %s" % (collective, where, "any size" if least < 0 else bytes_text(least) + " and more")


def cells(runs):
    """[(text, [Parts or None of each run])], those with the most time first."""
    order = {}
    for run in runs:
        for cell, parts in run.cells.items():
            order[cell] = max(order.get(cell, 0), parts.seconds)
    return [(cell_text(cell), [run.cells.get(cell) for run in runs]) for cell in sorted(order, key=lambda cell: -order[cell])]


def name_text(path):
    """A name may be any bytes, and a page has none but UTF-8."""
    return os.fsencode(path).decode(errors="replace")


def seconds_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            break
    return "0 s" if seconds <= 0 else "%.3g %s" % (seconds / scale, unit)


def bytes_text(count):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return "%.4g %s" % (count / scale, unit)
    return "%d bytes" % count


def share_text(part, whole):
    return "%.0f %%" % (100 * part / whole) if whole > 0 else "-"
