# SPDX-License-Identifier: BSD-3-Clause
"""wheel - the Python wheel: what it holds and asks of the C library; then, in a clean virtual environment beside the MPI and mpi4py
of PyPI, what docs/pip.md tells users to do.
usage: wheel.py build | FLAVOUR"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

FOLDER = os.path.join(run.BUILD, "wheel")
EXCHANGE = os.path.join(run.ROOT, "test", "preload", "exchange.py")
HELD = ["bin/mortar"] + ["lib/mortar/" + name for name in (
    "libmortar.so", "libmortar-count.so", "libmortar-heap.so", "libmortar-ompi.so", "libmortar-mpich.so", "libmortar-standard.so",
    "mortar-tools", "mortar-info", "mortar-bench", "mortar-model", "mortar-try/command.py", "mortar-draw/report.py")]


def the_wheel():
    found = glob.glob(os.path.join(FOLDER, "*.whl"))
    if len(found) != 1:
        raise Failure("%s has %d wheels, not one" % (FOLDER, len(found)))
    return found[0]


def needs(path):
    """The newest version of glibc of which an ELF file wants a symbol, and what it wants of nobody in particular but MPI."""
    text = subprocess.run(["objdump", "-T", path], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    newest = max([tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", text)], default=(0, 0))
    anybody = re.findall(r"^\S+ +D[FO ]? +\*UND\*\t\S+ +(?:Base +)?(\w+)$", text, re.M)  # not weak, without a version
    return newest, [name for name in anybody if not re.match("P?MPI_|(?i:ompi_)", name)]


def build():
    """The wheel is there, has everything, and its name promises no older C library than its files need."""
    done = run.run([os.path.join(run.ROOT, "packaging", "wheel", "build"), FOLDER], seconds=880)
    if done.code == 2:
        raise Skip(done.err.strip())
    wheel = the_wheel() if done.ok().out else None
    tag = re.search(r"-py3-none-manylinux_(\d+)_(\d+)_\w+(?:\.\w+)*\.whl$", wheel)
    done.check(tag, "the wheel's name has no manylinux tag with a version: %s" % wheel)
    promised = tuple(map(int, tag.groups()))
    done.check(promised <= (2, 28), "the wheel is for glibc %d.%d and later; 2.28 was meant" % promised)
    with tempfile.TemporaryDirectory(dir=run.BUILD) as folder, zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        for held in HELD:
            done.check(any(name.endswith(".data/data/" + held) for name in names), "%s is missing in the wheel" % held)
        for licence in ("LICENSE", "LICENSE.jemalloc"):
            done.check(any(name.endswith("dist-info/licenses/" + licence) for name in names), "%s is missing" % licence)
        archive.extractall(folder)
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            newest, anybody = needs(path)
            done.check(newest <= promised, "%s needs glibc %d.%d" % ((name,) + newest))
            done.check(not anybody, "%s needs %s, which glibc %d.%d does not have" % ((name, ", ".join(anybody)) + promised))
    print("%s: glibc %d.%d" % ((os.path.basename(wheel),) + promised))


def environment(flavour, place):
    """A clean virtual environment with the MPI of PyPI, mpi4py and the wheel. The versions are those of scripts/get-mpis."""
    wanted = []
    for name in (flavour, "mpi4py"):
        stamp = os.path.join(os.environ.get("MORTAR_MPIS", ""), name, "stamp")
        if not os.path.exists(stamp):
            raise Skip("no %s: scripts/get-mpis fetches it" % name)
        with open(stamp, encoding="utf-8") as file:
            wanted += [word for word in file.read().split() if not word.startswith("impi-devel")]
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    pip = [os.path.join(place, "bin", "pip"), "install", "--quiet", "--no-input", "--only-binary", ":all:", "--retries", "2"]
    fetched = run.run([*pip, *wanted], seconds=200)
    if fetched.code:
        raise Skip("pip cannot get %s: %s" % (" ".join(wanted), fetched.err.strip()))
    run.run([*pip, "--no-index", the_wheel()], seconds=60).ok()


def beside(flavour):
    """mpirun -n 4 mortar run python app.py: calls are taken in the shared heap. The other commands find what they need, and pip
    takes everything away again."""
    with tempfile.TemporaryDirectory(dir=run.BUILD) as folder:
        place, report = os.path.join(folder, "env"), os.path.join(folder, "report.json")
        environment(flavour, place)
        programs = os.path.join(place, "bin")
        # scripts/mpi takes the launcher beside that wrapper, whether it is there or not
        env = {"PATH": programs + ":" + os.environ["PATH"], "MORTAR_MPICC": os.path.join(programs, "mpicc"), "VIRTUAL_ENV": place}
        done = run.run([run.LAUNCH, flavour, "4", "mortar", "run", "--report", report, "python", EXCHANGE], 120, env, report)
        done.ok("4 ranks, 0 errors").silent()
        done.check(done.report is not None, "there is no report")
        done.check(done.report["heap"] == "on", "the heap is not on")
        for collective, calls in (("alltoall", 2), ("allgather", 1)):
            done.check(done.calls(collective=collective) >= calls, "no %ss were taken" % collective)
        doctor = run.run([run.LAUNCH, flavour, "2", "mortar", "doctor", "--json"], 60, env)
        doctor.check(place in doctor.out, "mortar doctor looks at an MPI outside of the environment")
        json.loads(doctor.out)
        bench = run.run([run.LAUNCH, flavour, "2", "mortar", "bench", "alltoall", "--bytes", "8", "--seconds", "0.05"], 60, env)
        bench.ok("2 ranks", place)
        run.run(["mortar", "info"], env=env).ok()
        run.run(["mortar", "--version"], env=env).ok("0.")
        run.run([os.path.join(programs, "pip"), "uninstall", "--quiet", "--yes", "mortar-mpi"]).ok()
        left = [path for path in glob.glob(os.path.join(place, "**"), recursive=True) if "mortar" in path[len(place):]]
        if left:
            raise Failure("pip uninstall leaves %s" % ", ".join(left))


def test(what):
    if what == "build":
        build()
    else:
        beside(what)


run.main(test)
