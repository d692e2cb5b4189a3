# SPDX-License-Identifier: BSD-3-Clause
"""command - `mortar model` as a user calls it: its table, its errors, its pictures, the machines that come with it."""
import csv
import os
import subprocess
import sys
import tempfile


def run(*words, **env):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env={**os.environ, **env})
    return done.returncode, done.stdout


def expect(fine, what):
    if not fine:
        sys.exit("FAILED: %s" % (what,))


def neighbours(mortar):
    """On a grid each order copies the same blocks; numa(compact) writes into its own socket only, the plain curve into all."""
    words = ["--grid", "3x4x6", "--bytes", "4K", "--collective", "alltoall", "--csv"]
    status, text = run(mortar, "model", *words)
    rows = {row["order"]: row for row in csv.DictReader(text.splitlines())}
    expect(status == 0 and list(rows) == ["rows", "compact", "numa(compact)"], text)
    remote, owners = ({order: float(row[column]) for order, row in rows.items()} for column in ("remote", "ownership"))
    expect(remote["compact"] > 1.05 * remote["numa(compact)"] and owners["compact"] > 5 * owners["numa(compact)"], text)
    # Of 72 ranks (3 - 1) 4 6 + 3 (4 - 1) 6 + 3 4 (6 - 1) pairs are neighbours; each block has 64 lines, read and written once.
    least = 2 * 64 * 2 * (48 + 54 + 60) / 72
    expect(all(float(row["copied"]) == round(least, 1) for row in rows.values()), (least, text))
    expect(all(least <= float(row["l1"]) + float(row["nontemporal"]) for row in rows.values()), (least, text))


def ideal(mortar):
    """An ideal cache is one set, of which no part can be simulated alone: the blocks are counted in full. By columns a block of
    1M is read by each rank, and written to each: 2 x 2 x 16384 lines."""
    words = ["--machine", "ideal:512K", "--ranks", "2", "--bytes", "1M", "--orders", "columns", "--collective", "allgather"]
    status, text = run(mortar, "model", *words, "--csv")
    expect(status == 0 and [row["l1"] for row in csv.DictReader(text.splitlines())] == ["65536.0"], text)


def this(mortar):
    """The machine that it runs on: of a large one so many L3 caches as 128 cores have; without L2 and L3; as it is."""
    for topology, words, ranks in (("pack:2 l3:12 l2:8 core:1 pu:1", [], 128), ("pack:1 core:4 pu:1", [], 4),
                                   (None, ["--ranks", "1"], 1)):
        status, text = run(mortar, "model", "--machine", "this", *words, "--bytes", "64", "--collective", "alltoall", "--orders",
                           "numa(morton)", **({"MORTAR_TOPOLOGY": topology} if topology else {}))
        expect(status == 0 and "%d ranks" % ranks in text and text.count("numa(morton)") == 1, (topology, status, text))


