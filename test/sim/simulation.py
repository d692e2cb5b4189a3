# SPDX-License-Identifier: BSD-3-Clause
"""simulation - mortar under SMPI: results are right, times the same to the last digit in every run, what is charged is paid, and
`mortar predict` writes what `mortar info` reads."""
import json
import os
import signal
import subprocess
import sys
import tempfile

build = sys.argv[1]
if not os.path.exists(os.path.join(build, "lib", "mortar-sim")):
    print("skipped: mortar was built without SimGrid (libsimgrid-dev)")
    sys.exit(77)
sys.path.insert(0, os.path.join(build, "lib", "mortar-predict"))
import platforms
import simulate

COLLECTIVES = ("barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce"
               " reduce_scatter_block scan exscan").split()
complaints = []


def expect(condition, text):
    if not condition:
        complaints.append(text)
        print("WRONG: " + text)


def seconds(size, collective, sizes, plans, **how):
    return {(row["plan"], int(row["bytes"])): float(row["seconds"])
            for row in simulate.Cell(size, collective, sizes, plans, seconds=60, **how).run()}


def right_everywhere():
    """Cell.run raises Failed where a result is wrong."""
    cells = [simulate.Cell(size, collective, [4, 100, 20000], ["native", "auto"], seconds=60)
             for collective in COLLECTIVES for size in ((1, 5), (4, 2), (3, 1))]
    rows, wrong = simulate.run_cells(cells, quiet=True)
    expect(not wrong, "; ".join(wrong))
    expect(len(rows) == 6 * len(cells), "%d rows of %d cells" % (len(rows), len(cells)))
    expect(all(row["verified"] == "verified" for row in rows), "a row is not verified")
    print("%d rows, all verified" % len(rows))


def the_same_again():
    first = seconds((4, 2), "alltoall", [8, 512], ["native", "auto"])
    expect(first == seconds((4, 2), "alltoall", [8, 512], ["native", "auto"]), "a second run has other times")
    expect(first["native", 8] != seconds((4, 2), "alltoall", [8], ["native"], parameters={"overhead": 1e-6})["native", 8],
           "the overhead of a message changes nothing")


def what_is_charged():
    """cico of 4 ranks: one piece in, four out, one barrier, in which three wait for a flag."""
    price = {"piece": 1e-3, "byte": 1e-5, "barrier": 7.0, "barrier_each": 0.25, "flag": 100.0}
    took = seconds((1, 4), "alltoall", [16], ["cico"], parameters=price)["cico", 16]
    expected = (1 + 4) * 1e-3 + (4 * 16 + 4 * 16) * 1e-5 + 7 + 4 * 0.25 + 100
    expect(abs(took - expected) < 1e-6, "cico took %.9g s; its copies, barrier and flag are %.9g s" % (took, expected))


def lengths_unknown():
    """Where ranks do not know each other's counts the plan still fits the length of the blocks."""
    rows = {(row["plan"], row["bytes"]): row for row in simulate.Cell((8, 4), "alltoallv", [8, 8192], ["native", "auto"],
                                                                     seconds=60).run()}
    plans = [rows["auto", size]["ran"] for size in ("8", "8192")]
    expect(plans[0] != plans[1], "short and long blocks of an alltoallv: both by " + plans[0])
    gain = float(rows["native", "8"]["seconds"]) / float(rows["auto", "8"]["seconds"])
    expect(gain > 2, "alltoallv of 8 B: only %.2f times as fast as SMPI's" % gain)


