# SPDX-License-Identifier: BSD-3-Clause
"""alone - `mortar try` without MPI: what it concludes from times and reports, what it refuses, how it starts and ends processes."""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "try"))
import command  # noqa: E402
import findings  # noqa: E402
import runs  # noqa: E402


def check(what, fine, shown=""):
    if not fine:
        sys.exit("wrong: %s\n%s" % (what, shown))
    print("ok: " + what)


def intervals():
    """Against the tables of Wilcoxon's test: at 5 %, the greatest sum that is significant is 0 for 6 pairs, 8 for 10, 52 for 20."""
    for pairs, greatest in (5, -1), (6, 0), (10, 8), (20, 52), (100, 1955), (300, 19628):
        check("signed ranks of %d pairs" % pairs, findings.significant(pairs) == greatest + 1, findings.significant(pairs))
    middle, low, high = findings.ratio([2, 4, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6])
    check("a ratio without noise", max(abs(value - 2) for value in (middle, low, high)) < 1e-12, (middle, low, high))
    chance, held = random.Random(15), 0
    for _ in range(1000):
        natives, mortars = ([scale * chance.lognormvariate(0, 0.1) for _ in range(8)] for scale in (1.1, 1))
        held += findings.ratio(natives, mortars)[1] <= 1.1 <= findings.ratio(natives, mortars)[2]
    check("the interval holds the truth in 95 of 100 cases", 935 <= held <= 985, held)


def whole(natives, mortars):
    unsure = []
    return findings.whole(natives, mortars, unsure), "; ".join(unsure)


def sentences():
    steady = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99]
    for factor, text, doubt in (
            (0.5, "mortar is 2.00 times as fast (1.98 to 2.02)", ""), (2, "mortar takes 2.00 times as long (1.98 to 2.02)", "")):
        said, unsure = whole(steady, [value * factor for value in reversed(steady)])
        check(text, text in said and unsure == doubt, (said, unsure))
    said, unsure = whole(steady, steady[1:] + steady[:1])
    check("no difference", "no difference that is certain" in said and "the interval holds 1" in unsure, (said, unsure))
    said, unsure = whole([1, 1, 1, 1, 2], [1] * 5)
    check("too few", "is about" in said and "at least 6 pairs of runs (-n 6)" in unsure, (said, unsure))
    said, unsure = whole([1, 1, 1, 1, 1, 3], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    check("a busy machine", "native runs alone differ by 200 %" in unsure, (said, unsure))
    row = {"plan": "cico", "seconds": 3.0, "gain": 2.0, "gain_interval": [1.5, 3.0], "pairs": 8}
    native = {"plan": "native", "seconds": 1.0}
    for rows, text, doubt in (
            ([row, native], "collectives: at most 4.00 s of 8.00 s of any rank in a run under mortar (50 %); the MPI library's"
             " own would take 1.75 times as long (1.38 to 2.50)", ""),
            ([dict(row, gain_interval=[0.5, 3]), native], "(0.62 to 2.50)", "holds 1"),
            ([dict(row, pairs=2), dict(row, seconds=7.0)], "2.00 times as long", "for 30 % of the time in collectives"),
            ([dict(row, pairs=2), native], "under mortar (50 %).", "for 75 % of the time in collectives"),
            ([dict(native, seconds=5.0), dict(native, seconds=6.0)], "collectives: at least 6.00 s of 8.00 s of the busiest rank in"
             " a run under mortar (75 %), those of several ranks 11.0 s, all of them by the MPI library itself.", ""),
            ([native], "all of them by the MPI library itself.", ""), ([], "no blocking collective of MPI was called", "")):
        unsure = []
        said = findings.collectives({"collectives": rows}, 8.0, unsure)
        check(text, text in said and (doubt in " ".join(unsure) if doubt else not unsure), (said, unsure))
    unsure = []
    check("no report", "not known" in findings.collectives(None, 1, unsure) and "it wrote no report" in unsure[0], unsure)


def memories():
    native, mortar = (argparse.Namespace(pss=pss, rss=rss, looks=20) for pss, rss in ((100, 150), (125, 300)))
    unsure = []
    said = findings.memory(native, mortar, unsure)
    check("memory", said.startswith("memory: 100 MiB natively, 125 MiB under mortar at the peak (+25 %)") and
          said.endswith("150 and 300 MiB.") and not unsure, (said, unsure))
    for side in native, mortar:
        side.looks, unsure = 9, []
        findings.memory(native, mortar, unsure)
        check("few looks", "looked at %d times natively, %d times" % (native.looks, mortar.looks) in unsure[0], unsure)
        side.looks = 20


def found(text, folder):
    """A run that printed the text."""
    handle, path = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return runs.Run(0, 1, path, path, None)


def outputs():
    with tempfile.TemporaryDirectory() as folder:
        for natives, mortars, text, wrong, doubt in (
                (["a\nb c\n"] * 2, ["b c\na\n"] * 2, "the same in all runs (words: 3).", False, ""),
                (["a t1\n", "a t2\n"], ["a t3\n"] * 2, "what all native runs have (words: 1).", False, "natively, too (1)"),
                (["a\n", "a t2\n"], ["a t3\n"] * 2, "what all native runs have (words: 1).", False, "natively, too (1)"),
                (["a t1\n", "a t2\n"], ["a\n", "t3\n"], "differs", True, "lacks 'a'"),
                (["a a\n"] * 2, ["a a\n", "a\n"], "differs", True, "lacks 'a'"),
                (["a\n"] * 2, ["a\nwarning\n", "a\n"], "differs", True, "has 'warning'"),
                (["t1\n", "t2\n"], ["t3\n"] * 2, "not compared", False, "natively, too (1)")):
            unsure = []
            given = [[found(each, folder) for each in side] for side in (natives, mortars)]
            said = findings.outputs(*given, unsure)
            check("outputs: " + text, text in said[0] and said[1] == wrong and doubt in " ".join(unsure), (said, unsure))


class Refused(Exception):
    pass


class Parser:
    def error(self, text):
        raise Refused(text)


def commands():
    for words, native, mortar in (
            ("mpirun -n 2 ./a x", "mpirun -n 2 ./a x", "M run --report R -- mpirun -n 2 ./a x"),
            ("mpirun -n 2 mortar run ./a run", "mpirun -n 2 ./a run", "mpirun -n 2 mortar run --report R ./a run"),
            ("mpirun mortar run --off=alltoall --heap off ./a 8", "mpirun ./a 8",
             "mpirun mortar run --report R --off=alltoall --heap off ./a 8"),
            ("mpirun mortar run --off all -- -a : /x/mortar run b", "mpirun -a : b",
             "mpirun mortar run --report R --off all -- -a : /x/mortar run --report R b")):
        without, under = command.sides("M", words.split(), Parser())
        check("without mortar: " + words, (" ".join(without), " ".join(under("R"))) == (native, mortar), (without, under("R")))
        check("no report: " + words, " ".join(under(None)) == mortar.replace("--report R ", ""), under(None))
    try:
        command.sides("M", "mpirun mortar run --report - ./a".split(), Parser())
        check("--report is refused", False)
    except Refused as refused:
        check("--report is refused", "--report: leave it out" in str(refused), refused)


def starts(*words, mortar="mortar", **more):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "try", "command.py"), mortar, *words], text=True, check=False,
                          timeout=50, **streams)


