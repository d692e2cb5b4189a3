#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""model - what the cost model expects of plans, against what they take in a simulation, and what its own choice costs.

    sim/model.py 64x8 alltoall --bytes 8,64,512,4K [--plans 12] [--set overhead=5e-7]

A row is a size: mortar's choice, the fastest of the plans simulated (the cheapest of the model's list, one for each algorithm and
inner routine, and the --also plans), their ratio, and the mean deviation of the expected times."""
import argparse
import statistics
import sys

import platforms
import simulate


def compare(arguments, parameters, size, block):
    """[(plan, expected, simulated)], mortar's choice first."""
    def cell(plans, model):
        return simulate.Cell(size, arguments.collective, [block], plans, parameters, arguments.placement, lean=arguments.lean,
                             seconds=arguments.seconds, model=model)
    expected = cell(["auto"], True).run()
    by_plan = {row["plan"]: float(row["seconds"]) for row in expected}
    plans = simulate.tried(expected, arguments.plans)
    plans += [row for row in by_plan if row in arguments.also and row not in plans]
    return [(row["plan"], by_plan[plan], float(row["seconds"]))
            for plan, row in zip(plans, cell(plans, False).run()) if simulate.as_asked(row)]


def main():
    parser = argparse.ArgumentParser(description="the cost model against simulations")
    parser.add_argument("size", metavar="NODESxRANKS")
    parser.add_argument("collective")
    parser.add_argument("--bytes", default="8,64,512,4K")
    parser.add_argument("--plans", type=int, default=16, help="how many to simulate")
    parser.add_argument("--also", nargs="+", default=[], help="plans to simulate besides")
    parser.add_argument("--placement", choices=platforms.PLACEMENTS, default="ordered")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help=platforms.describe(platforms.DEFAULTS))
    parser.add_argument("--lean", action="store_true")
    parser.add_argument("--all", action="store_true", help="every plan that was simulated")
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    size = platforms.parse_size(arguments.size)
    if not size:
        parser.error("%s: expected NODESxRANKS, for instance 64x8" % arguments.size)
    parameters = platforms.parse_settings(arguments.set)
    for block in simulate.parse_sizes(arguments.bytes):
        try:
            rows = compare(arguments, parameters, size, block)
        except simulate.Failed as failed:
            sys.exit("mortar: %s" % failed.args[0])
        choice, best = rows[0], min(rows, key=lambda row: row[2])
        error = statistics.geometric_mean(max(e / s, s / e) for _, e, s in rows)
        print("| %s %s | %d B | `%s` %.1f | `%s` %.1f | %.2f | %.2f |" % (
            arguments.size, arguments.collective, block, choice[0], choice[2] * 1e6, best[0], best[2] * 1e6, choice[2] / best[2],
            error), flush=True)
        for plan, e, s in rows if arguments.all else ():
            print("    %-34s expected %10.2f simulated %10.2f  %.2f" % (plan, e * 1e6, s * 1e6, e / s), flush=True)


if __name__ == "__main__":
    main()
