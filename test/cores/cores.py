# SPDX-License-Identifier: BSD-3-Clause
"""cores - `mortar cores` as a user calls it. Its rules, by a machine on which all that takes time is that a line moves; every plan
of every collective, right on up to 96 cores; the machines that come with it; what docs/cores.md says of barriers; its errors."""
import csv
import os
import subprocess
import sys
import tempfile

# A line from another core takes 100, 1000 or 10000 ns, everything else nothing; readers do not keep a line busy.
PLAIN = "cores 16\ngroup 4\nsocket 8\nhand_over 100 1000 10000\nmemory 0\ntouch 0\nlocked 0\nreading 0\noverlap 10\n"


def run(*words, **env):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, "MORTAR_FAN": "0", **env})
    return done.returncode, done.stdout + done.stderr


def expect(fine, what):
    if not fine:
        sys.exit("FAILED: %s" % (what,))


def table(*words, column="ns", **env):
    """Nanoseconds by (what, plan, ranks, bytes)."""
    status, text = run(*words, "--csv", **env)
    expect(status == 0, (words, text))
    return {(row["what"], row["plan"], int(row["ranks"]), int(row["bytes"])): float(row[column])
            for row in csv.DictReader(text.splitlines())}


def rules(cores, folder):
    """In a group of 4 all hand-overs take 100 ns. One counter, one flag, p ranks: the counter comes from a core of the last
    barrier, then goes on p - 1 times; the last rank takes the flag's line from the others, who get it back at once. Dissemination:
    a line to write, a line to read, in each of log p steps."""
    path = os.path.join(folder, "plain")
    with open(path, "w") as file:
        file.write(PLAIN)
    times = table(*cores, "--machine", path, "--designs", "--enter", "0", "--ranks", "2,3,4")
    for p in 2, 3, 4:
        central = times["design", "central", p, 0]
        expect(100 * p <= central <= 100 * (p + 2), (p, central))
        steps = (p - 1).bit_length()
        spread = times["design", "dissemination", p, 0]
        expect(100 * steps <= spread <= 200 * steps, (p, spread))
    # The farthest pair decides: across sockets a barrier takes 10000 ns at least, within a socket it never does.
    times = table(*cores, "--machine", path, "--designs", "--enter", "0", "--ranks", "8,16")
    for (_, name, p, _), time in times.items():
        expect(time >= 10000 if p == 16 else 1000 <= time < 10000, (name, p, time))
    # Lines of a barrier come from the others. Those of a call are not what ranks do before it: by columns each of two writes 64
    # lines into the other's buffer, which has a copy of them and gets them back before the next call; by rows each gets 64.
    for column, most in ("memory", 0), ("near", 2 * 10):
        lines = table(*cores, "--machine", path, "--designs", "--ranks", "2", column=column)
        expect(all(count <= most for count in lines.values()), (column, lines))
    for order, least in ("columns", 0), ("rows", 2 * 64):
        words = ["--ranks", "2", "--bytes", "4096", "--plan", "pull(%s, plain)" % order, "alltoall"]
        lines = table(*cores, "--machine", path, *words, column="near")
        expect(len(lines) == 1 and all(least <= count < least + 20 for count in lines.values()), lines)
    # Readers that keep the line busy for its whole time get it one after the other.
    with open(path, "a") as file:
        file.write("reading 1\n")
    slow = table(*cores, "--machine", path, "--designs", "--enter", "0", "--ranks", "4")["design", "central", 4, 0]
    expect(100 * (4 + 3) <= slow, slow)


def plans(cores):
    """Every plan that the planner weighs, on a node of several groups, which verifies its results; with gates of all widths."""
    for fan in "0", "1", "2", "3":
        for ranks in ("2,5,9", "17") if fan == "0" else ("9",):
            seen = table(*cores, "--ranks", ranks, "--bytes", "8,1032", "--plans", "64", MORTAR_FAN=fan)
            expect(len({what for what, _, _, _ in seen}) == 9 and len(seen) > 65, len(seen))
    seen = table(*cores, "--plans", "1", "--bytes", "8,512")
    expect(all(ranks == 96 for _, _, ranks, _ in seen) and len(seen) == 17, seen)


def claims(cores):
    """docs/cores.md: the library's barrier of one counter, and with gates for 4, on every machine."""
    for machine in "epyc-2x48", "epyc-2x96", "xeon-2x56", "xeon-4x18", "arm-64", "grace-72", "knc-60":
        words = [*cores, "--machine", machine, "barrier", "allreduce", "--bytes", "8", "--plans", "1"]
        one, gates = table(*words, MORTAR_FAN="1"), table(*words, MORTAR_FAN="0")
        expect(one.keys() == gates.keys() and len(one) == 2, one)
        for key in one:
            expect(one[key] > 2.5 * gates[key], (machine, key, one[key], gates[key]))
        status, text = run(*cores, "--machine", machine, "--designs")
        expect(status == 0 and "Simulated" in text and "WRONG" not in text, text)
    # Neither the readers' acknowledgements nor the root's follow each other from one end of the node to the other.
    handed_over = 96 * 107
    seen = table(*cores, "--plan", "mailbox", "--bytes", "8", "bcast", "scatter", "gather")
    expect(len(seen) == 3 and all(time < 0.6 * handed_over for time in seen.values()), (handed_over, seen))


