#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""faults - the campaign: what goes wrong on real machines, and what programs do to the utmost. Each row runs natively and under
mortar, and says what was left behind. Rows are in rows.py, places.py and ends.py; docs/proof.md says what they cover.

A row fails if it is right natively and wrong under mortar, or if mortar leaves behind what native does not. What goes wrong
natively too says nothing of mortar. A row that cannot be run here is skipped, with the reason."""
import argparse
import collections
import os
import subprocess
import sys
import time

import apart
import ends
import places
import rows
from rows import ROWS
from side import MISTAKES, NATIVE, Side, Skip, Wrong

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402

AGAIN = 2  # how often a row that failed is tried again, on both sides
assert places and ends  # they fill ROWS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows, or how their names begin; default: all")
    parser.add_argument("--mpi", default="", metavar="A,B", help="only under these MPIs")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--system", action="store_true", help="also rows that change settings of the whole machine for seconds")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="each row so often")
    parser.add_argument("--mistake", choices=sorted(MISTAKES), help="plant a mistake on mortar's side: each row has to fail")
    return parser.parse_args()


def chosen(given, mistake=None):
    for word in given:
        if not any(row.name.startswith(word) for row in ROWS):
            sys.exit("faults: no row is called %s; --list shows them" % word)
    return [row for row in ROWS if (not given or any(row.name.startswith(word) for word in given)) and
            (not mistake or mistake in row.notices)]


def play(row, side):
    """(what is wrong or None, what the row saw, what was left)"""
    why = seen = None
    try:
        seen = row.play(side)
    except (Wrong, run.Failure) as wrong:
        why = str(wrong)
    return why, seen, collections.Counter(side.left)


def one(row, flavour, mistake, say):
    """Runs a row under one MPI. (verdict, why)"""
    natively = play(row, Side(flavour, NATIVE))
    say("native %s" % shown(natively))
    verdict, whole = "fine", []
    for kind in row.sides:
        tried = [natively]
        got = play(row, Side(flavour, kind, mistake, natively[1]))
        say("; %s %s" % (kind, shown(got)))
        more = got[2] - natively[2]
        if not got[0] and not more:
            verdict = "better" if natively[0] and verdict == "fine" else verdict
            continue
        bad = 1
        for _ in range(0 if mistake or natively[0] else AGAIN):
            tried.append(play(row, Side(flavour, NATIVE)))
            again = play(row, Side(flavour, kind, mistake, natively[1]))
            bad += bool(again[0] or again[2] - natively[2])
        kept = sum((left for _, _, left in tried), collections.Counter())
        says_nothing = any(why for why, _, _ in tried) if got[0] else not more - kept
        if len(tried) > 1:
            say(" (%d of %d; natively %d of %d)" % (bad, len(tried), sum(bool(t[0]) for t in tried), len(tried)))
        whole.append("%s: %s" % (kind, got[0] or "left behind: " + ", ".join(more)))
        now = "same" if says_nothing else "FAILED"
        if now == "FAILED" and not got[0] and len(tried) > 1 and bad == 1:
            now = "once"  # a library that is killed in MPI_Init may leave something, by chance
        verdict = "FAILED" if "FAILED" in (verdict, now) else now
    return verdict, "; ".join(whole) or natively[0] or ""


def shown(got):
    why, seen, left = got
    text = "WRONG: " + why if why else "right"
    text += " (%s)" % str(seen) if seen and not why else ""
    return text + (", left: " + ", ".join(left) if left else "")


def wanted_of(names):
    """The installed MPIs; where names are given, those of them."""
    installed = subprocess.run([run.LAUNCH, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    unknown = set(names) - set(rows.ALL)
    if unknown:
        sys.exit("faults: --mpi %s: expected some of %s" % (",".join(sorted(unknown)), ",".join(rows.ALL)))
    return [flavour for flavour in installed if not names or flavour in names]


def campaign(given, mistake, wanted):
    plays = [(row, flavour) for row in chosen(given.rows, mistake) for flavour in wanted if flavour in row.flavours] * given.times
    found, began = [], time.monotonic()
    for number, (row, flavour) in enumerate(plays, 1):
        print("[%d/%d] %-18s %-7s" % (number, len(plays), row.name, flavour), end=" ", flush=True)
        start = time.monotonic()
        try:
            if row.system and not given.system:
                raise Skip("it changes the whole machine: only with --system")
            verdict, why = one(row, flavour, mistake, lambda text: print(text, end="", flush=True))
        except Skip as skip:
            verdict, why = "skipped", str(skip)
            print("skipped: " + why, end="")
        print("; %s, %.1f s" % (verdict, time.monotonic() - start), flush=True)
        found.append((row, flavour, verdict, why))
    print("\n%d plays in %.0f s" % (len(plays), time.monotonic() - began))
    return found


def table(found):
    """Rows and MPIs, and what is worth a sentence."""
    flavours = [flavour for flavour in rows.ALL if any(flavour == f for _, f, _, _ in found)]
    print("%-18s %s  %s" % ("row", " ".join("%-8s" % flavour for flavour in flavours), "what it is"))
    for row in ROWS:
        verdicts = {}
        for other, flavour, verdict, _ in found:
            if other is row and verdicts.get(flavour) != "FAILED":
                verdicts[flavour] = verdict
        if verdicts:
            print("%-18s %s  %s" % (row.name, " ".join("%-8s" % verdicts.get(f, "") for f in flavours), row.about))
    for row, flavour, verdict, why in found:
        if verdict != "fine" and why:
            print("%s: %s, %s: %s" % (verdict, row.name, flavour, why))
    count = collections.Counter(verdict for _, _, verdict, _ in found)
    print(", ".join("%d %s" % (number, verdict) for verdict, number in count.most_common()))
    print("fine: right on both sides; same: wrong natively, too; better: wrong natively only; once: something left, not again")
    return count


def main():
    given = arguments()
    if given.list:
        for row in chosen(given.rows):
            print("%-18s %-34s %s" % (row.name, " ".join(row.flavours), row.about))
        return 0
    code = apart.again()
    if code is not None:
        return code
    wanted = wanted_of([name for name in given.mpi.split(",") if name])
    if not wanted:
        print("skipped: %s is not installed" % (given.mpi or "an MPI"))
        return 77
    found = campaign(given, given.mistake, wanted)
    count = table(found)
    if not given.mistake:
        return 1 if count["FAILED"] or not found else 0
    missed = ["%s, %s" % (row.name, flavour) for row, flavour, verdict, _ in found if verdict not in ("FAILED", "skipped")]
    print("the mistake '%s' was not noticed: %s" % (given.mistake, "; ".join(missed) or "nowhere"))
    return 1 if missed or not count["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