def refusals():
    for words, said in (([], "which program?"), (["--"], "which program?"), (["./no-such"], "./no-such is not a program"),
                        (["-n", "0", "true"], "-n 0: expected a number of runs"), (["-n", "x", "true"], "invalid int value: 'x'"),
                        (["--patience", "-1", "true"], "--patience -1: expected seconds"),
                        (["--patience", "inf", "true"], "--patience inf: expected seconds"),
                        (["--patience", "1e10", "true"], "--patience 1e+10: expected seconds"), (["--runz", "true"], "--runz"),
                        (["--output", "/dev/null/x", "true"], "--output /dev/null/x: Not a directory"),
                        (["mortar", "run", "--report", "-", "true"], "is not a program")):
        done = starts(*words, env={**os.environ, "PATH": "/usr/bin:/bin"})
        check("refused: " + " ".join(words), done.returncode == 2 and said in done.stderr and not done.stdout, done.stderr)
    done = starts("true", env={**os.environ, "LD_PRELOAD": "/x/libmortar.so"})
    check("refused: under mortar already", done.returncode == 2 and "LD_PRELOAD is /x/libmortar.so" in done.stderr, done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/no/such/shell\n")
        os.chmod(script, 0o700)
        done = starts("-n", "1", script)
        check("a program without its reader", done.returncode == 1 and "Traceback" not in done.stderr and
              "%s cannot be started: No such file" % script in done.stderr, done.stderr)
        with open(script, "w", encoding="utf-8") as file:
            file.write("echo $1 >>%s.out\n" % script)
        done = starts("-n", "1", script, "a", mortar="/bin/true", input="x\n")
        with open(script + ".out", encoding="utf-8") as file:
            check("a script that does not say what reads it", done.returncode == 0 and file.read() == "a\na\n", done.stderr)
        check("a pipe cannot be read for each run", "standard input is a pipe" in done.stderr, done.stderr)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = starts("-n", "1", "true", mortar="/bin/true", stdin=subprocess.DEVNULL, stdout=full)
        check("nothing can be printed", done.returncode == 1 and "standard output has not got everything: No space" in done.stderr
              and "Traceback" not in done.stderr and "pipe" not in done.stderr, done.stderr)
    check("help", "pairs of runs whose time counts" in starts("--help").stdout)


def full_disk():
    """What a program printed there may be cut off on both sides alike, and then is no sign that the results are the same."""
    with tempfile.TemporaryDirectory() as folder:
        # in a mount namespace of its own, where the tests may make one
        script = 'mount -t tmpfs -o size=64K,mode=777 none "$1" || exit 77; shift; exec "$@"'
        words = [sys.executable, "-B", os.path.join(ROOT, "try", "command.py"), "/bin/true", "-n", "1", "--output", folder, "--",
                 "sh", "-c", "head -c 100000 /dev/zero; exit 0"]
        done = subprocess.run(["unshare", "-r", "-m", "sh", "-c", script, "sh", folder, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=50)
        if done.returncode == 77 or "unshare" in done.stderr:
            print("left out, no mount namespace here: a full disk")
            return
        check("a full disk", done.returncode == 1 and not done.stdout and "Traceback" not in done.stderr and
              "mortar try: %s: No space left" % folder in done.stderr, done.stdout + done.stderr)


def processes():
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "run")
        with open(name, "w", encoding="utf-8") as file:
            file.write("given\n")
        with open(name, encoding="utf-8") as file:
            file.read()
            done = [runs.run(["cat"], name + str(turn), stdin=file.fileno()).words() for turn in range(2)]
        check("each run reads the input from its beginning", done == [["given"]] * 2, done)
        done = runs.run(["sh", "-c", "echo out; echo bad >&2; exit 7"], name)
        with open(done.err, encoding="utf-8") as file:
            check("exit code and output", (done.code, done.words(), file.read()) == (7, ["out"], "bad\n"), vars(done))
        hold = "import time; block = b'x' * (64 << 20); time.sleep(%g)"
        # a process that leaves its parent, as those of srun do, is found as well
        done = runs.run(["sh", "-c", "setsid %s -c \"%s\" & wait" % (sys.executable, hold % 2)], name, looking=True)
        check("memory of all processes", 64 < done.memory.pss < 200 and done.memory.rss >= done.memory.pss and
              done.memory.looks > 0, vars(done.memory))
        begin = time.monotonic()
        done = runs.run(["sh", "-c", "trap '' TERM; setsid sleep 77.1592 & wait; wait; sleep 77.1592"], name, patience=0.3)
        check("what takes too long is ended", done.code == runs.STOPPED and time.monotonic() - begin < 40)
        left = subprocess.run(["pgrep", "-f", "sleep 77[.]1592"], stdout=subprocess.PIPE, check=False).stdout
        check("with all that it started", not left, left)


def interruptions():
    """A signal ends what runs, too: the process that it reaches is `mortar try` alone."""
    for number, more in (signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGHUP, (signal.SIGHUP, signal.SIGTERM)):
        with tempfile.TemporaryDirectory() as folder:
            begun, output = os.path.join(folder, "begun"), os.path.join(folder, "output")
            words = [sys.executable, "-B", os.path.join(ROOT, "try", "command.py"), "mortar", "--output", output, "--", "sh", "-c",
                     "setsid sleep 78.1592 & touch %s; wait" % begun]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tried:
                while tried.poll() is None and not os.path.exists(begun):
                    time.sleep(0.01)
                for each in (number, *more):
                    tried.send_signal(each)
                said = tried.communicate(timeout=50)[1]
            check("signal %d" % number, tried.returncode == 128 + number and "Traceback" not in said and
                  "interrupted; what was printed is in " + output in said, (tried.returncode, said))
            left = subprocess.run(["pgrep", "-f", "sleep 78[.]1592"], stdout=subprocess.PIPE, check=False).stdout
            check("and nothing runs on", not left, left)


def turns():
    """A warm-up, then A B B A: no side is always the first. Natively the program is so short that mortar's start takes longer than
    ten times that."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        options = argparse.Namespace(runs=3, patience=None)

        def words(side):
            return ["sh", "-c", "printf %s >>%s; sleep %s" % (side, log, 0 if side == "n" else 0.5)]

        trying = command.Try(options, words("n"), lambda report: words("M" if report else "m"), folder)
        trying.all()
        with open(log, encoding="utf-8") as file:
            order = file.read()
        check("turns", order == "nM" "nm" "mn" "nm", order)


def conclusions():
    """The warm-up's time does not count, and its report is that of a run of so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        trying = command.Try(None, None, None, folder)
        for side, first, others in ("native", 100, 1.0), ("mortar", 50, 0.5):
            trying.done[side] = [runs.Run(0, seconds, os.devnull, os.devnull, runs.Memory(""))
                                 for seconds in [first] + 6 * [others]]
        with open(trying.report(), "w", encoding="ascii") as file:
            file.write('{"collectives": [{"plan": "native", "seconds": 5.0}]}')
        said, differ = trying.found()
        check("conclusions", "2.00 times as fast" in said and "1.00 s natively, 0.500 s under mortar, medians of 6 pairs" in said
              and "5.00 s of 50.0 s of any rank in a run under mortar (10 %)" in said and not differ, said)


for part in intervals, sentences, memories, outputs, commands, refusals, turns, conclusions, full_disk, processes, interruptions:
    part()
