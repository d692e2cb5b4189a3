# SPDX-License-Identifier: BSD-3-Clause
"""show - how measurements look in tables and pictures: sizes as people write them, ratios, curves over the size of a message."""
import importlib.util
import os
import signal
import statistics
import sys

DISTRIBUTION = "/usr/bin/python3"  # where python3-matplotlib is
STYLES = ("o-", "s-", "^-", "v--", "d--", "x:", "+:", "*:")


def short(size):
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= scale and size % scale == 0:
            return "%d%s" % (size // scale, unit)
    return str(size)


def quarters(above, below):
    """The quartiles of the ratios of equal repetitions."""
    ratios = [above[r] / below[r] for r in sorted(above) if r in below]
    return statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3


def end_silently():
    """From here on Ctrl-C, or a reader that has gone, ends this without a traceback."""
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def with_matplotlib():
    """A script that begins with this is run by the distribution's Python if its own has no matplotlib."""
    if not importlib.util.find_spec("matplotlib") and os.path.exists(DISTRIBUTION) and sys.executable != DISTRIBUTION:
        os.execv(DISTRIBUTION, [DISTRIBUTION, "-B", *sys.argv])


def pyplot(need):
    """That of matplotlib; without it this is the end, and `need` says who needs it."""
    if os.path.expanduser("~") == "~":  # no HOME, no entry in passwd: matplotlib would fail; where nothing can be made it does not
        os.environ["HOME"] = os.devnull
    try:
        import matplotlib
    except ImportError:
        sys.exit("%s matplotlib (python3-matplotlib)" % need)
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mortar"  # the same picture from the same numbers
    from matplotlib import pyplot as found
    return found


def check(path):
    """Raises an OSError or a ValueError if no picture can be saved there: to be asked before what takes long."""
    from matplotlib.backend_bases import FigureCanvasBase
    ending, known = os.path.splitext(path)[1][1:], FigureCanvasBase.get_supported_filetypes()
    if ending and ending.lower() not in known:
        raise ValueError("no format %s: expected one of %s" % (ending, ", ".join(sorted(known))))
    there = os.path.lexists(path)
    with open(path, "ab"):
        pass
    if not there:
        os.unlink(path)


def over_sizes(axis, sizes, label=""):
    """Makes a size of each tick of the axis."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes)
    axis.set_xticklabels([short(n) for n in sizes], fontsize=7)
    axis.set_xlabel(label, fontsize=8)
    axis.grid(alpha=0.3)
    axis.tick_params(axis="y", labelsize=7)


def over_time(axis, times):
    """A logarithmic axis of these times. A range of less than a decade may have no major tick, so minor ones are named, too."""
    named = "123456789" if max(times, default=1) < 10 * min(times, default=1) else "25"
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(lambda value, _: "%g" % value)
    axis.yaxis.set_minor_formatter(lambda value, _: "%g" % value if ("%.0e" % value)[0] in named else "")


def save(figure, path):
    """The ending of the path says which format."""
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.endswith(".svg") else None)
