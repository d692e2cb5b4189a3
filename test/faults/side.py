# SPDX-License-Identifier: BSD-3-Clause
"""side - one side of a row: a job natively, or under mortar, and what it leaves behind.

Each job gets a folder of its own as $TMPDIR, and a variable by which its processes are known, whoever is their parent later."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Skip  # noqa: E402,F401

MARK = "FAULTS_JOB"
NATIVE, DEFAULT, FIRST = "native", "mortar", "mortar at once"
# Mistakes that the campaign must find (--mistake): what is preloaded beside mortar, and how it is told.
SPOIL = os.path.join(run.BUILD, "test", "faults", "libfaults-spoil.so")
MISTAKES = {"wrong": (run.WRONG, {"WRONG_RANK": "1"}),
            **{kind: (SPOIL, {"SPOIL": kind}) for kind in ("leave", "code", "hang")}}
# Intel MPI itself fails in MPI_Init now and then where the processors are busy: natively 6 of 180 starts of two ranks.
STILLBORN = re.compile(r"description in business card|MPIDU_bc_table_create|Fatal error in internal_Init")


class Wrong(Exception):
    """Not what it should be, and why in a few words."""


class Done:
    def __init__(self, code, out, err, seconds, stopped):
        self.code, self.out, self.err, self.seconds, self.stopped = code, out, err, seconds, stopped

    def right(self, *patterns):
        """It ended well, in time, and printed these."""
        if self.stopped:
            raise Wrong("not over after %.0f s" % self.seconds)
        for pattern in patterns:
            if not re.search(pattern, self.out):
                raise Wrong("exit code %d, no '%s'" % (self.code, pattern))
        if self.code != 0:
            raise Wrong("right results, exit code %d" % self.code)
        return self

    def over(self, seconds):
        """It ended somehow, at most so many seconds after it began."""
        if self.stopped or self.seconds > seconds:
            raise Wrong("not over after %.0f s" % self.seconds)
        return self

    def said(self):
        return [line for line in self.err.splitlines() if line.startswith("mortar:")]


def marked(mark):
    """Processes of a job that are still there."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % number, "rb") as file:
                if ("%s=%s\0" % (MARK, mark)).encode() in file.read():
                    found.append(int(number))
        except OSError:
            pass
    return found


def shared_mib():
    with open("/proc/meminfo", encoding="ascii") as file:
        return [int(line.split()[1]) for line in file if line.startswith("Shmem:")][0] >> 10


def system_v():
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        return {line.split()[1] for line in file.readlines()[1:]}


def kinds(names):
    """The names without numbers and random letters."""
    return {re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", re.sub(r"_\w{6}$", "_#", name)) for name in names}


class Side:
    """kind: NATIVE, DEFAULT, or FIRST: mortar takes calls from the first on. natively: what the row saw natively, or None."""
    jobs = 0

    def __init__(self, flavour, kind, mistake=None, natively=None):
        self.flavour, self.kind, self.mistake, self.natively = flavour, kind, mistake, natively
        self.left, self.last, self.stillborn = [], None, 0

    @property
    def under_mortar(self):
        return self.kind != NATIVE

    def command(self, ranks, program, options=(), inside=(), around=(), preload=()):
        """inside: words between the launcher and `mortar run`; around: words in front of the launcher; preload: libraries."""
        spoil = [MISTAKES[self.mistake][0]] if self.mistake and self.under_mortar else []
        through = [run.MORTAR, "run", *options] if self.under_mortar else []
        loaded = ["env", "LD_PRELOAD=" + ":".join([*preload, *spoil])] if spoil or preload else []
        return [*around, run.LAUNCH, self.flavour, str(ranks), *inside, *loaded, *through, *program]

    def program(self, name, *words):
        return [run.target("%s-%s" % (name, self.flavour)), *words]

    def environment(self, folder, mark, more):
        values = {name: value for name, value in os.environ.items() if not name.startswith("MORTAR_") or name == "MORTAR_MPIS"}
        values.update(run.QUICK_END)
        values.update({"TMPDIR": folder, MARK: mark})
        if self.kind == FIRST:
            values["MORTAR_START"] = "first"
        if self.mistake and self.under_mortar:
            values.update(MISTAKES[self.mistake][1])
        values.update(more or {})
        return values

    def together(self, commands, limit, env=None):
        """Several jobs at the same time."""
        jobs = [Job(self, words, env, None) for words in commands]
        done = [job.end(limit) for job in jobs]
        for job in jobs:
            self.left += job.clean()
        return done

    def job(self, ranks, program, limit=60, env=None, entering=None, **more):
        """Runs a job to its end, at most `limit` seconds. entering: called in the process that becomes the launcher."""
        for _ in range(4):
            job = Job(self, self.command(ranks, program, **more), env, entering)
            done = job.end(limit)
            self.left += job.clean()
            if self.flavour != "impi" or not STILLBORN.search(done.err):
                break
            self.stillborn += 1
        self.last = done
        return done


class Job:
    def __init__(self, side, words, env, entering):
        Side.jobs += 1
        self.mark = "%d.%d" % (os.getpid(), Side.jobs)
        self.folder = tempfile.mkdtemp(prefix="f")
        os.chmod(self.folder, 0o777)  # for rows with other users
        self.files, self.segments, self.shared = set(os.listdir("/dev/shm")), system_v(), shared_mib()
        self.out, self.err = (tempfile.TemporaryFile() for _ in range(2))
        self.begun = time.monotonic()
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        env=side.environment(self.folder, self.mark, env), preexec_fn=entering)

    def text(self, file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def end(self, limit):
        """Waits, and ends what does not end."""
        stopped = self.stopped = False
        try:
            self.process.wait(max(0.1, self.begun + limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            stopped = self.stopped = True
        seconds = time.monotonic() - self.begun
        if stopped:
            self.process.terminate()  # the launcher ends its ranks
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return Done(self.process.returncode, self.text(self.out), self.text(self.err), seconds, stopped)

    def clean(self):
        """What is left, and is taken away now. No other job runs any more."""
        until, left = time.monotonic() + 3, []
        while (still := marked(self.mark)) and time.monotonic() < until:
            time.sleep(0.05)
        if still and not self.stopped:
            left.append("processes: %d" % len(still))
        while still := marked(self.mark):
            for number in still:
                os.kill(number, signal.SIGKILL)
            time.sleep(0.1)
        until = time.monotonic() + 5
        while shared_mib() - self.shared > 100 and time.monotonic() < until:
            time.sleep(0.1)
        if shared_mib() - self.shared > 100:
            left.append("%d MiB of shared memory" % (shared_mib() - self.shared))
        new = sorted(set(os.listdir("/dev/shm")) - self.files)
        for name in new:
            os.unlink(os.path.join("/dev/shm", name))
        left += ["/dev/shm/" + kind for kind in kinds(new)] + ["$TMPDIR/" + kind for kind in kinds(os.listdir(self.folder))]
        shutil.rmtree(self.folder, ignore_errors=True)
        left += ["a System V segment"] * len(system_v() - self.segments)
        return left
