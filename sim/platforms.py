#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""platforms - what is simulated: a machine's parameters, SimGrid's description of it, and which rank runs where.

As a command it writes a platform file and a host file, for use with smpirun by hand:
    sim/platforms.py 128x24 --placement shuffled --set overhead=5e-7 --output FOLDER"""
import argparse
import math
import os
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

# Seconds, bytes per second. One hop is a link; in a fat tree 2 hops lead to a node at the same leaf switch, 4 to any other.
DEFAULTS = {
    "overhead": 0.25e-6,  # o of LogGP: what a send and what a receive costs the rank
    "latency": 0.25e-6,  # of one hop
    "bandwidth": 6.8e9,  # of one link
    "loop_latency": 0.5e-6,  # of messages inside a node
    "loop_bandwidth": 10e9,
    "piece": 10e-9,  # copying: one piece, and each byte of it
    "byte": 0.1e-9,
    "combine": 0.2e-9,  # a byte
    "barrier": 0.2e-6,  # of the ranks of a node, and what each of them adds
    "barrier_each": 0.03e-6,
    "flag": 0.1e-6,  # until a waiting rank sees what another has written
    "gap": 0.0,  # of a network card: from one message of a node to its next
    "rank_byte": 0.0,  # a rank's own time for each byte that it sends to another node
}
PRICES = ("overhead", "piece", "byte", "combine", "barrier", "barrier_each", "flag", "gap", "rank_byte")
LEAF = 16  # nodes at a leaf switch, and spines
PLACEMENTS = ("ordered", "shuffled")


def describe(parameters):
    return " ".join("%s=%g" % (name, parameters[name]) for name in DEFAULTS)


def hops(nodes):
    """Of the longest way."""
    return 2 if nodes <= LEAF else 4


def xml(nodes, processors, parameters, topology=""):
    """Of the topology given, in SimGrid's words. Else a fat tree of two levels with full bisection; one switch for few nodes. It
    may have more nodes than are used."""
    p = parameters
    leaves = (nodes + LEAF - 1) // LEAF
    hosts = nodes if leaves == 1 or topology else LEAF * leaves
    if not topology:
        topology = 'FAT_TREE" topo_parameters="' + (
            "1;%d;1;1" % nodes if leaves == 1 else "2;%d,%d;1,%d;1,1" % (LEAF, leaves, LEAF))
    return """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- mortar: %d nodes, %s -->
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-%d" speed="10Gf" core="%d" bw="%gBps" lat="%gs"
    loopback_bw="%gBps" loopback_lat="%gs" topology="%s" sharing_policy="SPLITDUPLEX"/>
</platform>
""" % (nodes, describe(p), hosts - 1, processors, p["bandwidth"], p["latency"], p["loop_bandwidth"], p["loop_latency"], topology)


def hosts_of(path):
    """The hosts that a SimGrid platform file describes, in its order."""
    hosts = []
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        sys.exit("mortar: %s: expected a SimGrid platform file (XML): %s" % (path, error))
    for element in root.iter():
        if element.tag == "host":
            hosts.append(element.get("id"))
        elif element.tag == "cluster":
            for part in element.get("radical", "").split(","):
                match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
                if not match:
                    sys.exit("mortar: %s: <cluster> with radical=\"%s\": expected numbers, as in 0-127"
                             % (path, element.get("radical")))
                for number in range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1):
                    hosts.append("%s%d%s" % (element.get("prefix", ""), number, element.get("suffix", "")))
    if not hosts:
        sys.exit("mortar: %s: expected a SimGrid platform file with <host> or <cluster> elements, found none" % path)
    return hosts


def placed(hosts, placement):
    """The order in which nodes get their ranks: as they stand, or any; the same in every run."""
    if placement == "ordered":
        return list(hosts)
    source = random.Random(2018)
    keys = [source.random() for _ in hosts]
    return [host for _, host in sorted(zip(keys, hosts))]


def parse_size(text):
    """NODESxRANKS, or None."""
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    return (int(match.group(1)), int(match.group(2))) if match else None


def parse_settings(settings):
    """["overhead=5e-7", ...] over the defaults."""
    parameters = dict(DEFAULTS)
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            parameters[name] = type(parameters[name])(value)
        except (KeyError, ValueError):
            sys.exit("mortar: --set %s: expected NAME=NUMBER (seconds, bytes per second) with one of the names %s"
                     % (setting, " ".join(DEFAULTS)))
        if not 0 <= parameters[name] < math.inf or (name.endswith("bandwidth") and parameters[name] == 0):
            sys.exit("mortar: --set %s: expected a number %s" % (setting, "above 0" if name.endswith("bandwidth") else "from 0 on"))
    return parameters


def write(folder, nodes, ranks_per_node, parameters, placement, platform=None):
    """Writes the platform, unless one is given, and the host file; returns their paths."""
    hosts = hosts_of(platform) if platform else ["n%d" % i for i in range(nodes)]
    if len(hosts) < nodes:
        sys.exit("mortar: %s has %d hosts; expected at least %d" % (platform, len(hosts), nodes))
    if not platform:
        platform = os.path.join(folder, "platform.xml")
        with open(platform, "w", encoding="ascii") as file:
            file.write(xml(nodes, ranks_per_node, parameters))
    hostfile = os.path.join(folder, "hosts")
    with open(hostfile, "w", encoding="ascii") as file:
        for host in placed(hosts[:nodes], placement):
            file.write((host + "\n") * ranks_per_node)
    return platform, hostfile


def main():
    parser = argparse.ArgumentParser(description="writes FOLDER/platform.xml and FOLDER/hosts for smpirun")
    parser.add_argument("size", metavar="NODESxRANKS", help="for instance 128x24")
    parser.add_argument("--placement", choices=PLACEMENTS, default="ordered")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help=describe(DEFAULTS))
    parser.add_argument("--output", default=".", metavar="FOLDER")
    arguments = parser.parse_args()
    size = parse_size(arguments.size)
    if not size:
        parser.error("%s: expected NODESxRANKS, for instance 128x24" % arguments.size)
    os.makedirs(arguments.output, exist_ok=True)
    print("\n".join(write(arguments.output, *size, parse_settings(arguments.set), arguments.placement)))


if __name__ == "__main__":
    main()
