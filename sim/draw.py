# SPDX-License-Identifier: BSD-3-Clause
"""draw - pictures of simulated times: matplotlib's where it is there, else text."""
import sys


def fastest(table, most):
    """Those of {name: {bytes: seconds}} that are the fastest at some size, then by their mean rank, at most so many."""
    sizes = sorted({block for times in table.values() for block in times})
    ranks = {name: 0.0 for name in table}
    winners = set()
    for block in sizes:
        order = sorted((times[block], name) for name, times in table.items() if block in times)
        winners.add(order[0][1])
        for place, (_, name) in enumerate(order):
            ranks[name] += place / len(sizes)
        for name, times in table.items():
            if block not in times:
                ranks[name] += len(table)
    kept = sorted(table, key=lambda name: (name not in winners and not name.startswith("native"), ranks[name]))[:most]
    return {name: table[name] for name in kept}


def as_text(table, title, out=sys.stdout, width=60):
    """A line of each plan and size, on a logarithmic scale."""
    times = [seconds for plan in table.values() for seconds in plan.values() if seconds > 0]
    if not times:
        return
    least, most = min(times), max(times)
    print(title, file=out)
    for block in sorted({block for plan in table.values() for block in plan}):
        print("%d bytes" % block, file=out)
        for name, plan in table.items():
            if plan.get(block, 0) > 0:
                import math
                length = 1 + int((width - 1) * math.log(plan[block] / least) / math.log(most / least)) if most > least else 1
                print("  %-32s %-*s %10.2f us" % (name[:32], width, "#" * length, plan[block] * 1e6), file=out)


def over_sizes(path, table, title):
    """Time over block size, one line for each name of {name: {bytes: seconds}}."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("mortar: matplotlib is not installed, so here is text instead of %s" % path, file=sys.stderr)
        as_text(table, title)
        return
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for name, times in table.items():
        sizes = sorted(times)
        axes.plot(sizes, [times[block] * 1e6 for block in sizes], label=name, marker="o", markersize=4,
                  linestyle="--" if name.startswith("native") else "-")
    sizes = sorted({block for times in table.values() for block in times})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [("%d" % s) if s < 1024 else "%gK" % (s / 1024) for s in sizes])
    axes.set_xlabel("bytes of a block")
    axes.set_ylabel("microseconds")
    axes.set_title(title, fontsize=10)
    axes.grid(True, alpha=0.3)
    all_times = [seconds for times in table.values() for seconds in times.values()]
    named = "123456789" if max(all_times) < 10 * min(all_times) else "25"  # a range of less than a decade has a single major tick
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "%g" % value if ("%.0e" % value)[0] in named else "")
    axes.tick_params(axis="y", which="minor", labelsize=7)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
