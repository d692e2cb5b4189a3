# SPDX-License-Identifier: BSD-3-Clause
"""wrappers - cmake and scripts/mpi tell whose MPI a compiler wrapper is by its mpi.h and its launcher, whatever it is called. The
MPIs are made up: a wrapper that adds a folder with an mpi.h of a few words.
usage: wrappers.py CMAKE"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(look LANGUAGES C)
include(%s/cmake/Flavours.cmake)
"""
# name: (words of mpi.h, what its launcher says, the flavour)
MPIS = {
    "open": ("#define OPEN_MPI 1\n#define OMPI_MAJOR_VERSION 3", "mpirun (Open MPI) 3.1.6", "ompi4"),
    "new": ("#define OPEN_MPI 1\n#define OMPI_MAJOR_VERSION 6", "mpirun (Open MPI) 6.0.0", "ompi5"),
    "mvapich": ("#define MVAPICH2_VERSION \"2.3\"\n#define MPICH_NUMVERSION 30201300", "HYDRA build details:\n    Version:  3.2.1",
                "mpich4"),
    "mpich": ("#define MPICH_NUMVERSION 50100300", "HYDRA build details:\n    Version:   5.1.0", "mpich5"),
    "intel": ("#define I_MPI_NUMVERSION 20211801300\n#define MPICH_NUMVERSION 30400002",
              "Intel(R) MPI Library for Linux* OS, Version 2021.18", "impi"),
    "only": ("#define MPI_ABI_VERSION 1", "", "mpich5abi"),
    "other": ("", "", None),
}


def script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def make(folder, name, header, said):
    """PREFIX/bin/mpicc and launchers, PREFIX/include/mpi.h."""
    prefix = os.path.join(folder, name)
    os.makedirs(os.path.join(prefix, "include"))
    with open(os.path.join(prefix, "include", "mpi.h"), "w", encoding="utf-8") as file:
        file.write(header + "\n")
    command = 'cc -I%s/include -L%s/lib -lmpi' % (prefix, prefix)
    script(prefix + "/bin/mpicc", 'case $1 in -show | --showme) echo "%s" ;; *) exec %s "$@" ;; esac\n' % (command, command))
    for launcher in ("mpirun", "mpiexec", "mpiexec.hydra"):
        script(os.path.join(prefix, "bin", launcher), "cat <<'END'\n%s\nEND\n" % said)
    return prefix + "/bin/mpicc"


def configure(cmake, folder, wrappers):
    """flavour: wrapper, of those that cmake has taken from the list."""
    project = os.path.join(folder, "project")
    os.makedirs(project, exist_ok=True)
    with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT % ROOT)
    env = {name: value for name, value in os.environ.items() if name != "MPI_HOME"}
    done = subprocess.run([cmake, "-S", project, "-B", os.path.join(folder, "build"), "-DMORTAR_MPIS=/nowhere",
                           "-DMORTAR_MPICC=" + ";".join(wrappers)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, check=False)
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("-- MPI ") and line.split()[-1] in wrappers:
            found[line.split()[2].rstrip(":")] = line.split()[-1]
    return found, done.stdout


def expect(what, fine, shown):
    if not fine:
        sys.exit("wrong: %s\n%s" % (what, shown))
    print("ok: " + what)


def main():
    with tempfile.TemporaryDirectory() as folder:
        wrappers = {name: make(folder, name, header, said) for name, (header, said, _) in MPIS.items()}
        again = make(folder, "again", MPIS["open"][0], "")
        found, said = configure(sys.argv[1], folder, list(wrappers.values()) + [again, "/nowhere/mpicc"])
        for name, (_, _, flavour) in MPIS.items():
            expect("%s is %s" % (name, flavour), found.get(flavour) == wrappers.get(name) or not flavour, said)
        expect("of two that are alike the first one", again not in found.values(), said)
        expect("one of no kind, said", "other/bin/mpicc has an mpi.h of no kind" in said, said)
        expect("one that is not there, said", "MPI: /nowhere/mpicc" in said and "failed" in said, said)
        for name, (_, _, flavour) in MPIS.items():
            if not flavour or flavour.endswith("abi"):
                continue
            for how in {"MORTAR_MPICC": "/nowhere/mpicc:" + wrappers[name]}, {"MPI_HOME": os.path.join(folder, name)}:
                told = subprocess.run([os.path.join(ROOT, "scripts", "mpi"), "--cc", flavour], stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, **how, "MORTAR_MPIS": "/nowhere"}, check=False).stdout
                expect("scripts/mpi finds %s by %s" % (name, *how), wrappers[name] in told, told)


main()
