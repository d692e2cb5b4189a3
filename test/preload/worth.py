# SPDX-License-Identifier: BSD-3-Clause
"""worth - mortar_plans of every kind of collective, on one node and over two.
usage: worth.py FLAVOUR"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402

NAMES = ("alltoall", "alltoallv", "allgather", "allgatherv", "bcast", "gatherv", "scatter", "reduce", "allreduce", "reduce_scatter",
         "neighbor_alltoallw")


def worth(flavour):
    p = 2 if flavour == "mpich4" else 4  # it spins: more ranks than processors take for ever
    for nodes in ("1", "2"):
        result = run.mpi(flavour, p, ["worth-" + flavour, nodes, *NAMES], env={"MORTAR_NODES": nodes})
        result.ok("%d ranks, 0 errors" % p).silent()


run.main(worth)
