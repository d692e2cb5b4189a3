#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""words - explore.py refuses words that it does not know: who mistypes a protocol must not read that nothing is wrong with it."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

for words, code, said in (["boxx"], 2, "no protocol's name contains boxx: there are litmus, flag, "), (
        ["--trase", "box"], 2, "--trase"), (["--runs", "--mutants"], 2, "not allowed with"), (["--help"], 0, "--trace"):
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "explore.py"), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", timeout=20, check=False)
    if done.returncode != code or said not in done.stdout or "complaints" in done.stdout:
        sys.exit("%s: %d\n%s" % (" ".join(words), done.returncode, done.stdout))
