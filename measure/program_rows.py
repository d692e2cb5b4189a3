# SPDX-License-Identifier: BSD-3-Clause
"""program_rows - what measure/programs.py runs, and what it writes down of each run."""
ROWS = {  # name: words; `first` also runs on 64 ranks
    "first, 1 call": ["first", "--iterations", "1"],
    "first, 10 calls": ["first", "--iterations", "10"],
    "first, 100 calls": ["first", "--iterations", "100"],
    "first, 1000 calls": ["first", "--iterations", "1000"],
    "300 duplicates, 1 call each": ["communicators", "--size", "1"],
    "300 duplicates, 2 calls each": ["communicators", "--size", "2"],
    "300 duplicates, 100 calls each": ["communicators", "--size", "100"],
    "300 splits, 2 calls each": ["communicators", "--size", "2", "--split"],
    "planewave": ["planewave"],
    "density": ["density"],
    "solver": ["solver"],
    "chemistry": ["chemistry"],
    "dynamics": ["dynamics"],
    "late ranks, reduce of 512 KiB": ["late"],
    "fresh buffers, 1-64 MiB": ["fresh"],
}
APPLICATIONS = {  # of examples/: those of Li et al. 2018
    "heat2d, 512 x 512": ["heat2d", "--n", "512"],
    "heat3d, 32 x 32 x 32 each": ["heat3d", "--n", "32"],
    "FFT, class S": ["fft3d", "--class", "S"],
    "FFT, class W": ["fft3d", "--class", "W"],
    "FFT, class W, pencils, subarrays": ["fft3d", "--class", "W", "--decomposition", "pencil", "--types"],
    "FFT, class A": ["fft3d", "--class", "A"],
}
INSTALLED = {  # the distribution's applications, which `scripts/setup applications` installs; their inputs are in bench/installed
    "LAMMPS, 6912 atoms": ["lmp", "-in", "melt.lmp"],
    "LAMMPS, 1728 ions, PPPM": ["lmp", "-in", "ions.lmp"],
    "Quantum ESPRESSO, 8 atoms of silicon": ["pw.x", "-in", "si.pw"],
    "CP2K, 4 molecules of water": ["cp2k.psmp", "water.cp2k"],
    "ABINIT, silicon": ["abinit", "si.abi"],
    "NWChem, 2 molecules of water": ["nwchem.openmpi", "water.nw"],
    "ScaLAPACK, its test of complex LU": ["xzlu"],
}
RESULTS = {  # the lines of their output that are the result
    "lmp": r"^ +\d+ +-?\d+\..*", "pw.x": r"^!.*|Total force.*SCF|P= .*", "cp2k.psmp": r"ENERGY\|.*", "abinit": r"^ ETOT.*",
    "nwchem.openmpi": r"Total DFT energy.*", "xzlu": r"\d+ tests completed.*",
}
ALONE = {  # no collective: one rank, judged by its processors' time, too
    "gather": ["gather"],
    "gather, huge pages advised": ["gather", "--advise"],
    "triad": ["triad"],
    "triad, huge pages advised": ["triad", "--advise"],
    "first touch": ["touch"],
    "first touch, huge pages advised": ["touch", "--advise"],
    "12 arrays of 32 KiB": ["fields"],
    "12 arrays of 1 MiB": ["fields", "--size", "1024", "--iterations", "1500"],
    "columns of 512 rows of 4 KiB": ["columns"],
    "calloc, touch, free, 64 KiB": ["zeroed", "--size", "64", "--iterations", "1000000"],
    "calloc, touch, free, 1 MiB": ["zeroed"],
    "calloc, touch, free, 16 MiB": ["zeroed", "--size", "16384", "--iterations", "2048"],
    "calloc, touch, free, 64 MiB": ["zeroed", "--size", "65536", "--iterations", "24"],
    "malloc, free, 1 thread": ["small"],
    "malloc, free, 2 threads": ["small", "--size", "2"],
    "realloc to 256 MiB by 1 MiB": ["grow"],
    "malloc_trim": ["trim"],
    "malloc of 1.7 times the memory": ["beyond"],
    "fork": ["fork"],
    "fork and exec": ["exec"],
    "Python, multiprocessing": ["pool.py"],
    "Python, numpy": ["vectors.py"],
}
NUMPY = {"vectors.py"}  # what needs it
MPIS = {"ompi4": "Open MPI 4.1", "mpich4": "MPICH 4.0", "ompi5": "Open MPI 5", "mpich5": "MPICH 5", "impi": "Intel MPI"}
SIDES = ("native", "mortar")
PARTS = ("wall", "init", "inside", "finalize")  # seconds; all but the first are those of rank 0
# Seconds of processors: of the launcher and all that it starts, and of rank 0 inside.
BUSY = ("cpu", "busy")
# MiB of rank 0 at a moment of the program's choice; 0: it chose none. Of applications: see examples/memory.h; of all ranks.
MEMORY = ("rss", "pss", "private", "huge")
NUMBERS = (*PARTS, *BUSY, *MEMORY, "faults")
FIELDS = ["mpi", "program", "ranks", "turn", "side", *PARTS, "load", "machine", "commit", *BUSY, *MEMORY, "faults", "answer"]
CROWD = 64
SHARE = 0.03  # of the native time that mortar may cost a program of ALONE
