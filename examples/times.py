# SPDX-License-Identifier: BSD-3-Clause
"""times - what heat-times and fft-times share: programs by themselves and under `mortar run`, in turns, a table, a file, a picture.

Ways to run: native; SH-Naive and SH-CO, the names of Li et al. 2018 for blocks that each rank pulls row by row, or all ranks
together in a cache-oblivious order (the Morton curve); auto, what mortar chooses by itself. The first repetition begins with the
first of them, the next with the second, and so on.

A row of the table is one program, number of ranks and way: medians over the runs of the whole time and of that within the calls of
MPI (the slowest rank's: waiting for others is in it), native / this way of these medians, and in brackets the quartiles of the
ratios of neighbouring runs. The last column is what mortar's report says of the calls. A run with another result ends the
measurement."""
import argparse
import collections
import csv
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "draw"))
import show  # noqa: E402

WAYS = {"native": None, "SH-Naive": ["--plan", "pull(rows)"], "SH-CO": ["--plan", "pull(CURVE)"], "auto": []}
KINDS = ("seconds", "communication")
FIELDS = ["case", "ranks", "grid", "points", "iterations", "repetition", "way", *KINDS, "rss", "pss", "result", "mpi", "machine"]
ROW = "%-27s %5s %-8s %-12s %-9s %9s %-18s %9s %-18s"

# What runs: its name in tables, the program of the build, its words, the collectives that it spends its time in, SH-CO's order.
Case = collections.namedtuple("Case", "name program words collectives curve")


def numbers(text):
    found = [int(word) for word in text.split(",") if word]
    if not all(number > 0 for number in found):
        raise ValueError(text)
    return found


def some_of(known):
    """For argparse: a list of these words."""
    def words(text):
        found = text.split(",")
        if not set(found) <= set(known):
            raise argparse.ArgumentTypeError("expected some of %s, not %s" % (",".join(known), text))
        return found
    return words


def parser_of(about, ranks):
    """The options that all have."""
    parser = argparse.ArgumentParser(description=about + "\n" + __doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="the build folder (build/release)")
    parser.add_argument("--mpi", default="ompi4", help="ompi4, mpich4, ompi5, mpich5 or impi (ompi4)")
    parser.add_argument("--ranks", type=numbers, default=ranks, help="how many, one after another (%s)" % ranks)
    parser.add_argument("--ways", type=some_of(WAYS), default=",".join(WAYS), help="(%s)" % ",".join(WAYS))
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (5); 0: only draw what the file has")
    parser.add_argument("--patience", type=float, default=300, help="seconds that one run may take (300)")
    parser.add_argument("--csv", metavar="FILE", help="every run; rows are added to a file that exists")
    parser.add_argument("--draw", metavar="PICTURE", help="bars of all runs, those that the file had as well; needs matplotlib")
    return parser


