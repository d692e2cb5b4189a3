# SPDX-License-Identifier: BSD-3-Clause
"""runs - one run of a command: its wall time, its exit code, what it printed, and, if wanted, how much memory its processes on
this node had at their peak. A launcher may start processes that are not its children (srun does), so they are known by a variable
in their environment."""
import contextlib
import errno
import glob
import os
import shutil
import signal
import stat
import subprocess
import threading
import time
import uuid

MARK = "TRIED_BY_MORTAR"
ROOM = 1 << 16  # bytes that must be left where the output went, else some of it may be lost
COST = 0.2  # share of the time that looking at memory may take
GRACE = 5  # seconds to end, once asked to
STOPPED = -1000  # instead of an exit code: it took too long


class Run:
    def __init__(self, code, seconds, out, err, memory):
        self.code, self.seconds, self.out, self.err, self.memory = code, seconds, out, err, memory

    def words(self):
        with open(self.out, encoding="utf-8", errors="replace") as file:
            return file.read().split()


class Memory:
    """MiB, summed over the processes: the largest sums that were seen. PSS counts a page that several share once, RSS each time."""

    def __init__(self, mark):
        self.mark, self.known, self.pss, self.rss, self.looks = mark.encode(), {}, 0, 0, 0

    def processes(self):
        """Those that have the mark. Each is asked until it has an environment, which it has not in the middle of an exec."""
        found = {}
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                key = folder, os.stat(folder).st_ctime
                if key not in self.known:
                    with open(folder + "/environ", "rb") as file:
                        environment = file.read()
                    if not environment:
                        continue
                    self.known[key] = self.mark in environment.split(b"\0")
                found[key] = self.known[key]
            except OSError:  # somebody else's, or gone
                continue
        self.known = found
        return [folder for (folder, _), ours in found.items() if ours]

    def look(self):
        pss = rss = 0
        for folder in self.processes():
            try:
                with open(folder + "/smaps_rollup", encoding="ascii") as file:
                    sizes = dict(line.split(":") for line in file.read().splitlines()[1:])
            except OSError:
                continue
            if "Pss" in sizes:
                pss, rss = pss + int(sizes["Pss"].split()[0]), rss + int(sizes["Rss"].split()[0])
        self.pss, self.rss, self.looks = max(self.pss, pss / 1024), max(self.rss, rss / 1024), self.looks + (pss > 0)

    def end_all(self):
        """Until none is left: one that sees another end may start a third before it is ended itself."""
        until = time.monotonic() + GRACE
        while (folders := self.processes()) and time.monotonic() < until:
            for folder in folders:
                try:
                    os.kill(int(os.path.basename(folder)), signal.SIGKILL)
                except OSError:
                    continue
            time.sleep(0.01)


def input_for(stdin):
    """What a run reads: the file that `mortar try` was given, each time from its beginning, or nothing."""
    path = "/proc/self/fd/%d" % stdin
    return path if os.path.isfile(path) else os.devnull


def is_stream(stdin):
    """A pipe or the like, from which somebody may expect that the runs read."""
    try:
        mode = os.fstat(stdin).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def start(command, **streams):
    """As `mortar run` does, and execvp: a file that is neither a program nor says what reads it is a script for the shell."""
    try:
        return subprocess.Popen(command, **streams)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return subprocess.Popen(["/bin/sh", shutil.which(command[0]), *command[1:]], **streams)


class Started:
    """A process, and when it ended. A thread waits for it: Popen.wait with a time limit would look only every 50 ms."""

    def __init__(self, command, **streams):
        self.begin, self.last, self.ended = time.monotonic(), None, threading.Event()
        self.process = start(command, **streams)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        self.process.wait()
        self.last = time.monotonic()
        self.ended.set()

    def wait(self, memory, looking, patience):
        """Waits for its end, and looks at memory meanwhile. False: so many seconds are over."""
        while True:
            now = time.monotonic()
            left = None if patience is None else self.begin + patience - now
            if left is not None and left <= 0:
                return False
            if looking:
                memory.look()
                pause = max(0.01, (time.monotonic() - now) / COST)
                left = pause if left is None else min(pause, left)
            if self.ended.wait(left):
                return True


def end(started, memory):
    """Ends it with all that it started. Launchers end their ranks when they are asked to end. started: None, if a signal came
    before it was known here; it may run for all that."""
    if started:
        started.process.terminate()
        started.ended.wait(GRACE)
    memory.end_all()
    if started:
        started.ended.wait()


def keep_room(name):
    """OSError if no more can be written beside the files of that name: a program does not always say that its output is cut off."""
    beside = name + ".room"
    try:
        with open(beside, "wb") as file:
            file.write(bytes(ROOM))
            file.flush()
            os.fsync(file.fileno())
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside)


def run(command, name, patience=None, looking=False, stdin=0):
    """Runs the command. name: of the files for its output, without an ending. patience: seconds, None: for ever."""
    mark = uuid.uuid4().hex
    memory = Memory("%s=%s" % (MARK, mark))
    with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err, open(input_for(stdin), "rb") as given:
        started, in_time = None, False
        try:
            started = Started(command, stdin=given, stdout=out, stderr=err, env=dict(os.environ, **{MARK: mark}))
            in_time = started.wait(memory, looking, patience)
        finally:
            if not in_time:
                end(started, memory)
    code = started.process.returncode if in_time else STOPPED
    keep_room(name)
    return Run(code, started.last - started.begin, name + ".out", name + ".err", memory)