def adapters():
    """A card's limits. gap: the 4 ranks of a node send 12 others 48 messages, and the last leaves 47 gaps after the first at the
    earliest. rank_byte: each of them sends 12 blocks itself. Neither counts inside a node."""
    plans = ["native", "direct"]
    free = seconds((4, 4), "alltoall", [4096], plans)
    gap = seconds((4, 4), "alltoall", [4096], plans, parameters={"gap": 1e-5})
    slow = seconds((4, 4), "alltoall", [4096], plans, parameters={"rank_byte": 1e-8})
    for plan in plans:
        without, gaps, slowly = (times[plan, 4096] for times in (free, gap, slow))
        expect(without < 20e-5 and 47e-5 <= gaps < 60e-5, "%s: %g s, with gaps of 10 us %g s" % (plan, without, gaps))
        expect(12 * 4096e-8 <= slowly < 16 * 4096e-8, "%s: with 10 ns of a rank for a byte %g s" % (plan, slowly))
    alone = seconds((1, 4), "alltoall", [64], ["native"])
    expect(alone == seconds((1, 4), "alltoall", [64], ["native"], parameters={"gap": 1e-3, "rank_byte": 1e-3}),
           "a card's limits count inside a node")


def what_the_model_is_told():
    """The model expects of `direct`, which copies nothing, the same from a network that was measured in the simulation as from the
    simulator's prices, but that the overhead of a send is measured with the card's gaps in it; and something else from its own
    constants."""
    card = {"overhead": 1e-6, "gap": 2e-6, "rank_byte": 1e-9, "bandwidth": 3e9}
    for block in (64, 4096):
        direct = {}
        for facts in ("told", "measured", "usual"):
            rows = simulate.Cell((4, 4), "alltoall", [block], ["auto"], card, facts=facts, model=True, seconds=60).run()
            direct[facts] = next(float(row["seconds"]) for row in rows if row["plan"] == "direct(32)")
        expect(1 <= direct["measured"] / direct["told"] < 1.2, "measured and told, %d B: %s" % (block, direct))
        expect(direct["usual"] < 0.5 * direct["told"], "the model's own constants, %d B: %s" % (block, direct))


def refusals():
    for collective, plan, told in (("alltoal", "native", "alltoallv"), ("alltoall", "brucke", "no plan")):
        try:
            simulate.Cell((2, 1), collective, [8], [plan], seconds=60).run()
            expect(False, "%s %s ran" % (collective, plan))
        except simulate.Failed as failed:
            expect(told in failed.args[0], "%s %s: %s" % (collective, plan, failed.args[0]))
    expect(platforms.parse_size("128x24") == (128, 24) and platforms.parse_size("128") is None, "parse_size")
    expect(simulate.parse_sizes("8:4K:x8") == [8, 64, 512, 4096], "parse_sizes")
    for read, text in [(simulate.parse_sizes, text) for text in ("-8", ",", "8:64:x1", "64:8:x2", "8:64", "x")] + [
            (platforms.parse_settings, [text]) for text in ("byte=nan", "bandwidth=0", "byte=-1", "bytes=1", "byte")]:
        try:
            expect(False, "%s is read as %s" % (text, read(text)))
        except SystemExit as refused:
            expect((text if isinstance(text, str) else text[0]) in str(refused.code), "%s: %s" % (text, refused.code))


