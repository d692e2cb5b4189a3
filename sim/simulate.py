#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""simulate - runs of mortar-sim on simulated clusters, several processes at a time, and their results as CSV.

    sim/simulate.py 128x24 alltoall --bytes 8,64 --plans auto native 'bruck(2)' --selectors mpich --csv FILE"""
import argparse
import concurrent.futures
import contextlib
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import platforms

HERE = os.path.dirname(os.path.abspath(__file__))
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")  # whose choices SMPI's own collectives, `native`, imitate
COLUMNS = ("collective", "plan", "ran", "bytes", "ranks", "nodes", "seconds", "inside_seconds", "verified", "selector", "placement",
           "late") + tuple(platforms.DEFAULTS) + ("source",)


class Failed(Exception):
    """A simulation that did not run; the text says why."""


def find(name):
    """What the build has made: beside this file where mortar is installed or built, else in the build folder."""
    for folder in (os.path.dirname(HERE), os.environ.get("MORTAR_SIM", ""), os.path.join(HERE, "..", "build", "release", "lib")):
        if folder and os.path.exists(os.path.join(folder, name)):
            return os.path.abspath(os.path.join(folder, name))
    sys.exit("mortar: %s is not there: install SimGrid (libsimgrid-dev), then build mortar again" % name)


def version():
    smpirun = shutil.which("smpirun")
    if not smpirun:
        sys.exit("mortar: smpirun is not there: install SimGrid (libsimgrid-dev), then build mortar again")
    words = subprocess.run([smpirun, "-version"], capture_output=True, text=True, check=True).stdout.split()
    return "simulated (SimGrid %s)" % (words[2] if len(words) > 2 else "?")


def options(parameters, selector, collective, facts):
    """SimGrid's own calibration is that of Ethernet; factors of 1 leave the platform's latency and bandwidth as they are."""
    overhead = "0:%g:0" % parameters["overhead"]
    given = {"network/crosstraffic": "0", "smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1", "smpi/os": overhead,
             "smpi/ois": overhead, "smpi/or": overhead, "smpi/simulate-computation": "no", "smpi/display-timing": "no",
             "smpi/test": "0", "smpi/iprobe": "0", "smpi/wtime": "0", "contexts/stack-size": "512"}
    if facts == "measured":  # `mortar bench network` tests in a loop, which would never end if that took no time
        given["smpi/test"] = "1e-4"
    if ":" in selector:  # one algorithm of SMPI's, as in alltoall:bruck
        given["smpi/" + selector.partition(":")[0]] = selector.partition(":")[2]
    else:
        given["smpi/coll-selector"] = selector
        # creating a communicator broadcasts; algorithms that look at nodes begin with as many steps as there are ranks
        if collective != "bcast":
            given["smpi/bcast"] = "binomial_tree"
        # and they gather what they learn, some by as many steps again
        if collective == "alltoall":
            given["smpi/allgather"] = "bruck"
    return ["--cfg=%s:%s" % pair for pair in given.items()] + ["--log=root.thres:critical"]


running, ending = set(), threading.Event()  # set: all is over, what starts now ends at once


def end(process):
    """smpirun and the simulation, which are a group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_all():
    ending.set()
    for process in list(running):
        end(process)


def leave(number, _):
    """At a signal; at once, because a second one may come before what is above has learnt of the first."""
    end_all()
    sys.exit(128 + number)


