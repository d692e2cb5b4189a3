# SPDX-License-Identifier: BSD-3-Clause
"""line - what the programs in Python of this folder share: the options, and the line of times and memory that main.c prints, too.
They make no MPI call and know nothing of mortar."""
import argparse
import re
import resource
import sys
import time

MIB = 1 << 20


def read_words(name, size, iterations):
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--size", type=int, default=size, help="MiB (%d)" % size)
    parser.add_argument("--iterations", type=int, default=iterations, help="(%d)" % iterations)
    return parser.parse_args()


def used():
    """Seconds of processors and page faults, of this process and its children."""
    usages = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages), sum(u.ru_minflt for u in usages)


def look():
    """MiB of this process at this moment, as look.c has them."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        kib = {name: int(size) for name, size in re.findall(r"^(\w+): +(\d+) kB", file.read(), re.M)}
    return {"rss": kib["Rss"] / 1024, "pss": kib["Pss"] / 1024,
            "private": (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024,
            "huge": (kib["AnonHugePages"] + kib["ShmemPmdMapped"]) / 1024}


def run(name, work, size, iterations):
    """work(size, iterations) returns how much was wrong, and what look() said where it matters."""
    words, (busy, faults), begin = read_words(name, size, iterations), used(), time.perf_counter()
    wrong, figures = work(words.size, words.iterations)
    inside, after = time.perf_counter() - begin, used()
    if wrong:
        sys.exit("%s: %d WRONG results" % (name, wrong))
    print("%s ranks=1 size=%d iterations=%d init=0 inside=%.6f finalize=0 busy=%.6f %s faults=%d answer=none" % (
        name, words.size, words.iterations, inside, after[0] - busy,
        " ".join("%s=%.1f" % figure for figure in figures.items()), after[1] - faults))
