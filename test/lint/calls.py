# SPDX-License-Identifier: BSD-3-Clause
"""calls - inside src/ MPI is called by its PMPI_ names only: an MPI_ name would come back to mortar, or to another tool.
Types, constants, the definitions of what mortar takes in src/mpi and src/door, and the prototypes of src/abi are fine. Copy kernels
are called only where copy_fence follows."""
import os
import re

from common import c_files, code, main, matches, read

DEFINERS = ("src/mpi", "src/door", "src/abi")
KERNEL_CALLERS = ("src/copy/copy.h", "src/copy/grid.h", "src/copy/nt.c")  # copy_block; for layout_copy; itself a kernel


def check(root):
    findings = []
    paths = c_files(root, "src")
    if not paths:
        findings.append("nothing to check below " + root)
    for path in paths:
        text = code(read(root, path))
        for where, match in matches(root, path, r"\bMPI_[A-Z][a-z]\w*\(", text):
            # a definition or prototype has its return type before it on the line, from the first column; calls are indented
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            if not (re.fullmatch(r"\w[\w *]*", before) and os.path.dirname(path) in DEFINERS):
                findings.append("%s: call P%s instead" % (where, match.group()[:-1]))
        if path not in KERNEL_CALLERS:
            findings += ["%s: a kernel without copy_fence; call copy_block" % where
                         for where, _ in matches(root, path, r"(\.|->)move\(", text)]
    return findings


GOOD = {
    "src/mpi/alltoall.c": "int MPI_Alltoall(void) {\n    MPI_Comm c = (MPI_Comm)(x);\n    return PMPI_Comm_rank(c);\n}\n",
    "src/door/door.c": '/* MPI_Init(x) */\nvoid *f = dlsym(h, "MPI_Init(");\nint MPI_Init(int *a, char ***b);\n',
    "src/copy/copy.h": "kernels[k].move(to, from, bytes);\n",
    "src/reach/team.c": "int error = PMPI_Barrier(comm) != MPI_SUCCESS;\n",
}
BAD = [
    ({"src/mpi/alltoall.c": "int f(void) {\n    return MPI_Comm_rank(c);\n}\n"}, "src/mpi/alltoall.c:2: call PMPI_Comm_rank"),
    ({"src/reach/team.c": "int MPI_Init(int *a, char ***b) {}\n"}, "src/reach/team.c:1: call PMPI_Init"),
    ({"src/coll/pull.c": "if (MPI_Barrier(comm)) PMPI_Barrier(comm);\n"}, "call PMPI_Barrier"),
    ({"src/mpi/init.c": "int error = MPI_Init(a, b);\n"}, "call PMPI_Init"),
    ({"src/mpi/init.c": "int MPI_Init(int *a) { return MPI_Barrier(c); }\n"}, "call PMPI_Barrier"),
    ({"src/coll/pull.c": "void f(void) {\n    kernels[k].move(to, from, bytes);\n}\n"}, "src/coll/pull.c:2: a kernel without"),
    ({"src/mpi/types.c": "int f(void) {\n    PMPI_Test(r); MPI_Wait(r);\n}\n"}, "src/mpi/types.c:2: call PMPI_Wait"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