def run(options, case, ranks, way, report):
    """One run; what the program prints about it: {name: text}."""
    plan = [word.replace("CURVE", case.curve) for word in WAYS[way] or []]
    through = [] if WAYS[way] is None else [os.path.join(options.build, "bin", "mortar"), "run", "--report", report, *plan]
    words = [os.path.join(ROOT, "scripts", "mpi"), options.mpi, str(ranks), *through]
    words += [os.path.join(options.build, "examples", "%s-%s" % (case.program, options.mpi)), *case.words]
    done = subprocess.run(["timeout", "-k", "5", str(options.patience), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    facts = dict(re.findall(r"(\w+)=(\S+)", done.stdout))
    if done.returncode != 0 or not set(KINDS) <= set(facts):
        sys.exit("times: exit code %d of %s\n%s%s" % (done.returncode, " ".join(words), done.stdout, done.stderr))
    return facts


def what_ran(report, collectives):
    """The MPI library, and how many calls mortar took by which plans, or why not."""
    try:
        with open(report, encoding="utf-8") as file:
            facts = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit("times: mortar wrote no report: %s" % error)
    shares = {}
    for row in facts["collectives"]:
        if row["collective"] in collectives:
            name = "native: %s" % row["reason"] if row["plan"] == "native" and row["reason"] else row["plan"]
            shares[name] = shares.get(name, 0) + row["calls"]
    most = sorted(shares.items(), key=lambda item: -item[1])[:2]
    return facts["mpi"].split(",")[0], "; ".join("%s %d" % item for item in most) or "left to the MPI library"


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else list(values) * 3


def ratio(native, other):
    """Of the medians, and the quartiles of the ratios of neighbouring runs."""
    low, _, high = quartiles([a / b for a, b in zip(native, other)])
    return "%.2f (%.2f-%.2f)" % (statistics.median(native) / statistics.median(other), low, high)


def measure(options, case, ranks):
    """All ways in turns. Returns rows for the file and prints those of the table."""
    rows, said, mpi, result = [], {}, "", None
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for repetition in range(options.repeat):
            first = repetition % len(options.ways)
            for way in options.ways[first:] + options.ways[:first]:
                facts = run(options, case, ranks, way, report)
                facts["result"] = facts.get("hash") or facts.get("verification")
                result = result or facts["result"]
                if facts["result"] != result:
                    sys.exit("times: another result: %s, %d ranks, %s" % (case.name, ranks, way))
                if WAYS[way] is not None:
                    mpi, said[way] = what_ran(report, case.collectives)
                rows.append(dict({name: facts[name] for name in FIELDS if name in facts}, case=case.name, repetition=repetition,
                                 way=way, machine=platform.node()))
    for row in rows:
        row["mpi"] = mpi or options.mpi
    times = times_of(rows)
    for way in options.ways:
        cells = [case.name, ranks, rows[0]["grid"], rows[0]["points"], way]
        for kind in KINDS:
            cells.append("%.4f" % statistics.median(times[way, kind]))
            cells.append(ratio(times["native", kind], times[way, kind]) if way != "native" in options.ways else "")
        print((ROW % tuple(cells) + " " + said.get(way, "")).rstrip(), flush=True)
    return rows


def times_of(rows):
    """{(way, kind): times in the order of the repetitions}. 0 would divide nothing."""
    found = {}
    for row in rows:
        for kind in KINDS:
            found.setdefault((row["way"], kind), []).append(max(float(row[kind]), 1e-6))
    return found


def draw(rows, path, title):
    """Bars of medians, native being 1: for each case and number of ranks one of each way. The darker part is within the calls of
    MPI; the whisker goes from quartile to quartile."""
    plots = show.pyplot("--draw needs")
    groups = {}
    for row in rows:
        groups.setdefault((row["case"], int(row["ranks"])), []).append(row)
    groups = {name: times for name, times in ((name, times_of(found)) for name, found in groups.items())
              if ("native", "seconds") in times}
    ways = [way for way in WAYS if any((way, "seconds") in times for times in groups.values())]
    figure, axes = plots.subplots(figsize=(max(5, 1.2 + 1.05 * len(groups)), 4.2))
    width = 0.8 / len(ways)
    for number, way in enumerate(ways):
        places, bars = [], []  # bars: quartiles of the whole time, median of that within the calls
        for place, times in enumerate(groups.values()):
            if (way, "seconds") in times:
                whole, inside = ([t / statistics.median(times["native", "seconds"]) for t in times[way, kind]] for kind in KINDS)
                places.append(place + (number - (len(ways) - 1) / 2) * width)
                bars.append((*quartiles(whole), statistics.median(inside)))
        low, middle, high, inside = zip(*bars)
        color = "0.45" if way == "native" else "C%d" % number
        whiskers = [[m - l for m, l in zip(middle, low)], [h - m for m, h in zip(middle, high)]]
        axes.bar(places, middle, 0.92 * width, color=color, alpha=0.45, yerr=whiskers, ecolor="0.3", capsize=2)
        axes.bar(places, inside, 0.92 * width, color=color, label=way)
    axes.axhline(1, color="black", linewidth=0.7)
    axes.set_xticks(range(len(groups)))
    axes.set_xticklabels(["%s\n%d ranks\n%s" % (case.replace(", ", "\n"), ranks,
                                                duration(statistics.median(times["native", "seconds"])))
                          for (case, ranks), times in groups.items()], fontsize=8)
    axes.set_ylabel("time, native (below) = 1", fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(title, fontsize=10)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
    axes.margins(y=0.18)
    axes.legend(fontsize=8, ncols=len(ways), loc="upper center")
    show.save(figure, path)


def duration(seconds):
    return "%.3g s" % seconds if seconds >= 1 else "%.3g ms" % (1e3 * seconds)


def main(parser, options, cases, title):
    """Measures all cases with all numbers of ranks."""
    if options.repeat < 0:
        parser.error("--repeat: at least 0")
    if not options.repeat and not (options.csv and options.draw):
        parser.error("--repeat 0 only draws what a file has: expected --csv FILE and --draw PICTURE")
    if options.draw:
        show.with_matplotlib()
        show.pyplot("--draw needs")
        try:
            show.check(options.draw)
        except (OSError, ValueError) as error:
            parser.error("--draw %s: %s" % (options.draw, error))
    rows, there = [], bool(options.csv) and os.path.exists(options.csv)
    if there:
        with open(options.csv, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            there, rows = bool(reader.fieldnames), list(reader)
            if there and reader.fieldnames != FIELDS:
                parser.error("%s has other columns" % options.csv)
    if options.repeat:
        print("%s, %d runs each; load %.1f on %d processors\n" % (options.mpi, options.repeat, os.getloadavg()[0],
                                                                  len(os.sched_getaffinity(0))))
        print(ROW % ("program", "ranks", "grid", "points", "way", "seconds", "native / this", "in calls", "native / this") +
              " calls of plans")
    written = options.csv if options.csv and options.repeat else os.devnull
    os.makedirs(os.path.dirname(os.path.abspath(written)), exist_ok=True)
    with open(written, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not there:
            writer.writeheader()
        for case in cases if options.repeat else ():
            for ranks in options.ranks:
                found = measure(options, case, ranks)
                writer.writerows(found)
                file.flush()
                rows += found
    if options.draw:
        if not any(row["way"] == "native" for row in rows):
            parser.error("--draw: there is no native run to draw, and the others are drawn against those")
        try:
            draw(rows, options.draw, title)
        except ValueError as error:  # of a file that somebody else wrote
            parser.error("--draw: %s: %s" % (options.csv, error))
