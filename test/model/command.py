# SPDX-License-Identifier: BSD-3-Clause
"""command - `mortar model` as a user calls it: its table, its errors, its pictures, the machines that come with it."""
import os
import subprocess
import sys
import tempfile


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


def expect(fine, what):
    if not fine:
        sys.exit("FAILED: %s" % (what,))


def main(mortar):
    for machine in "e7-8890v3", "knc-5110p", "epyc-7742":
        status, text = run(mortar, "model", "--machine", machine, "--ranks", "16", "--bytes", "64,4K", "--orders", "rows,morton")
        expect(status == 0 and "simulated" in text and text.count("morton") == 4, (machine, text))
    status, text = run(mortar, "model", "--machine", "this", "--ranks", "1", "--bytes", "64", "--collective", "alltoall")
    expect(status == 0 and "simulated" in text, text)
    for words in (["--machine", "nowhere"], ["--orders", "spiral"], ["--orders", "morton(rows)"], ["--orders", "numa"],
                  ["--bytes", "some"], ["--ranks", "73"], ["--collective", "bcast"], ["--nothing", "1"], ["--bytes"]):
        status, text = run(mortar, "model", *words)
        expect(status == 2 and text.startswith("mortar model: "), (words, status, text))
    if all(run(python, "-c", "import matplotlib")[0] != 0 for python in ("python3", "/usr/bin/python3")):
        print("no matplotlib: no pictures")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "a.svg")
        status, text = run(mortar, "model", "--ranks", "8", "--bytes", "64,512", "--svg", picture)
        expect(status == 0 and open(picture).read().count("<svg") == 1, (status, text))


if __name__ == "__main__":
    main(sys.argv[1])
