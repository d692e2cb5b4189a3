# SPDX-License-Identifier: BSD-3-Clause
"""demo_test - does scripts/demo notice what must not happen? It gets a build folder in which bin/mortar is a script that spoils
the run in one way each time. The last line of the list leaves the run as it is.

usage: demo_test.py FLAVOUR BUILD-FOLDER"""
import os
import subprocess
import sys
import tempfile

DEMO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts", "demo")
flavour, build = sys.argv[1], os.path.abspath(sys.argv[2])
REAL = os.path.join(build, "bin", "mortar")

CASES = [  # what `mortar run [--report FILE] PROGRAM...` is, what the demo must say, its exit code
    ('shift; "$@" | sed s/checksum=./checksum=x/', "the results differ: 2 ranks, blocks of 8 bytes", 1),
    ("exec sleep 1000", "no end after 4 seconds", 1),
    ("exit 3", "exit code", 1),
    ('[ "$2" = --report ] && shift 2; shift; "$@"', "mortar wrote no report", 1),
    ('MORTAR_PLAN=native exec "%s" "$@"' % REAL, "mortar left every call to the MPI library", 1),
    ('exec "%s" "$@"' % REAL, "all results agree to the byte", 0),
]

for script, said, code in CASES:
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.join(build, "examples"), os.path.join(folder, "examples"))
        path = os.path.join(folder, "bin", "mortar")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(path, 0o755)
        patience = "4" if "sleep" in script else "60"
        command = [DEMO, "--mpi", flavour, "--build", folder, "--ranks", "2", "--budget", "0", "--patience", patience]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode != code or said not in done.stdout:
        sys.exit("bin/mortar is `%s`: exit code %d, expected %d and '%s':\n%s" % (script, done.returncode, code, said, done.stdout))
    print("ok: " + said)
