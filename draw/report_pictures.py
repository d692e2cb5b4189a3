# SPDX-License-Identifier: BSD-3-Clause
"""report_pictures - the pictures of a report's page, as SVG in data URIs. Where there are two runs each row has a bar of each."""
import base64
import io

import report_numbers as numbers
from show import pyplot

PARTS = (("mortar", "#2b6cb0", "by mortar"), ("native", "#8a8f98", "by the MPI library"),
         ("waiting", "#e0a030", "waiting for late ranks"))
RUNS = ("#2b6cb0", "#38a169")
PALE = 0.55  # of the second run's bars
SEEN = 0.003  # of the longest bar: shorter ones cannot be seen


def largest(order):
    """The keys with the largest values, as many as a picture shows."""
    least = SEEN * max(order.values(), default=0)
    return [key for key in sorted(order, key=lambda key: -order[key]) if order[key] > least][:numbers.MOST]


def uri(plots, figure):
    room = io.BytesIO()
    figure.savefig(room, format="svg", bbox_inches="tight", metadata={"Date": None})
    plots.close(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(room.getvalue()).decode()


def rows_figure(plots, labels, label, bars):
    """A figure with a row for each label, the first one at the top, of `bars` bars each."""
    figure, axis = plots.subplots(figsize=(8.5, 0.9 + 0.3 * len(labels) * max(1, 0.75 * bars)))
    axis.set_yticks(range(len(labels)))
    axis.set_yticklabels(labels, fontsize=8)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.set_xlabel(label, fontsize=8)
    axis.tick_params(axis="x", labelsize=8)
    axis.grid(axis="x", alpha=0.3)
    axis.locator_params(axis="x", nbins=8)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return figure, axis


def places(count, run, runs):
    """Where the bars of a run lie, and how wide they are."""
    width = 0.7 / runs
    return [at + (run - (runs - 1) / 2) * width for at in range(count)], width * 0.92


def stacked(plots, runs, rows):
    """rows: [(label, [Parts or None of each run])]"""
    figure, axis = rows_figure(plots, [label for label, _ in rows], "seconds, of the rank that spent most", len(runs))
    for r in range(len(runs)):
        ys, width = places(len(rows), r, len(runs))
        left = [0] * len(rows)
        for name, colour, label in PARTS:
            widths = [getattr(parts[r], name) if parts[r] else 0 for _, parts in rows]
            axis.barh(ys, widths, width, left=left, color=colour, alpha=1 if r == 0 else PALE,
                      label=label if r == 0 else None)
            left = [a + b for a, b in zip(left, widths)]
    axis.set_xlim(left=0)
    axis.legend(fontsize=8, loc="lower right")
    return uri(plots, figure)


def by_collective(plots, runs):
    order = {}
    for run in runs:
        for name, parts in run.collectives.items():
            order[name] = max(order.get(name, 0), parts.seconds)
    rows = [(name, [run.collectives.get(name) for run in runs]) for name in largest(order)]
    return stacked(plots, runs, rows) if rows else None


def by_cell(plots, runs):
    rows = numbers.cells(runs)
    wanted = largest({at: max(part.seconds for part in parts if part) for at, (_, parts) in enumerate(rows)})
    return stacked(plots, runs, [rows[at] for at in wanted]) if wanted else None


def gains(plots, runs):
    cells = {}
    for r, run in enumerate(runs):
        for row in run.gains[:numbers.MOST]:
            cells.setdefault(numbers.cell_text(numbers.cell_of(row)), []).append((r, row))
    if not cells:
        return None
    figure, axis = rows_figure(plots, list(cells), "time of the MPI library's own / time of what ran (1: alike)", 1)
    axis.axvline(1, color="black", linewidth=0.8)
    for at, found in enumerate(cells.values()):
        for number, (r, row) in enumerate(found):
            low, high = row["gain_interval"]
            gain, y = row["gain"], places(len(cells), r, len(runs))[0][at] + 0.04 * (number % 3)
            axis.errorbar([gain], [y], xerr=[[max(gain - low, 0)], [max(high - gain, 0)]], fmt="o", color=RUNS[r], markersize=5,
                          capsize=3, linewidth=1.4)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: "%g" % value)
    axis.xaxis.set_minor_formatter(lambda value, _: "%g" % value)
    axis.tick_params(axis="x", which="minor", labelsize=7)
    return uri(plots, figure)


def late(plots, runs):
    order = {}
    for run in runs:
        for rank, seconds, _ in run.late:
            order[rank] = max(order.get(rank, 0), seconds)
    ranks = largest(order)
    if not ranks:
        return None
    figure, axis = rows_figure(plots, ["rank %d" % rank for rank in ranks], "seconds that each other rank waited for it", len(runs))
    for r, run in enumerate(runs):
        found = {rank: seconds for rank, seconds, _ in run.late}
        ys, width = places(len(ranks), r, len(runs))
        axis.barh(ys, [found.get(rank, 0) for rank in ranks], width, color=RUNS[r])
    return uri(plots, figure)


def untaken(plots, runs):
    order = {}
    for run in runs:
        for row in run.untaken or []:
            order[row["function"]] = max(order.get(row["function"], 0), row["seconds"])
    names = largest(order)
    if not names:
        return None
    figure, axis = rows_figure(plots, names, "seconds, with the waits for requests, of the rank that spent most", len(runs))
    for r, run in enumerate(runs):
        found = {row["function"]: row["seconds"] for row in run.untaken or []}
        ys, width = places(len(names), r, len(runs))
        axis.barh(ys, [found.get(name, 0) for name in names], width, color=RUNS[r])
    return uri(plots, figure)


def draw(runs):
    """{name: data URI, or None where there is nothing to show}"""
    plots = pyplot("mortar report: pictures need")
    return {"collectives": by_collective(plots, runs), "cells": by_cell(plots, runs), "gains": gains(plots, runs),
            "late": late(plots, runs), "untaken": untaken(plots, runs)}
