#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""explore - every execution that the C11 memory model allows of mortar's shared-memory protocols, for two to four ranks and some
calls in a row, and whether each known mistake in them is found. explore.h says how it works, docs/proof.md what follows from it.

For each protocol of protocols.py the sources that it names are compiled as for the thread sanitizer, with the file of scenes that
call them. Rings are made short by changing one number in the copy that is compiled, so that a few calls fill them. A run names a
scene, the number of ranks, and the scene's numbers. A mutant is a text that is replaced in one file; at least one run has to find
it. A text that is no longer there is an error: write it anew."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

from protocols import PROTOCOLS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CC = os.environ.get("MORTAR_CC", "cc")
CORE = ["graph", "model", "cut", "race", "threads", "trace", "visit", "hooks", "main"]
PLAIN = ["-std=c17", "-O2", "-g", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-w"]
# What is called under another name, which hooks.c or a scene defines.
STOOD_IN_FOR = ["memcpy", "memset", "memcmp", "syscall", "open", "mmap", "dlsym", "dl_iterate_phdr", "pthread_mutex_lock",
                "pthread_mutex_unlock"]
# Without builtins: the compiler would put copies in line where nobody sees them.
EXPLORED = ["-std=c17", "-O1", "-g", "-D_GNU_SOURCE", "-w", "-fsanitize=thread", "-fno-builtin", "-ffunction-sections",
            "-fdata-sections"] + ["-D%s=explored_%s" % (name, name) for name in STOOD_IN_FOR]
SECONDS = 400


class Stale(Exception):
    pass


def shell(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError("%s\n%s" % (" ".join(words), done.stdout))


def source(path):
    return os.path.join(ROOT, path) if os.path.dirname(path) else os.path.join(HERE, path)


def compiled(path, folder, flags, overlay):
    """The object of a file; what lies in the overlay folder stands before the sources."""
    changed = os.path.join(overlay, path)
    file = changed if os.path.exists(changed) else source(path)
    code = os.path.join(folder, path.replace("/", "-") + ".o")
    folders = [os.path.join(overlay, "src"), overlay, os.path.join(ROOT, "src"), ROOT, HERE, os.path.dirname(source(path))]
    shell([CC] + flags + ["-I" + name for name in folders] + ["-c", "-o", code, file])
    return code


def change(overlay, replacements):
    """Writes changed copies of files: (file, what stands there once, what stands there then)."""
    for path, old, new in replacements:
        copy = os.path.join(overlay, path)
        with open(copy if os.path.exists(copy) else source(path), encoding="utf-8") as text:
            before = text.read()
        if before.count(old) != 1:
            raise Stale("%s: this stands there %d times: %s" % (path, before.count(old), old))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as text:
            text.write(before.replace(old, new))


class Program:
    """A protocol's scenes, linked with its sources. What no scene calls stays undefined."""

    def __init__(self, protocol, folder, core):
        self.protocol, self.folder, self.core = protocol, folder, core
        self.overlay = os.path.join(folder, "overlay")
        os.makedirs(self.overlay)
        change(self.overlay, protocol.scaled)
        self.codes = {path: compiled(path, folder, EXPLORED, self.overlay) for path in self.explored()}
        self.codes.update((path, compiled(path, folder, PLAIN, self.overlay)) for path in protocol.beside)
        self.file = self.link(os.path.join(folder, "program"), self.codes)

    def explored(self):
        return ["test/explore/scenes/%s.c" % self.protocol.scenes] + self.protocol.sources

    def link(self, file, codes):
        shell([CC, "-no-pie", "-o", file] + list(codes.values()) + self.core +
              ["-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all"])
        return file

    def mutant(self, number, path, old, new):
        folder = os.path.join(self.folder, "mutant%d" % number)
        overlay = os.path.join(folder, "overlay")
        os.makedirs(folder)
        change(overlay, self.protocol.scaled)
        change(overlay, [(path, old, new)])
        again = [path] if path in self.codes else self.explored()  # a header: all
        codes = dict(self.codes)
        codes.update((file, compiled(file, folder, EXPLORED, overlay)) for file in again)
        return self.link(os.path.join(folder, "program"), codes)


def explored(program, run, how=""):
    """What a run prints first, and all that it prints."""
    try:
        done = subprocess.run([program] + [str(word) for word in run], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=SECONDS, env=dict(os.environ, EXPLORE=how))
    except subprocess.TimeoutExpired:
        return "still running after %d s" % SECONDS, ""
    first = done.stdout.split("\n")[0]
    if done.returncode not in (0, 1):
        first = "ends with code %d: %s" % (done.returncode, first)
    return first, done.stdout


def is_right(said):
    return said.endswith(": right") and "visited again" not in said


def is_wrong(said):
    """Found: not merely that the program ended in some other way."""
    return " executions, " in said and not said.endswith(": right")


def run_text(run):
    return " ".join(str(word) for word in run)


def check_run(program, run):
    """A line about a run, and what is wrong with it."""
    outcomes = None
    if program.protocol.name == "litmus":
        run, outcomes = run[:-1], run[-1]
    naive = outcomes or run[-1] == "naive"
    run = [word for word in run if word != "naive"]
    said, all_of_it = explored(program.file, run)
    wrong = [] if is_right(said) else [all_of_it or said]
    if outcomes and "%d outcomes" % outcomes not in said:
        wrong.append("%s: there should be %d outcomes" % (said, outcomes))
    if naive:
        naively, _ = explored(program.file, run, "naive")
        if said.split(" executions")[0] != naively.split(" executions")[0]:
            wrong.append("%s: all interleavings have %s" % (said, naively))
        said += ", as by all interleavings"
    ranks = "%s, %d ranks" % (run[0], run[1])
    return "  %-36s %s" % (ranks + (" (%s)" % run_text(run[2:]) if run[2:] else ""), said), wrong


def check_mutant(program, number, mutant, trace):
    what, path, old, new = mutant
    began = time.monotonic()
    try:
        file = program.mutant(number, path, old, new)
    except Stale as stale:
        return "  mutant: %s: STALE" % what, [str(stale)]
    for run in program.protocol.runs:
        run = [word for word in run if word != "naive"]
        said, all_of_it = explored(file, run)
        if is_wrong(said):
            line = "  mutant: %-56s %s: %s (%.1f s)" % (what, run_text(run), said.split(" s: ", 1)[-1], time.monotonic() - began)
            return line + ("\n" + all_of_it.split("\n", 1)[-1].rstrip() if trace else ""), []
    return "  mutant: %s: NOT FOUND" % what, ["not found: %s (%s)" % (what, path)]


def can_explore(folder):
    """Does the compiler know what the thread sanitizer needs?"""
    file = os.path.join(folder, "try.c")
    with open(file, "w", encoding="utf-8") as text:
        text.write("int try;\n")
    return subprocess.run([CC, "-fsanitize=thread", "-c", "-o", file + ".o", file], stderr=subprocess.DEVNULL).returncode == 0


def read_words(words):
    parser = argparse.ArgumentParser(prog="explore.py", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--runs", action="store_true", help="no mutants")
    side.add_argument("--mutants", action="store_true", help="nothing but mutants")
    parser.add_argument("--trace", action="store_true", help="show the execution in which a mutant goes wrong")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only protocols whose name contains one of these")
    options = parser.parse_args(words)
    for word in options.words:
        if not any(word in protocol.name for protocol in PROTOCOLS):
            parser.error("no protocol's name contains %s: there are %s" % (
                word, ", ".join(protocol.name for protocol in PROTOCOLS)))
    return options


def main(words):
    options = read_words(words)
    words = options.words
    complaints, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        if not can_explore(folder):
            print("%s has no thread sanitizer" % CC)
            return 77
        core = [compiled("test/explore/%s.c" % name, folder, PLAIN, folder) for name in CORE]
        for at, protocol in enumerate(PROTOCOLS):
            if words and not any(word in protocol.name for word in words):
                continue
            print("%s: %s" % (protocol.name, protocol.about), flush=True)
            home = os.path.join(folder, "protocol%d" % at)
            os.makedirs(home)
            program = Program(protocol, home, core)
            jobs = []
            if not options.mutants:
                jobs += [pool.submit(check_run, program, run) for run in protocol.runs]
            if not options.runs:
                jobs += [pool.submit(check_mutant, program, n, mutant, options.trace) for n, mutant in enumerate(protocol.mutants)]
            for job in jobs:
                line, wrong = job.result()
                print(line, flush=True)
                complaints += ["%s: %s" % (protocol.name, text) for text in wrong]
    print("%d complaints, %.0f s" % (len(complaints), time.monotonic() - began))
    for text in complaints:
        print("FAILED: " + text)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