class Cell:
    """One process: a collective, sizes and plans on one simulated cluster."""

    def __init__(self, size, collective, sizes, plans, parameters=None, placement="ordered", selector="mpich", late=0.0,
                 lean=False, platform=None, seconds=600, environment=None, model=False, facts="", hops=0):
        """facts, by what the cost model goes: "told" the prices; "measured", its own constants and the network as `mortar bench
        network` measures it; "usual", its own constants. Empty: the prices, and of a platform file's network nothing."""
        self.nodes, self.ranks_per_node = size
        self.collective, self.sizes, self.plans = collective, list(sizes), list(plans)
        self.parameters = dict(platforms.DEFAULTS, **(parameters or {}))
        self.placement, self.selector, self.late, self.lean = placement, selector, late, lean
        self.platform, self.seconds, self.environment, self.model = platform, seconds, environment or {}, model
        self.facts, self.hops = facts or ("" if platform else "told"), hops or platforms.hops(self.nodes)

    def name(self):
        what = "cost model" if self.model else self.selector if self.plans == ["native"] else " ".join(self.plans)
        return "%dx%d %s %s %s" % (self.nodes, self.ranks_per_node, self.collective, ",".join(map(str, self.sizes)), what)

    def command(self, folder):
        platform, hosts = platforms.write(folder, self.nodes, self.ranks_per_node, self.parameters, self.placement, self.platform)
        command = [shutil.which("smpirun"), "-quiet", "-np", str(self.nodes * self.ranks_per_node), "-platform", platform,
                   "-hostfile", hosts, *options(self.parameters, self.selector, self.collective, self.facts),
                   "--cfg=smpi/tmpdir:" + folder, find("mortar-sim"), self.collective, ",".join(map(str, self.sizes))]
        # smpirun splits its arguments at blanks; plans need none
        command += [plan.replace(" ", "") for plan in self.plans]
        if self.late:
            command += ["--late", "%g" % self.late]
        # algorithms that look at nodes find out about them at the first call
        if self.selector not in ("mpich", "ompi") or self.collective not in ("alltoall", "allgather"):
            command.append("--warm")
        return command + ["--lean"] * self.lean + ["--model"] * self.model

    def prices(self):
        """What is charged, and what the library's cost model is told of the network, if anything."""
        told = {name: self.parameters[name] for name in platforms.PRICES}
        if self.facts:
            told.update(bandwidth=self.parameters["bandwidth"], latency=self.hops * self.parameters["latency"], nodes=self.nodes,
                        facts=("told", "usual", "measured").index(self.facts))
        return told

    def key(self, plan, block):
        """What a row is the answer to."""
        numbers = tuple("%g" % self.parameters[name] for name in platforms.DEFAULTS)
        return (self.collective, plan, str(block), str(self.nodes * self.ranks_per_node), str(self.nodes), self.selector,
                self.placement, "%g" % self.late) + numbers

    def run(self):
        """Rows as dictionaries with COLUMNS; Failed when it does not work."""
        source = version()
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MORTAR_", "SMPI_"))}
        # A barrier has one price, whatever its shape (barrier, barrier_each).
        environment.update(MORTAR_TUNE="off", MORTAR_VERBOSE="0", MORTAR_FAN="1",
                           LD_LIBRARY_PATH=os.path.dirname(find("libmortar-sim-world.so")),
                           MORTAR_SIM_PRICES=" ".join("%s=%g" % pair for pair in self.prices().items()))
        environment.update(self.environment)
        with tempfile.TemporaryDirectory(prefix="mortar-sim-") as folder:
            environment["TMPDIR"] = folder  # smpirun fails where that is no folder
            process = subprocess.Popen(self.command(folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, start_new_session=True)
            running.add(process)
            if ending.is_set():
                end(process)
            try:
                output, errors = process.communicate(timeout=self.seconds)
            except subprocess.TimeoutExpired:
                end(process)
                output, errors = process.communicate()
                errors += "not done in %d s" % self.seconds
            finally:
                running.discard(process)
        rows = [self.row(fields, source) for fields in csv.reader(output.splitlines()) if len(fields) == 8]
        if process.returncode != 0 or any(row["verified"] == "WRONG" for row in rows):
            lines = [line for line in (errors + output).splitlines() if line.strip() and "Execution failed" not in line]
            raise Failed("%s: %s" % (self.name(), lines[-1] if lines else "exit code %d" % process.returncode), rows)
        return rows

    def row(self, fields, source):
        row = dict(zip(("collective", "plan", "ran", "bytes", "ranks", "seconds", "inside_seconds", "verified"), fields))
        row.update({name: "%g" % value for name, value in self.parameters.items()})
        row.update(nodes=self.nodes, selector=self.selector, placement=self.placement, late="%g" % self.late, source=source)
        return row


def key_of(row):
    """The same of a row."""
    return tuple(row[name] for name in ("collective", "plan", "bytes", "ranks", "nodes", "selector", "placement", "late")
                 + tuple(platforms.DEFAULTS))


def as_asked(row):
    """Did the plan run? One that does not do the collective, or cannot run there, leaves the choice to mortar."""
    return row["plan"] == "auto" or row["plan"].partition("(")[0] == row["ran"].partition("(")[0]


def family(text):
    """leader(2, bruck(4)) -> leader bruck: of each one the best variant is tried."""
    return "".join(c if c.isalpha() else " " for c in text).split()


def tried(expected, most):
    """Of what the cost model expects at one size its first choices, then the first of each family, so that a family that is put too
    far behind is seen."""
    texts = [row["plan"] for row in expected if row["plan"] != "native"]
    first = {}
    for text in texts:
        first.setdefault(" ".join(family(text)[:2]), text)
    return list(dict.fromkeys(texts[:most // 2] + list(first.values())))[:most]


class Progress:
    """A bar where a person watches, a line for each cell in a log; nothing when quiet."""

    def __init__(self, total, quiet=False):
        self.total, self.done, self.start, self.quiet, self.bar = total, 0, time.monotonic(), quiet, None
        if quiet or not sys.stderr.isatty():
            return
        try:
            from rich.console import Console
            from rich.progress import Progress as Bar
            self.bar = Bar(console=Console(stderr=True))
            self.bar.start()
            self.task = self.bar.add_task("simulating", total=total)
        except ImportError:
            pass

    def step(self, text):
        self.done += 1
        if self.quiet:
            return
        if self.bar:
            self.bar.update(self.task, advance=1, description=text[:60])
            if self.done == self.total:
                self.bar.stop()
        elif sys.stderr.isatty():
            width = 24 * self.done // self.total
            end = "\n" if self.done == self.total else ""
            print("\r[%-24s] %d/%d %-60s" % ("#" * width, self.done, self.total, text[:60]), end=end, file=sys.stderr, flush=True)
        else:
            print("%d/%d, %.0f s: %s" % (self.done, self.total, time.monotonic() - self.start, text), file=sys.stderr, flush=True)

    def stop(self):
        if self.bar:
            self.bar.stop()


def run_cells(cells, jobs=0, quiet=False, on_rows=None):
    """Rows of all cells that worked, in the cells' order, and what went wrong in the others."""
    if threading.current_thread() is threading.main_thread():
        for number in signal.SIGTERM, signal.SIGHUP:
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup does
                signal.signal(number, leave)
    progress, results, wrong = Progress(len(cells), quiet), {}, []
    with concurrent.futures.ThreadPoolExecutor(jobs or max(1, (os.cpu_count() or 2) // 2)) as pool:
        futures = {pool.submit(cell.run): index for index, cell in enumerate(cells)}
        try:
            for future in concurrent.futures.as_completed(futures):
                index = futures[future]
                told = cells[index].name()
                try:
                    results[index] = future.result()
                except Failed as failed:
                    wrong.append(failed.args[0])
                    results[index] = [row for row in failed.args[1] if row["verified"] != "WRONG"]
                    told = "FAILED " + failed.args[0]
                if on_rows:
                    on_rows(results[index])
                progress.step(told)
        except BaseException:  # Ctrl-C, or a signal that ends this process: no simulation stays behind
            end_all()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            progress.stop()
    return [row for index in sorted(results) for row in results[index]], wrong


def keep_foreign(path, parser):
    """write_csv may take the place of nothing, and of what it has written itself, maybe with fewer columns."""
    if path == "-" or not os.path.isfile(path):
        return
    with open(path, encoding="ascii", errors="replace") as file:
        line = file.readline()
    if line and not line.startswith(",".join(COLUMNS[:3]) + ","):
        parser.error("--csv %s: the file exists and is none of ours (its first line differs)" % path)


def write_csv(path, rows):
    """To a file, which is as it was where that fails, or where path is "-" to standard output."""
    beside = "%s.%d.new" % (os.path.realpath(path), os.getpid())
    try:
        with contextlib.nullcontext(sys.stdout) if path == "-" else open(beside, "w", encoding="ascii", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        if path != "-":
            os.replace(beside, os.path.realpath(path))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)


def read_csv(path):
    """Rows that are older than a parameter were made with its default."""
    with open(path, encoding="ascii", newline="") as file:
        return [dict({name: "%g" % value for name, value in platforms.DEFAULTS.items()}, **row) for row in csv.DictReader(file)]


def parse_sizes(text):
    """"8,64,512", or "8:4K:x2": from, to, factor."""
    def number(word):
        if not re.fullmatch(r"\d{1,10}[KMkm]?", word):
            raise ValueError
        return int(word.rstrip("KMkm")) * {"K": 1 << 10, "M": 1 << 20}.get(word[-1].upper(), 1)
    try:
        if ":" not in text:
            return [number(word) for word in text.split(",")]
        first, last, factor = text.split(":")
        first, last, factor = number(first), number(last), number(factor[1:] if factor.startswith("x") else factor)
        if first < 1 or last < first or factor < 2:
            raise ValueError
        sizes = [first]
        while sizes[-1] * factor <= last:
            sizes.append(sizes[-1] * factor)
        return sizes
    except ValueError:
        sys.exit("mortar: sizes \"%s\": expected bytes as 8,64,4K, or from:to:factor as 8:4K:x2" % text)


def main():
    parser = argparse.ArgumentParser(description="times of collectives on a simulated cluster, as CSV")
    parser.add_argument("size", metavar="NODESxRANKS")
    parser.add_argument("collective")
    parser.add_argument("--bytes", default="8,64,512")
    parser.add_argument("--plans", nargs="+", default=["native", "auto"])
    parser.add_argument("--selectors", nargs="+", default=["mpich"],
                        help="what native is: " + " ".join(SELECTORS) + ", or one of SMPI's algorithms as alltoall:bruck")
    parser.add_argument("--placement", choices=platforms.PLACEMENTS, default="ordered")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help=platforms.describe(platforms.DEFAULTS))
    parser.add_argument("--platform", help="a SimGrid platform file instead of a fat tree")
    parser.add_argument("--late", type=float, default=0.0, help="each rank enters later, by up to so many seconds")
    parser.add_argument("--lean", action="store_true", help="all ranks share one buffer, nothing is verified")
    parser.add_argument("--seconds", type=float, default=600, help="time limit of one process")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--csv", default="-", metavar="FILE")
    arguments = parser.parse_args()
    size = platforms.parse_size(arguments.size)
    if not size:
        parser.error("%s: expected NODESxRANKS, for instance 128x24" % arguments.size)
    if arguments.jobs < 0:
        parser.error("--jobs %d: expected how many simulations may run at a time" % arguments.jobs)
    if arguments.csv != "-":
        try:
            open(arguments.csv, "a", encoding="ascii").close()  # now, not after hours
            keep_foreign(arguments.csv, parser)
        except OSError as error:
            parser.error("--csv %s: %s" % (arguments.csv, error))
    cells = []
    for plan in arguments.plans:
        for selector in arguments.selectors if plan == "native" else arguments.selectors[:1]:
            for block in parse_sizes(arguments.bytes):
                cells.append(Cell(size, arguments.collective, [block], [plan], platforms.parse_settings(arguments.set),
                                  arguments.placement, selector, arguments.late, arguments.lean, arguments.platform,
                                  arguments.seconds))
    rows, wrong = run_cells(cells, arguments.jobs, arguments.quiet)
    write_csv(arguments.csv, rows)
    for text in wrong:
        print("mortar: " + text, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
