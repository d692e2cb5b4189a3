# SPDX-License-Identifier: BSD-3-Clause
"""which - `mortar bench` measures the MPI library of the launcher that started it, whatever else the dynamic linker would find, and
says so if it cannot.

usage: which.py FLAVOUR MORTAR"""
import os
import shutil
import subprocess
import sys
import tempfile

from testing import MPI, check, flavour, run

mortar = sys.argv[2]
WORDS = ["bench", "alltoall", "--bytes", "8", "--seconds", "0.01", "--repetitions", "2"]
LIBRARIES = {"ompi4": ("Open MPI v4", "libmpi.so.40"), "mpich4": ("MPICH 4", "libmpich.so.12"),
             "ompi5": ("Open MPI v5", "ompi5/lib/libmpi.so.40"), "mpich5": ("MPICH 5", "mpich5/lib/libmpi.so.12"),
             "mpich5abi": ("MPICH 5", "mpich5/lib/libmpi_abi.so.1"), "impi": ("Intel", "impi/lib/libmpi.so.12"),
             "impiabi": ("Intel", "impi/lib/libmpi_abi.so.1")}
ALONE = "each sees itself alone"


def measures(out, which, what):
    name, library = LIBRARIES[which]
    first = out.splitlines()[0] if out else ""
    check(what, "; " + name in first and first.endswith(library), out)


def others(folder):
    """Fills the folder with other MPI libraries, for the dynamic linker to find first."""
    for which, (_, library) in LIBRARIES.items():
        path, name = os.path.join(os.environ.get("MORTAR_MPIS", ""), library), os.path.basename(library)
        if which.removesuffix("abi") != flavour.removesuffix("abi") and os.path.isfile(path) and \
                not os.path.lexists(os.path.join(folder, name)):
            os.symlink(path, os.path.join(folder, name))
    return os.listdir(folder)


def moved(folder):
    """MPICH's launcher without its library beside it."""
    there = os.path.dirname(os.path.realpath(shutil.which("mpiexec.hydra") or "/"))
    os.makedirs(os.path.join(folder, "bin"))
    for name in ("mpiexec.hydra", "hydra_pmi_proxy"):
        shutil.copy(os.path.join(there, name), os.path.join(folder, "bin"))
    done = subprocess.run([os.path.join(folder, "bin", "mpiexec.hydra"), "-n", "2", mortar, *WORDS], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=50, check=False)
    said = "mortar bench: no MPI library beside the launcher, below %s: " % folder
    check("a library that is not beside the launcher: said once", done.stderr.count(said) == 1, done.stdout + done.stderr)
    measures(done.stdout, "mpich4", "and measured")


def refused():
    for file, why in (("/nowhere.so", "cannot open shared object file"), ("libm.so.6", "no MPI library that mortar knows")):
        out, said = run("env", "MORTAR_MPI=" + file, mortar, *WORDS, code=2)
        once = said.count("mortar bench: MORTAR_MPI=%s: " % file) == 1
        check("refused: MORTAR_MPI=" + file, once and why in said and not out, said)
    other = {"ompi4": "libmpich.so.12", "mpich4": "libmpi.so.40"}[flavour]
    out, said = run("env", "MORTAR_MPI=" + other, mortar, *WORDS, code=1)
    check("a library that is not the launcher's", said.count("mortar bench: the launcher started 2 ranks, but " + ALONE) == 1, said)


out, said = run(mortar, *WORDS)
measures(out, flavour, "the launcher's library")
check("without a word", "mortar" not in said, said)
with tempfile.TemporaryDirectory() as place:
    if others(place):
        first = 'LD_LIBRARY_PATH="%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$@"' % place  # Intel's own is there already
        out, _ = run("sh", "-c", first, "sh", mortar, *WORDS)
        measures(out, flavour, "also where the dynamic linker would find another one")
if flavour in ("ompi4", "mpich4"):
    refused()
if flavour == "mpich4":
    with tempfile.TemporaryDirectory() as place:
        moved(place)
