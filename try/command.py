# SPDX-License-Identifier: BSD-3-Clause
"""mortar try - runs a program natively and under mortar, in turns, and says what mortar does to it as a whole: time, collectives,
memory, output. bin/mortar starts it, with its own path as the first word."""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile

import findings
import runs

FACTOR, MORE = 10, 60  # a run under mortar may take so many times the native run, and so many seconds more


def read_words(words):
    parser = argparse.ArgumentParser(
        prog="mortar try", usage="mortar try [-n RUNS] [--patience SECONDS] [--output FOLDER] [--] mpirun -n 8 ./app",
        description="Runs the command natively and under mortar in turns, and says what mortar does to the whole program.",
        epilog="The command is the one without mortar. Where the launcher does not hand the environment on to its ranks (Open MPI"
        " on several nodes), or for options of `mortar run`, write `mortar run` in front of the program, as for a run under mortar:"
        " the native runs leave it out. The first run of each side warms up and shows the memory and the report; its time does not"
        " count. Standard input must be a file, which each run gets from its beginning; of anything else they get nothing.")
    parser.add_argument("-n", "--runs", type=int, default=findings.FEWEST_PAIRS, metavar="RUNS",
                        help="pairs of runs whose time counts (%d)" % findings.FEWEST_PAIRS)
    parser.add_argument("--patience", type=float, metavar="SECONDS",
                        help="stop a run that takes longer (natively never, under mortar %d times the native run and %d s)" % (
                            FACTOR, MORE))
    parser.add_argument("--output", metavar="FOLDER",
                        help="keep what the runs print, and mortar's report (kept anyway if a run fails or the outputs differ)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not options.command:
        parser.error("which program? For example: mortar try -- mpirun -n 8 ./app")
    if shutil.which(options.command[0]) is None:
        parser.error("%s is not a program" % options.command[0])
    if not 1 <= options.runs <= 1000:
        parser.error("-n %d: expected a number of runs from 1 to 1000" % options.runs)
    if options.patience is not None and not 0 < options.patience < 1e9:
        parser.error("--patience %g: expected seconds, more than 0 and less than 1e9" % options.patience)
    if "libmortar" in os.environ.get("LD_PRELOAD", ""):
        parser.error("LD_PRELOAD is %s: nothing would run natively" % os.environ["LD_PRELOAD"])
    return options, parser


def sides(mortar, words, parser):
    """The native command, and a function from a report's file, or None, to the one under mortar. `mortar run` with its options is
    taken out of the native one wherever it is; if it is nowhere, the launcher itself runs under mortar, and hands it on."""
    native, places, at = [], [], 0
    while at < len(words):
        if os.path.basename(words[at]) != "mortar" or words[at + 1:at + 2] != ["run"]:
            native.append(words[at])
            at += 1
            continue
        at += 2
        places.append(at)
        while at < len(words) and words[at].startswith("-"):
            if words[at].partition("=")[0] == "--report":
                parser.error("%s: leave it out, mortar try reads the report (--output FOLDER keeps it)" % words[at])
            at += 1 if words[at] == "--" or "=" in words[at] else 2  # each option has a value
            if words[at - 1] == "--":
                break
    if places and not native:
        parser.error("mortar run: which program?")

    def under_mortar(report):
        more = ["--report", report] if report else []
        if not places:
            return [mortar, "run", *more, "--", *words]
        return [word for number, word in enumerate(words) for word in (*(more if number in places else ()), word)]
    return native, under_mortar


def explain(code):
    return "no end, stopped" if code == runs.STOPPED else "signal %d" % -code if code < 0 else "exit code %d" % code


class Failed(Exception):
    pass


class Try:
    """The runs of both sides. folder: for their output."""

    def __init__(self, options, native, under_mortar, folder):
        self.options, self.native, self.under_mortar, self.folder = options, native, under_mortar, folder
        self.done = {"native": [], "mortar": []}

    def report(self):
        return os.path.join(self.folder, "report.json")

    def run(self, side):
        number, patience = len(self.done[side]), self.options.patience
        if side == "mortar" and patience is None:
            patience = FACTOR * max(run.seconds for run in self.done["native"]) + MORE
        command = self.native if side == "native" else self.under_mortar(None if number else self.report())
        name = os.path.join(self.folder, "%s-%d" % (side, number))
        try:
            self.done[side].append(runs.run(command, name, patience, looking=number == 0))
        except OSError as error:
            if error.filename == command[0]:
                raise Failed("%s cannot be started: %s" % (command[0], error.strerror)) from error
            raise Failed("%s: %s: what the runs print may be cut off; name a folder that has room: --output FOLDER" % (
                self.folder, error.strerror)) from error

    def pair(self, number, text):
        """One run of either side; the next pair begins with the other side."""
        for side in ("native", "mortar") if number % 2 == 0 else ("mortar", "native"):
            self.run(side)
        pair = [self.done[side][-1] for side in ("native", "mortar")]
        print("  %-8s  native %s  mortar %s" % (text, *("%10s" % findings.seconds(run.seconds) for run in pair)), file=sys.stderr,
              flush=True)
        if any(run.code for run in pair):
            raise Failed("natively: %s; under mortar: %s. What they printed is in %s and %s" % (
                *(explain(run.code) for run in pair), *(run.out[:-4] + ".out, .err" for run in pair)))

    def all(self):
        self.pair(0, "warm-up")
        for number in range(self.options.runs):
            self.pair(number, "%d of %d" % (number + 1, self.options.runs))

    def loaded_report(self):
        try:
            with open(self.report(), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def found(self):
        """(what was found, whether the outputs differ)"""
        natives, mortars, unsure = self.done["native"], self.done["mortar"], []
        lines = [findings.whole(*([run.seconds for run in side[1:]] for side in (natives, mortars)), unsure),
                 findings.collectives(self.loaded_report(), mortars[0].seconds, unsure),
                 findings.memory(natives[0].memory, mortars[0].memory, unsure)]
        text, differ = findings.outputs(natives, mortars, unsure)
        lines.append(text)
        if unsure:
            lines += ["not certain:", *("- " + line for line in unsure)]
        return "\n".join(lines), differ


def end_at_signals():
    """From here on SIGTERM and SIGHUP end this as Ctrl-C does, with the run that is under way; the next one does not disturb that.
    One that is ignored, as by nohup, stays so."""
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]

    def leave(number, _):
        for each in numbers:
            signal.signal(each, lambda *_: None)
        sys.exit(128 + number)
    for number in numbers:
        signal.signal(number, leave)


def main():
    options, parser = read_words(sys.argv[2:])
    native, under_mortar = sides(sys.argv[1], options.command, parser)
    try:
        if options.output:
            os.makedirs(options.output, exist_ok=True)
        folder = os.path.abspath(options.output or tempfile.mkdtemp(prefix="mortar-try-"))
    except OSError as error:
        parser.error("--output %s: %s" % (options.output, error.strerror) if options.output else
                     "%s: name a folder for what the runs print: --output FOLDER" % error.strerror)
    keep = True
    if runs.is_stream(0):
        print("mortar try: standard input is a pipe, which cannot be read again for each run: the runs get nothing; give them a"
              " file: mortar try -- ... <FILE", file=sys.stderr)
    end_at_signals()
    try:
        trying = Try(options, native, under_mortar, folder)
        trying.all()
        text, keep = trying.found()
    except Failed as failed:
        print("mortar try: %s" % failed, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, SystemExit) as stopped:
        print("mortar try: interrupted; what was printed is in %s" % folder, file=sys.stderr)
        return 130 if isinstance(stopped, KeyboardInterrupt) else stopped.code
    finally:
        if not keep and not options.output:
            shutil.rmtree(folder)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # all is done: a reader that has gone ends this without a word
    try:
        print(text, flush=True)
    except OSError as error:
        print("mortar try: standard output has not got everything: %s" % error.strerror, file=sys.stderr, flush=True)
        os._exit(1)  # Python itself would try again, and complain
    return 0


if __name__ == "__main__":
    sys.exit(main())
