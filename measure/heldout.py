#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""heldout - platforms that the cost model was never corrected on: fixed here, in a commit of its own, before the first run.

The grids of docs/reproduction.md are those on which the model was corrected, and there it is told the simulator's own prices. These
four differ in topology, in the number of nodes and ranks, in every price that the network has, and in the sizes of the blocks. None
has been simulated, and no plan of mortar's tried on one, before this list."""

COLLECTIVES, SIZES = ("alltoall", "allgather"), (32, 1024)
# Name: nodes, ranks of each, SimGrid's topology (empty: the fat tree of sim/platforms.py), hops of the longest way, parameters.
PLATFORMS = {
    "fat tree": ((48, 12), "", 4, {"overhead": 0.4e-6, "bandwidth": 12.5e9}),
    "dragonfly": ((36, 8), 'DRAGONFLY" topo_parameters="3,2;2,1;3,1;2', 5,
                  {"overhead": 0.2e-6, "bandwidth": 12.5e9, "latency": 0.1e-6}),
    "torus": ((64, 4), 'TORUS" topo_parameters="4,4,4', 6,
              {"overhead": 0.8e-6, "bandwidth": 2e9, "latency": 0.1e-6, "piece": 30e-9, "byte": 0.4e-9}),
    "ethernet": ((24, 16), "", 4, {"overhead": 1.5e-6, "bandwidth": 3.1e9, "latency": 2e-6, "barrier_each": 0.06e-6}),
}
# What the model is told: the simulator's prices; its own constants for copying and a network measured as `mortar bench network`
# does; its own constants for both.
FACTS = ("told", "measured", "usual")
# Simulated besides what it chooses, to find the best plan: so many of its list, as sim/model.py takes them.
RIVALS = 12