def descriptions(mortar):
    """Machines without some caches are simulated. Others make no sense, and it is said which key is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machine")
        for text, said in (("cores 4\nl1 32K 8 lru", None), ("cores 4\nl1 32K 8 lru\nl3 1M 16 lru", None),
                           ("l1 32K 8 lru\nl2 256K 8 lru\nstream on\nstream_l3 0.6", "stream_l3: l3 is missing"),
                           ("l1 32K 8 lru\nstream on", "stream: it follows what l2 asks for"),
                           ("line 4\nl1 32K 8 lru", "line: 16 bytes to a page"), ("line 8\nl1 32K 8 lru", "line: 16 bytes"),
                           ("l1 48K 12 tree", "l1: a tree has 1, 2, 4 or 8 ways"), ("l1 48K 7 lru", "l1: its lines make no sets"),
                           ("l1 48K 12 lru\nl2 32 1 lru", "l2: 1 to 4G lines"),
                           ("l1 48K 12 lru\ntlb 10\ntlb_ways 4", "tlb: its lines make no sets")):
            with open(path, "w") as file:
                file.write(text + "\n")
            status, told = run(mortar, "model", "--machine", path, "--bytes", "64,4K")
            fine = status == 2 and told.startswith("mortar model: %s: %s" % (path, said)) if said else status == 0
            expect(fine, (text, status, told))


def packing(mortar):
    """Packed blocks of 8 bytes: row by row a line serves one block of eight, along the curve each line serves all its blocks.
    Blocks of a line's size give nothing to gain. The leader's cache holds what it has sent."""
    status, text = run(mortar, "model", "--machine", "e5-2680v3", "--packing", "16", "--bytes", "8,64")
    rows = {tuple(fields[1:3]): [int(field) for field in fields[3:6]]
            for fields in ([field.strip() for field in line.split("|")] for line in text.splitlines()) if len(fields) == 7 and
            fields[1].isdigit()}
    expect(status == 0 and len(rows) == 8, text)
    lines = 16 * 24 * 8 // 64  # of what a rank sends, or receives
    for way in "unpacking, rows", "unpacking, morton", "unpacking, morton, twice":
        expect(rows["64", way][0] >= 2 * 8 * lines, (way, text))
    by_rows, by_curve = rows["8", "unpacking, rows"], rows["8", "unpacking, morton"]
    expect(by_rows[1] > 8 * lines * 0.9 and by_rows[1] > 4 * by_curve[1], text)
    expect(0.85 < rows["64", "unpacking, rows"][1] / rows["64", "unpacking, morton"][1] < 1.2, text)
    expect(by_rows[2] == 0 and rows["8", "packing"][0] < 2 * lines, text)


def main(mortar):
    for machine in "e7-8890v3", "e5-2680v3", "knc-5110p", "epyc-7742":
        status, text = run(mortar, "model", "--machine", machine, "--ranks", "16", "--bytes", "64,4K", "--orders", "rows,morton")
        expect(status == 0 and "simulated" in text and text.count("morton") == 4, (machine, text))
    this(mortar)
    descriptions(mortar)
    neighbours(mortar)
    ideal(mortar)
    packing(mortar)
    for words, said in ((["--grid", "5x5"], "--grid"), (["--grid", "16"], "--grid"), (["--grid", "random0"], "--grid"),
                        (["--grid", "4x4x4x4"], "--grid"),
                        (["--ranks", "16", "--grid", "4x4", "--orders", "morton"], "--orders morton: it does not walk"),
                        (["--machine", "nowhere"], "--machine nowhere: no such description; known: e5-2680v3 e7-8890v3"),
                        (["--machine", "ideal:0"], "--machine ideal:0: expected bytes from 64"),
                        (["--orders", "spiral"], "--orders spiral: expected one of rows spread columns"),
                        (["--orders", "morton(rows)"], "--orders morton(rows): expected"), (["--orders", "numa"], "numa(...)"),
                        (["--bytes", "1G", "--orders", "rows"], "more than 4G cache lines"),
                        (["--bytes", "some"], "--bytes some: expected bytes"), (["--bytes", ","], "--bytes ,: expected words"),
                        (["--bytes", "8,,64"], "--bytes ,64: expected words"),
                        (["--orders", "rows," + 64 * "x"], "xxx: expected words"),
                        (["--ranks", "4", "--grid", "2x2abc"], "--grid"), (["--ranks", "4", "--grid", "2x-2x-1"], "--grid"),
                        (["--ranks", "73"], "--ranks 73: e7-8890v3 has 72 cores"),
                        (["--ranks", "abc"], "--ranks abc: expected a whole number from 1 to 128"),
                        (["--sample", "no"], "--sample no: expected a whole number"),
                        (["--ranks", "8", "--bytes", "64", "--sample", "16"], "a rank has 8 lines"),
                        (["--sample", "7"], "--sample 7: one of so many lines has no sets of its own"),
                        (["--collective", "bcast"], "--collective bcast: expected allgather or alltoall"),
                        (["--packing", "0"], "--packing 0: expected a whole number"),
                        (["--packing", "60000", "--bytes", "1M"], "--packing 60000, blocks of 1M bytes: more than 4G cache lines"),
                        (["--table", "x"], "--table x: expected a whole number from 1 to 2"),
                        (["--table", "3"], "--table 3: expected"),
                        (["--packing", "2", "--csv"], "--csv: --packing is a table only"),
                        (["--sensitivity", "--csv"], "--csv: --sensitivity is a table only"),
                        (["--line", "x"], "--line x: expected one or two numbers"), (["--line", "70,"], "--line 70,: expected"),
                        (["--nothing", "1"], "unknown option --nothing"), (["--nothing"], "unknown option --nothing"),
                        (["--bytes"], "--bytes needs a value"), (["--machine", "/"], "/: cannot be read: Is a directory"),
                        (["--machine", "/dev/zero"], "/dev/zero:1: too long a line")):
        status, text = run(mortar, "model", *words)
        expect(status == 2 and text.startswith("mortar model: ") and said in text.splitlines()[0], (words, status, text))
    expect(run(mortar, "model", "-h") == run(mortar, "model", "--help"), "model -h")
    if all(run(python, "-c", "import matplotlib")[0] != 0 for python in ("python3", "/usr/bin/python3")):
        print("no matplotlib: no pictures")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "a.svg")
        status, text = run(mortar, "model", "--ranks", "8", "--bytes", "64,512", "--svg", picture)
        expect(status == 0 and open(picture).read().count("<svg") == 1, (status, text))
        for name in "no/picture.svg", "picture.txt":
            name = os.path.join(folder, name)
            status, text = run(mortar, "model", "--ranks", "8", "--bytes", "64", "--svg", name)
            expect(status != 0 and text.startswith("mortar model: " + name + ": ") and "Traceback" not in text, (status, text))
        status, text = run(mortar, "model", "--svg", picture, "--png", "b.png")
        expect(status == 2 and "--png b.png: it draws one picture" in text, (status, text))
        for words in ["--table", "1"], ["--packing", "2"], ["--sensitivity"]:
            status, text = run(mortar, "model", *words, "--svg", picture)
            expect(status == 2 and "%s is a table: it draws no picture" % words[0] in text, (words, status, text))


if __name__ == "__main__":
    main(sys.argv[1])
