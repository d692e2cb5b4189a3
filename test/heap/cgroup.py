# SPDX-License-Identifier: BSD-3-Clause
"""cgroup - memory moves near the limit of a memory cgroup: little of it is there twice meanwhile, and it counts once afterwards.
usage: cgroup.py PROGRAM    (limit.c, with the heap preloaded by $LD_PRELOAD). Skipped where no cgroup can be made."""
import os
import subprocess
import sys

SKIP = 77
MIB = 1 << 20
FILLED, SLACK = 160, 12  # MiB that the program fills, and what else it may take


def groups():
    """Folders in which a memory cgroup can be made, each with the names of its limit and of its peak."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            folder, kind, options = line.split()[1:4]
            if kind == "cgroup" and "memory" in options.split(","):
                yield folder, "memory.limit_in_bytes", "memory.max_usage_in_bytes"
            elif kind == "cgroup2":
                yield folder, "memory.max", "memory.peak"


def write(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(str(value))


def limited(parent, limit, peak, program):
    """(the program's result, MiB of its peak), or None: there can be no group here."""
    folder = os.path.join(parent, "mortar-test-%d" % os.getpid())
    try:
        os.mkdir(folder)
    except OSError:
        return None
    try:
        write(folder, limit, (FILLED + SLACK) * MIB)
        result = subprocess.run([program, str(FILLED)], stdout=subprocess.PIPE, universal_newlines=True, check=False,
                                preexec_fn=lambda: write(folder, "cgroup.procs", os.getpid()))
        with open(os.path.join(folder, peak), encoding="utf-8") as file:
            return result, int(file.read()) / MIB
    except OSError:
        return None
    finally:
        os.rmdir(folder)


def main():
    for parent, limit, peak in groups():
        found = limited(parent, limit, peak, sys.argv[1])
        if found:
            result, most = found
            print("limit %d MiB, peak %.1f MiB: %s, exit code %d" %
                  (FILLED + SLACK, most, result.stdout.strip() or "not a word", result.returncode))
            return 1 if result.returncode else 0
    print("no memory cgroup can be made here")
    return SKIP


if __name__ == "__main__":
    sys.exit(main())
