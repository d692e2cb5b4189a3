# SPDX-License-Identifier: BSD-3-Clause
"""places - rows of the campaign that depend on the machine around a job: memory groups, users, hidden processes, clocks, disks, the
kernel's settings, other jobs. What a row changes it puts back, also when it is killed."""
import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile

import apart
from rows import ALL, ROWS, Row, able, right, row
from side import DEFAULT, FIRST, Skip, Wrong

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402

sys.path.insert(0, os.path.join(run.ROOT, "test", "heap"))
import cgroup  # noqa: E402

MIB = 1 << 20
HELD = 48  # MiB that each rank holds and exchanges
USERS = (65534, 65533)


def as_root():
    if os.geteuid() != 0 or not os.path.exists("/proc/self/uid_map"):
        raise Skip("only root can do this")
    with open("/proc/self/uid_map", encoding="ascii") as file:
        if file.read().split() != ["0", "0", "4294967295"]:
            raise Skip("only the machine's root can do this")


# ---- memory groups ----


def gone(folder):
    """Removes a group, as soon as its last process is no more."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)
    return not os.path.exists(folder)


@contextlib.contextmanager
def group(version):
    """A memory group: its folder, and the names of its limit and its peak."""
    kinds = {"memory.limit_in_bytes": 1, "memory.max": 2}
    for parent, limit, peak in cgroup.groups():
        if kinds[limit] != version:
            continue
        try:
            folder = tempfile.mkdtemp(prefix=apart.GROUPS % os.path.basename(os.environ[apart.INSIDE]), dir=parent)
        except OSError as why:
            raise Skip("no memory group can be made: %s" % why) from None
        try:
            if not os.path.exists(os.path.join(folder, limit)):
                raise Skip("cgroup v%d has no memory controller here" % version)
            yield folder, limit, peak
        finally:
            run.wait_until(lambda: gone(folder), 10, "%s cannot be removed" % folder)
        return
    raise Skip("no cgroup v%d for memory" % version)


def limited(version, enough):
    """natively without a limit, to see what it needs; under mortar with little more, or on both sides with less than that."""
    def play(side):
        needed = int(side.natively.split()[0]) if side.natively and enough else 0
        most = (needed * 5 // 4 + 32 if side.under_mortar else 4096) if enough else 4 * HELD
        with group(version) as (folder, limit, peak):
            cgroup.write(folder, limit, most * MIB)
            program = side.program("faults-calls", "3", "2000", "hold", str(HELD))
            done = side.job(4, program, limit=60, entering=lambda: cgroup.write(folder, "cgroup.procs", os.getpid()))
            with open(os.path.join(folder, peak), encoding="ascii") as file:
                top = int(file.read()) // MIB
        if enough:
            done.right(r"\b4 ranks, 0 errors")
            return "%d MiB at most" % top
        done.over(60)
        if done.code == 0:
            raise Wrong("nothing was killed")
        return "exit code %d after %.1f s" % (done.code, done.seconds)
    return play


for number in (1, 2):
    ROWS.append(Row("memory-v%d" % number, "a cgroup v%d with little more memory than the job needs natively" % number,
                    limited(number, True)))
    ROWS.append(Row("killed-v%d" % number, "a cgroup v%d with too little: the kernel kills ranks, the job ends" % number,
                    limited(number, False), notices=("leave",)))


# ---- users and processes ----


def as_user(side, user, *words):
    if subprocess.run(["setpriv", "--reuid=%d" % user, "--clear-groups", "test", "-r", side.program("faults-calls")[0]],
                      check=False).returncode:
        raise Skip("another user cannot read the build")
    return ["setpriv", "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups", *words]


@row("hidepid", "other users' processes are hidden in /proc")
def hidepid(side):
    as_root()
    hide = 'mount -t proc -o hidepid=2 proc /proc || exit 99; shift; exec "$@"'
    around = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", hide, "sh", "-", *as_user(side, USERS[0])]
    done = side.job(3, side.program("faults-calls", "10", "20000"), around=around, env={"HOME": "/tmp"})
    if done.code == 99:
        raise Skip("/proc cannot be mounted with hidepid")
    return "%.1f s" % done.right(r"\b3 ranks, 0 errors").seconds


@row("users", "two users' jobs on one node at the same time")
def users(side):
    as_root()
    program = side.program("faults-calls", "30", "20000")
    commands = [side.command(2, program, around=as_user(side, user)) for user in USERS]
    for done in side.together(commands, 90, {"HOME": "/tmp"}):
        done.right(r"\b2 ranks, 0 errors")
    return "both right"


# ---- the kernel's settings ----


@contextlib.contextmanager
def setting(path, value):
    """Changes a setting of the whole machine; apart.py puts it back, too, if this process is killed."""
    as_root()
    assert path in apart.SETTINGS
    before = apart.contents(path)
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(value)
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


@row("overcommit-2", "vm.overcommit_memory = 2: all that is reserved counts", system=True)
def overcommit(side):
    with setting("/proc/sys/vm/overcommit_memory", "2"):
        return right(side, 3, "faults-calls", "5", "20000", "hold", "16", limit=30)


# ---- clocks ----

CLOCK = os.path.join(run.BUILD, "test", "faults", "libfaults-clock.so")
# Not mpich5 with "jumps": with any malloc but libc's its UCX then reads zeros for its own settings in MPI_Init, now and then
# (with jemalloc, without mortar, 6 of 16 starts).
for kind, about in (("jumps", "the time of day jumps by up to a day"), ("apart", "each rank's monotonic clock is days apart"),
                    ("leaps", "all clocks leap an hour forward, again and again"),
                    ("coarse", "the monotonic clock stands still for 10 ms at a time")):
    ROWS.append(Row("clock-" + kind, about, lambda side, kind=kind: right(
        side, 3, "faults-calls", "15", "5000", env={"CLOCKS": kind}, preload=[CLOCK], limit=60),
        flavours=tuple(flavour for flavour in ALL if (kind, flavour) != ("jumps", "mpich5"))))


@row("clock-namespaces", "each rank in a time namespace of its own", flavours=("ompi4", "mpich4"))
def clock_namespaces(side):
    as_root()
    apart = 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec unshare --time --monotonic $((rank * 86400)) --fork -- "$@"'
    able("unshare", "--time", "--monotonic", "1", "--fork", "true")
    return right(side, 3, "faults-calls", "15", "5000", inside=["sh", "-c", apart, "sh"])


# ---- disks and other jobs ----


@contextlib.contextmanager
def small_disk(room):
    """A folder on a disk of its own with this many KiB left."""
    as_root()
    if not os.environ.get(apart.MOUNTS):
        raise Skip("no namespace of its own to mount in")
    folder = tempfile.mkdtemp()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % room, "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@row("disk-full", "report and learned plans go to a full disk: said in one line each, the program is right", sides=(FIRST,))
def disk_full(side):
    with small_disk(4) as folder:
        with open(os.path.join(folder, "filler"), "wb") as file, contextlib.suppress(OSError):
            file.write(b"x" * 65536)
        options = ["--report", folder + "/report", "--option", "TUNE=online", "--option", "TUNE_SAVE=" + folder + "/plans"]
        done = side.job(3, side.program("faults-calls", "50", "2000"), options=options, limit=60).right(r"\b3 ranks, 0 errors")
        if side.under_mortar and (not 1 <= len(done.said()) <= 2 or not all(folder in line for line in done.said())):
            raise Wrong("not one line for each file: %r" % done.said())
        if set(os.listdir(folder)) - {"filler"} and any(os.path.getsize(path) for path in glob.glob(folder + "/[rp]*")):
            raise Wrong("half a file is left: %r" % os.listdir(folder))
        return "%d lines" % len(done.said())


@row("tune-save", "three jobs learn into one file at the same time", sides=(DEFAULT,), flavours=("ompi4", "ompi5"))
def tune_save(side):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plans.json")
        programs = [side.program("faults-calls", "400", str(most)) for most in (200, 1500, 3000)]
        options = ["--option", "REGRET=50", "--option", "START=first", "--option", "TUNE_SAVE=" + path]
        for _ in range(2):  # the second time there is a file
            for done in side.together([side.command(3, program, options=options) for program in programs], 120):
                done.right(r"\b3 ranks, 0 errors")
                if [line for line in done.said() if "nothing was measured" not in line]:
                    raise Wrong("mortar said: " + done.said()[0])
        if not side.under_mortar:
            return "right"
        if os.listdir(folder) != ["plans.json"]:
            raise Wrong("files in the folder: %r" % os.listdir(folder))
        with open(path, encoding="utf-8") as file:
            entries = len(json.load(file)["sets"][0]["entries"])
        run.run([run.MORTAR, "info", "--tuning", path]).check(entries > 0, "no entries")
        return "%d entries" % entries