def half_written():
    """A CSV file that cannot be written whole stays as it was, with nothing beside it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        simulate.write_csv(path, [{"collective": "bcast"}])
        with open(path, encoding="ascii") as file:
            before = file.read()
        try:
            simulate.write_csv(path, [{"no such": "column"}])
            expect(False, "a row of other columns was written")
        except ValueError:
            pass
        with open(path, encoding="ascii") as file:
            expect(file.read() == before and os.listdir(folder) == ["rows.csv"], "half a file: %s" % os.listdir(folder))


def prediction():
    mortar = os.path.join(build, "bin", "mortar")
    with tempfile.TemporaryDirectory() as folder:
        platforms.write(folder, 3, 2, platforms.DEFAULTS, "ordered")
        path = os.path.join(folder, "tuning.json")
        answer = subprocess.run([mortar, "predict", "--platform", os.path.join(folder, "platform.xml"), "--ranks-per-node", "2",
                                 "--collective", "allgather", "--sizes", "8,4K", "--tuning", path, "--quiet"],
                                capture_output=True, text=True, timeout=100)
        expect(answer.returncode == 0 and "native us" in answer.stdout, "predict: %s%s" % (answer.stdout, answer.stderr))
        with open(path, encoding="utf-8") as file:
            made = json.load(file)["sets"][0]
        expect("simulated" in made["mpi"] and "simulated" in made["kernel"], "the tuning file hides that it is simulated")
        entries = [(entry["ranks"], entry["nodes"], entry["from"], entry["to"]) for entry in made["entries"]]
        expect(entries == [(6, 3, 8, 4095), (6, 3, 4096, 8191)], "entries %s" % entries)
        answer = subprocess.run([mortar, "info", "--tuning", path], capture_output=True, text=True, timeout=60)
        expect("simulated (SimGrid" in answer.stdout and answer.stdout.count("allgather") == 2,
               "mortar info --tuning: %s%s" % (answer.stdout, answer.stderr))
        expect(all(entry["plan"] != "native" and entry["gain"] > 1 for entry in made["entries"]), "plans %s" % made["entries"])
        answer = subprocess.run([mortar, "predict", "--platform", "3x2", "--collective", "bcast", "--sizes", "8", "--tuning", path],
                                capture_output=True, text=True, timeout=60)
        expect(answer.returncode == 0, "into a file that is there: %s" % answer.stderr)
        answer = subprocess.run([mortar, "info", "--tuning", path], capture_output=True, text=True, timeout=60)
        expect(answer.stdout.count("allgather") == 2 and answer.stdout.count("bcast") == 1, "a second collective: " + answer.stdout)
        answer = subprocess.run([mortar, "predict", "--platform", "2x1", "--collective", "bcast", "--sizes", "8"], text=True,
                                capture_output=True, timeout=60, env=dict(os.environ, TMPDIR=os.path.join(folder, "none")))
        expect(answer.returncode == 0, "TMPDIR names nothing: " + answer.stderr)
        expect(sorted(os.listdir(folder)) == ["hosts", "platform.xml", "tuning.json"], "left: %s" % os.listdir(folder))
        for words, code, told in (
                (["--platform", "3x2", "--tuning", os.path.join(folder, "hosts")], 1, "hosts"),
                (["--platform", "2by2"], 2, "NODESxRANKS"),
                (["--platform", "3x2", "--collective", "barrier", "--tuning", path], 2, "no bytes"),
                (["--platform", "3x2", "--sizes", "8,0"], 2, '--sizes "0,8": expected bytes of a block'),
                (["--platform", "3x2", "--collective", "allreduce", "--sizes", "8,10"], 2, '--sizes "10": sums are of 4-byte'),
                (["--platform", os.path.join(folder, "platform.xml"), "--ranks-per-node", "2", "--nodes", "4"], 2, "has 3"),
                (["--platform", "3x2", "--tuning", os.path.join(folder, "no", "file")], 2, "no/file"),
                (["--platform", "3x2", "--picture", "picture.gif"], 2, "picture.gif"),
                (["--platform", "3x2", "--collective", "barrier", "--picture", "picture.svg"], 2, "and these have none"),
                (["--platform", "3x2", "--tuning", "/dev/null"], 2, "/dev/null"),
                (["--platform", "3x2", "--csv", path], 2, "is none of ours"),
                (["--platform", "3x2", "--like", path + "x", "--tuning", path], 1, path + "x"),
                (["--platform", "9999x99", "--sizes", "1M"], 1, "--lean"),
                (["--platform", "3x2", "--plans", "ring", "ringe"], 2, '--plans "ringe": "ringe" is no plan'),
                (["--platform", "3x2", "--collective", "scam"], 2, '--collective "scam"'),
                (["--platform", "3x2", "--sizes", "8", "--plans", "leader(7,ring)", "ring"], 1, "leader(7,ring)")):
            answer = subprocess.run([mortar, "predict", "--collective", "allgather", *words], capture_output=True, text=True,
                                    timeout=60)
            expect(answer.returncode == code and told in answer.stderr and "Traceback" not in answer.stderr,
                   "%s: %d, %s" % (" ".join(words), answer.returncode, answer.stderr))
            expect(code != 2 or "1/" not in answer.stderr, "%s: told after a simulation" % " ".join(words))


def unread():
    """Nobody reads the table: the files are written nevertheless."""
    with tempfile.TemporaryDirectory() as folder:
        end, closed = os.pipe()
        os.close(end)
        told, tuning = os.path.join(folder, "told.csv"), os.path.join(folder, "tuning.json")
        done = subprocess.run([os.path.join(build, "bin", "mortar"), "predict", "--platform", "2x1", "--collective", "bcast",
                               "--sizes", "8", "--quiet", "--csv", told, "--tuning", tuning], stdout=closed,
                              stderr=subprocess.PIPE, text=True, timeout=60, env=dict(os.environ, PYTHONUNBUFFERED="1"))
        os.close(closed)
        expect(not done.stderr and os.path.exists(told) and os.path.exists(tuning), "a closed pipe: %s%s" % (
            os.listdir(folder), done.stderr))


def nothing_printed():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([os.path.join(build, "bin", "mortar"), "predict", "--platform", "2x2", "--quiet", "--sizes", "8",
                               "--collective", "bcast"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "has not got everything: No space" in done.stderr,
           "standard output is full: %d, %s" % (done.returncode, done.stderr))


def full_disk():
    """The tuning file that is there stays as it is, and nothing lies beside it. In a mount namespace, where one can be made."""
    predict = '"$@" predict --platform 2x2 --quiet --sizes 8 --collective'
    script = ('mount -t tmpfs -o size=64K none "$1" || exit 77; cd "$1"; shift; %s bcast --tuning t.json >/dev/null || exit 78;'
              ' cp t.json .. ; head -c 64K /dev/zero >rest; %s allgather --tuning t.json; echo "code $?";'
              ' cmp t.json ../t.json && ls' % (predict, predict))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "small"))
        done = subprocess.run(["unshare", "-r", "-m", "sh", "-c", script, "sh", os.path.join(folder, "small"),
                               os.path.join(build, "bin", "mortar")], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 77 or "unshare" in done.stderr:
            print("left out, no mount namespace here: a full disk")
            return
        said = done.stdout + done.stderr
        expect(done.stdout.endswith("code 1\nrest\nt.json\n") and "native us" in done.stdout and "Traceback" not in said
               and "cannot be written" in said and "No space left" in said, "a full disk: " + said)


def interruption(number):
    """By a signal: what has been simulated is told and kept, nothing stays behind, and no tuning file pretends to know the rest."""
    with tempfile.TemporaryDirectory() as folder:
        told, tuning = os.path.join(folder, "told.csv"), os.path.join(folder, "tuning.json")
        command = [os.path.join(build, "bin", "mortar"), "predict", "--platform", "16x8", "--collective", "alltoall", "--sizes",
                   "8,64", "--jobs", "1", "--csv", told, "--tuning", tuning]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env=dict(os.environ, TMPDIR=folder))
        first = ("1/1,", "1/")  # the cost model, then a simulation
        while first:
            line = process.stderr.readline()
            first = first[line.startswith(first[0]):] if line else ()
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        expect(process.returncode == 128 + number and "interrupted" in errors and "tuning.json is not written" in errors
               and "Traceback" not in errors and "native" in out, "signal %d: %d, %s%s" % (number, process.returncode, out, errors))
        expect(os.listdir(folder) == ["told.csv"], "signal %d leaves %s" % (number, os.listdir(folder)))
        expect(len(simulate.read_csv(told)) == 2, "a signal: the rows that had been simulated are lost")


for part in (right_everywhere, the_same_again, what_is_charged, adapters, what_the_model_is_told, lengths_unknown,
             refusals, half_written, prediction, unread, nothing_printed, full_disk):
    part()
for interrupt in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    interruption(interrupt)
sys.exit(1 if complaints else 0)