def papers(cores):
    """docs/cores.md, against the papers: li2018 (its figure 9) on four E7-8890. SH-NUMA-CO is ahead of SH-Naive, most so in
    allgather. SH-CO, which knows no sockets, falls behind both from 512 bytes on."""
    def time(what, order, size):
        words = ["--machine", "xeon-4x18", "--between", "cold", "--plan", "pull(%s, plain)" % order]
        return next(iter(table(*cores, *words, "--bytes", size, what).values()))
    naive, curve, steps = (time("allgather", order, "512") for order in ("rows", "morton", "numa(morton)"))
    expect(naive > 1.3 * steps and curve > naive, (naive, curve, steps))
    naive, steps = (time("alltoall", order, "64") for order in ("rows", "numa(morton)"))
    expect(naive > 1.15 * steps, (naive, steps))


def between(cores):
    """What ranks do before a call decides where its lines come from: nowhere, if the buffers are as the last call left them."""
    words = [*cores, "--machine", "arm-64", "--ranks", "2", "--bytes", "4096", "--plan", "pull(rows, plain)", "alltoall"]
    still, used, cold = (table(*words, "--between", word) for word in ("nothing", "use", "cold"))
    for key in still:
        expect(still[key] < used[key] < cold[key], (still, used, cold))
    # Who writes into the buffers of others is done sooner, but then they have to fetch what they read.
    times = {(order, column): next(iter(table(*cores, "--machine", "xeon-4x18", "--bytes", "4096", "--plan",
                                              "pull(%s, plain)" % order, "alltoall", column=column).values()))
             for order in ("rows", "columns") for column in ("ns", "round")}
    expect(times["columns", "ns"] < 0.5 * times["rows", "ns"], times)
    expect(times["columns", "round"] > 0.95 * times["rows", "round"], times)


def errors(cores, folder):
    path = os.path.join(folder, "wrong")
    for words, said in ((["--machine", "nowhere"], "--machine nowhere: no such description; known: arm-64 epyc-2x48"),
                        (["--machine", "./nowhere"], "./nowhere: cannot be read: No such file"),
                        (["--ranks", "1"], "--ranks 1: expected 2 to 96 on epyc-2x48"),
                        (["--ranks", "97"], "--ranks 97: expected 2 to 96"),
                        (["--ranks", "x"], "--ranks x: expected numbers of ranks"),
                        (["--bytes", "9"], "--bytes 9: expected multiples of 8 up to 1M"),
                        (["--bytes", "8X"], "--bytes 8X: expected"),
                        (["--bytes", ","], "--bytes : expected multiples"), (["--plans", "0"], "--plans 0: expected 1 to 64"),
                        (["--plan", "spiral", "barrier"], "spiral"), (["--plan", "cico", "barrier"], "cico"),
                        (["barrier", "alltoallw"], "alltoallw"), (["--nothing", "1"], "unknown option --nothing"),
                        (["--nothing"], "unknown option --nothing"), (["--machine", "/"], "/: cannot be read: Is a directory"),
                        (["--machine", "/dev/zero"], "/dev/zero:1: too long a line"),
                        (["barrier", "alltoall", "--plan", "central"], "central does not run alltoall"),
                        (["--enter", "late"], "--enter late: expected"), (["--ranks"], "--ranks needs a value"),
                        (["--between", "calls"], "--between calls: expected use, nothing or cold")):
        status, text = run(*cores, *words)
        last = text.splitlines()[-1]
        expect(status == 2 and last.startswith("mortar cores: ") and said in last, (words, status, text))
    for text in ("cores 4\n", PLAIN + "group 3\n", PLAIN + "cores 300\n", PLAIN + "speed 1\n", PLAIN + "hand_over 1 2\n",
                 PLAIN + "l2 1M\n", PLAIN + "l2 64 8\n", PLAIN + "l3 1M 8\nl3_time 9\n", PLAIN + "l2 1M 8\nl3 4M 8\n",
                 PLAIN + "inclusive on\n", PLAIN + "memory 1 2 3\n"):
        with open(path, "w") as file:
            file.write(text)
        status, said = run(*cores, "--machine", path)
        expect(status == 2 and path in said, (text, status, said))


def measured(cores, folder):
    """--measure describes the cores that it may use, here two, in whatever machine they are: what it writes can be read."""
    mine = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, mine)
    some, apart = "pack:2 l3:4 core:4 pu:1", "pack:%d core:1 pu:1" % (mine[-1] + 1)
    for env, said in (({}, "cores 2"), ({"MORTAR_TOPOLOGY": some}, "socket 2"), ({"MORTAR_TOPOLOGY": apart}, "group 1\nsocket 1")):
        status, text = run(*cores, "--measure", **env)
        if len(mine) < 2:
            expect(status == 2 and "--measure needs two cores" in text, text)
            return
        path = os.path.join(folder, "here")
        with open(path, "w") as file:
            file.write(text)
        expect(status == 0 and table(*cores, "--machine", path, "barrier", "--ranks", "2"), text)
        expect("\n%s\n" % said in text and "about ," not in text, (env, text))


def main(mortar):
    cores = [mortar, "cores"]
    with tempfile.TemporaryDirectory() as folder:
        rules(cores, folder)
        errors(cores, folder)
        plans(cores)
        claims(cores)
        papers(cores)
        between(cores)
        measured(cores, folder)


if __name__ == "__main__":
    main(sys.argv[1])
