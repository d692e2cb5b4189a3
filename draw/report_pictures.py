# SPDX-License-Identifier: BSD-3-Clause
"""report_pictures - the pictures of a report's page, as SVG in data URIs. Where there are two runs each row has a bar of each."""
import base64
import io

import report_numbers as numbers
from show import pyplot

PARTS = (("mortar", "#2b6cb0", "by mortar"), ("native", "#8a8f98", "by the MPI library"),
         ("waiting", "#e0a030", "waiting for late ranks"))
STRIP = ("#f4f5f7", "#f3d38a", "#e0a030", "#7a3b00")  # of nobody waits to all wait
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
    figure, axis = rows_figure(plots, ["rank %d" % rank for rank in ranks], "seconds that others waited for it, a mean", len(runs))
    for r, run in enumerate(runs):
        found = {rank: seconds for rank, seconds, _ in run.late}
        ys, width = places(len(ranks), r, len(runs))
        axis.barh(ys, [found.get(rank, 0) for rank in ranks], width, color=RUNS[r])
    return uri(plots, figure)


def late_over_time(plots, runs):
    """A strip for each rank that is late in some slice of the run: the darker, the longer the others waited for it."""
    from matplotlib.colors import LinearSegmentedColormap
    found = [(run.name, *run.late_over_time) for run in runs if run.late_over_time]
    if not found:
        return None
    colours = LinearSegmentedColormap.from_list("waiting", STRIP)
    counts = [len(rows) for _, _, rows in found]
    figure, axes = plots.subplots(len(found), 1, squeeze=False, layout="constrained", height_ratios=counts,
                                  figsize=(8.5, sum(0.75 + 0.27 * count for count in counts)))
    end = max(length * len(rows[0][1]) for _, length, rows in found)
    most = max(max(shares) for _, _, rows in found for _, shares in rows)
    for axis, (name, length, rows) in zip(axes[:, 0], found):
        edges = [at * length for at in range(len(rows[0][1]) + 1)], [at - 0.5 for at in range(len(rows) + 1)]
        image = axis.pcolormesh(*edges, [shares for _, shares in rows], cmap=colours, vmin=0, vmax=most, edgecolors="face",
                                linewidth=0.4)
        axis.set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=8)
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlim(0, end)
        axis.hlines([at + 0.5 for at in range(len(rows) - 1)], 0, end, color="white", linewidth=2)
        axis.tick_params(labelsize=8, left=False)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        if len(runs) > 1:
            axis.set_title(name, fontsize=8, loc="left", parse_math=False)
    axes[-1, 0].set_xlabel("seconds since MPI_Init", fontsize=8)
    scale = figure.colorbar(image, ax=list(axes[:, 0]), pad=0.01, aspect=max(6, 1.5 * sum(counts)))
    scale.ax.yaxis.set_major_formatter(lambda value, _: "%g %%" % (100 * value))
    scale.ax.locator_params(nbins=4)
    scale.ax.tick_params(labelsize=7)
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
            "late": late(plots, runs), "over_time": late_over_time(plots, runs), "untaken": untaken(plots, runs)}
