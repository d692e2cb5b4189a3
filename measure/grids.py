#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""grids - the simulated figures and tables of docs/reproduction.md: runs what is missing in docs/results/sim-NAME.csv.

    measure/grids.py li2018-12a --jobs 2
    measure/grids.py li2018-12a --only native       natives need no mortar plans"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
import platforms
import simulate

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "results")
ALL = ("mpich", "ompi", "mvapich2", "impi")
OVERHEADS = (0.1e-6, 0.25e-6, 0.5e-6)
PIECES = (0.0, 10e-9)  # the price of a copied piece; of a byte too when it is 0


def prices(overhead, piece):
    return {"overhead": overhead} if piece else {"overhead": overhead, "piece": 0.0, "byte": 0.0, "combine": 0.0}


class Grid:
    """One CSV file: plans and SMPI's selectors at all points of (overhead, price of copying, placement)."""

    def __init__(self, size, collectives, sizes, plans, selectors=ALL, overheads=OVERHEADS, pieces=PIECES,
                 placements=platforms.PLACEMENTS, late=(0.0,), lean=False, seconds=900, dear=()):
        """dear: plans that take long to simulate, at the usual copying price and in order only. lean, all but `overlap`, which
        would find what all nodes count in the same memory."""
        self.size, self.collectives, self.sizes, self.plans, self.selectors = size, collectives, sizes, plans, selectors
        self.points = [(o, piece, placement, delay) for o in overheads for piece in pieces for placement in placements
                       for delay in late]
        self.pieces, self.lean, self.seconds, self.dear = pieces, lean, seconds, dear

    def cells(self, known, only=None):
        """One process for each plan and size, of those that are not known."""
        for overhead, piece, placement, late in self.points:
            for collective in self.collectives:
                for plan in ["native"] + list(self.plans) + list(self.dear):
                    if only and plan not in only:
                        continue
                    if plan in self.dear and (placement != "ordered" or piece != self.pieces[-1]):
                        continue
                    # SMPI's own copies are free: one price will do
                    if plan == "native" and piece != self.pieces[-1]:
                        continue
                    for selector in self.selectors if plan == "native" else ("mpich",):
                        for block in self.sizes:
                            # and their results are not ours to verify
                            lean = plan == "native" or (self.lean and not plan.startswith("overlap"))
                            cell = simulate.Cell(self.size, collective, [block], [plan], prices(overhead, piece), placement,
                                                 selector, late, lean, seconds=self.seconds)
                            if cell.key(plan.replace(" ", ""), block) not in known:
                                yield cell


LEADERS = ["leader(1, bruck)", "leader(1, mnco(rows))", "leader(1, mnco(morton))", "leader(1, pairwise(4))", "auto"]
USUAL = {"overheads": (0.25e-6,), "pieces": (10e-9,), "placements": ("ordered",)}
TABLE_ONE = ["allgather", "alltoallv", "bcast", "reduce_scatter_block", "scatter", "allreduce", "gatherv", "scatterv", "alltoallw"]
MILLISECONDS = (0.0, 1e-3, 10e-3, 100e-3)

GRIDS = {
    "li2018-12a": Grid((256, 1), ["alltoall"], [8, 64, 512, 4096], ["bruck", "bruck(4)", "mnco(rows)", "mnco(morton)",
                       "auto"], ALL + ("alltoall:bruck",), dear=["direct"]),
    "li2018-12b": Grid((128, 24), ["alltoall"], [8, 64, 512, 4096], LEADERS, lean=True, pieces=(10e-9,)),
    # of 16 nodes, at one switch, the order does not matter
    "li2018-12b-16": Grid((16, 24), ["alltoall"], [8, 64, 512, 4096], LEADERS + ["bruck"], lean=True, pieces=(10e-9,),
                          placements=("ordered",)),
    "li2018-12b-32": Grid((32, 24), ["alltoall"], [8, 64, 512, 4096], LEADERS, lean=True, pieces=(10e-9,)),
    "li2018-12c": Grid((256, 1), ["allgather"], [8, 64, 512, 4096], ["bruck", "doubling", "mnco(rows)", "auto"],
                      dear=["ring"]),
    "li2018-13": Grid((128, 24), ["allgather"], [8, 64, 512], ["leader(1, bruck)", "leader(1, doubling)", "leader(1, mnco(rows))",
                      "overlap(doubling)", "overlap(ring)", "auto"], lean=True, pieces=(10e-9,)),
    "kumar2008": Grid((64, 8), ["alltoall"], [8, 64, 512, 4096], ["leader(1, direct)", "aggregate(pairwise)", "auto"], lean=True,
                      dear=["leader(1, pairwise)", "aggregate(direct)", "bruck(8)"]),
    "parsons2015-1": Grid((16, 8), TABLE_ONE, [64, 4096], ["universal(native)", "leader(1, native)", "auto"], ("mpich",), **USUAL),
    "parsons2015-1-64": Grid((64, 8), TABLE_ONE, [64, 4096], ["universal(native)", "leader(1, native)", "auto"], ("mpich",),
                             **USUAL),
    "parsons2015-1-128": Grid((128, 24), TABLE_ONE, [64, 4096], ["universal(native)", "leader(1, native)", "auto"], ("mpich",),
                              lean=True, **USUAL),
    "parsons2015-2": Grid((16, 16), ["reduce"], [128, 2048, 32768, 524288], ["universal(native)", "tardy", "auto"], ("mpich",),
                          late=MILLISECONDS, **USUAL),
}


def main():
    parser = argparse.ArgumentParser(description="runs what is missing of the simulated figures")
    parser.add_argument("names", nargs="*", default=list(GRIDS), metavar="NAME", help=" ".join(GRIDS))
    parser.add_argument("--only", metavar="PLAN", nargs="+")
    parser.add_argument("--bytes", type=int, nargs="+", help="only these sizes")
    parser.add_argument("--usual", action="store_true", help="only messages of 0.25 us, nodes in order")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="limit of one process")
    arguments = parser.parse_args()
    failed = False
    for name in arguments.names:
        if name not in GRIDS:
            parser.error("%s: expected one of %s" % (name, " ".join(GRIDS)))
        path = os.path.join(RESULTS, "sim-%s.csv" % name)
        rows = simulate.read_csv(path) if os.path.exists(path) else []
        cells = [cell for cell in GRIDS[name].cells({simulate.key_of(row) for row in rows}, arguments.only)
                 if (not arguments.bytes or cell.sizes[0] in arguments.bytes)
                 and (not arguments.usual or (cell.parameters["overhead"], cell.placement) == (0.25e-6, "ordered"))]
        for cell in cells:
            cell.seconds = arguments.seconds or cell.seconds

        def keep(more):
            rows.extend(more)
            rows.sort(key=lambda row: (float(row["overhead"]), float(row["piece"]), row["placement"], float(row["late"]),
                                       row["collective"], int(row["bytes"]), row["plan"], row["selector"]))
            simulate.write_csv(path, rows)

        print("%s: %d rows are there, %d are missing" % (name, len(rows), len(cells)), file=sys.stderr)
        for text in simulate.run_cells(cells, arguments.jobs, on_rows=keep)[1]:
            print("mortar: " + text, file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
