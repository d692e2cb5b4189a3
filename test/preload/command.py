# SPDX-License-Identifier: BSD-3-Clause
"""command - the command alone: `mortar run` and `mortar info` refuse what is wrong in one line, and answer what is right.
usage: command.py TEST"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402


def options():
    program = run.target("plain")
    for words, said in ((["--plan"], "--plan"), (["--frob", program], "--frob"), (["--option", "wait", program], "wait"),
                        (["--option", "WAIT", program], "WAIT"), ([], "which program"),
                        (["no-such-program"], "no such file, and no program of that name in PATH"),
                        (["./no-such-program"], "run: ./no-such-program: no such file"),
                        (["--report", program, "0.01"], "(--report took %s as its value)" % program),
                        (["--report", program], "(--report took %s as its value)" % program),
                        (["--report"], "--report"), (["--report=", program], "--report: its value is empty"),
                        (["--report", "", program], "--report: its value is empty"), (["-x", program], "-x"),
                        (["--option", "WIAT=spin", program], "MORTAR_WAIT"),
                        (["--option=WAIT=sometimes", program], "auto|spin|yield|futex"),
                        (["--heap=perhaps", program], "on|off|aside"),
                        (["--off", "bcast,alltoal", program], "did you mean alltoall?"), (["--off=everything", program],
                         "everything")):
        result = run.run([run.MORTAR, "run", *words])
        result.check(result.code == 2 and not result.out, "mortar run %s: exit code not 2" % words)
        result.check(len(result.lines()) == 1 and said in result.lines()[0], "mortar run %s: unclear" % words)
        again = run.run([run.MORTAR, "run", *words], env={"PMI_RANK": "3"})
        here = "no such file" in said or "0.01" in words  # other ranks may be on other nodes
        result.check(again.code == 2 and len(again.lines()) == (1 if here else 0), "mortar run %s: all ranks say it" % words)
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        for first, said in (("#!/no/such/shell -e", "/no/such/shell, which its first line names, is not there"),
                            ("#!/bin/sh\r", "its lines end as those of DOS do")):
            with open(script, "w", encoding="utf-8", newline="") as file:
                file.write(first + "\n")
            os.chmod(script, 0o755)
            result = run.run([run.MORTAR, "run", script])
            result.check(result.code == 2 and len(result.lines()) == 1 and "run: %s: %s" % (script, said) in result.lines()[0],
                         "a script without its reader: unclear")
        for name in "a:b", "a$LIB":  # the dynamic linker would look elsewhere
            there = os.path.join(folder, name)
            for part, file in ("bin", run.MORTAR), ("lib", os.path.join(os.path.dirname(run.MORTAR), "..", "lib", "libmortar.so")):
                os.makedirs(os.path.join(there, part))
                shutil.copy(file, os.path.join(there, part))
            result = run.run([os.path.join(there, "bin", "mortar"), "run", program])
            result.check(result.code == 2 and len(result.lines()) == 1 and "cannot preload from \"%s" % there in result.lines()[0],
                         "mortar in a folder %s: unclear" % name)
    run.run([run.MORTAR, "run", "--verbose=2", "--off", "all", "--", program]).ok("no MPI here")
    run.run([run.MORTAR, "run", "--off=bcast, alltoallw", program]).ok("no MPI here")
    run.run([run.MORTAR, "run", "--off", "all", run.MORTAR, "run", program]).ok("no MPI here").silent()
    apart = ["unshare", "-r", "-m", "sh", "-c", 'mount -t tmpfs none /proc || exit 77; exec "$@"', "sh"]
    if run.run([*apart, "true"]).code == 0:  # else no mount namespace can be made here
        run.run([*apart, run.MORTAR, "run", program]).ok("no MPI here")
    result = run.run([run.MORTAR, "frob"])
    result.check(result.code == 2 and "frob" in result.err, "mortar frob: unclear")
    result = run.run([run.MORTAR, "tune", "--merge", "out.json"])
    result.check(result.code == 2 and result.lines() == ["mortar: tune --merge: expected OUT FILE... (mortar --help)"],
                 "mortar tune --merge: unclear")
    run.run([run.MORTAR, "--version"]).ok("mortar ")
    result = run.run([run.MORTAR])
    result.check(result.code == 2 and "usage" in result.err, "mortar alone: no usage")
    run.run([run.MORTAR, "--help"]).ok("usage: mpirun")
    run.run([run.MORTAR, "run", "--help"]).ok("usage: mpirun")
    run.run([run.MORTAR, "run", "--", program]).ok("no MPI here")
    run.run([run.MORTAR, "info"]).ok("libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1")
    result = run.run([run.MORTAR, "info", "--plans", "frob"])
    result.check(result.code == 2 and "frob" in result.err, "mortar info --plans frob: unclear")
    for words in (["info"], ["info", "--plans", "alltoall"], ["cores", "--ranks", "2", "barrier"],
                  ["model", "--ranks", "2", "--bytes", "8", "--csv"]):
        result = run.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", run.MORTAR, *words])
        said = result.err.splitlines()
        result.check(result.code == 1 and len(said) == 1 and "standard output has not got everything" in said[0],
                     "mortar %s on a full disk: not said" % words)
    for words in (["frob"], ["--frob"], ["--plan", "alltoall", "4x4", "8"], ["--plan"], ["--tuning"], ["--merge", "out.json"],
                  ["--plans", "alltoall", "node"]):
        result = run.run([run.MORTAR, "info", *words])
        said = result.err.splitlines()
        result.check(result.code == 2 and not result.out and len(said) == 1 and " ".join(words) in said[0],
                     "mortar info %s: unclear" % words)
    for words in (["frob"], ["0"], ["4", "5"], ["4", "0"], ["70000"]):
        result = run.run([run.MORTAR, "info", "--orders", *words])
        result.check(result.code == 2 and "ranks" in result.err and not result.out, "mortar info --orders %s: unclear" % words)
    for question, wrong in (("frob 4x4 8", '"frob"'), ("alltoall", "missing"), ("alltoall 4y4 8", '"4y4"'),
                            ("alltoall 0x4 8", '"0x4"'), ("alltoall 4x4 8q", '"8q"'), ("alltoall 3,0 8", '"3,0"'),
                            ("alltoall 4x4 8 9", '"9"'), ("bcast 1x1", "one")):
        result = run.run([run.MORTAR, "info", "--plan", question])
        result.check(result.code == 2 and question in result.err and wrong in result.err and not result.out,
                     "mortar info --plan %s: unclear" % question)


def merges():
    """Merging replaces no file that it does not read."""
    def written(name, text):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
        return name

    def content(name):
        with open(name, encoding="ascii") as file:
            return file.read()

    with tempfile.TemporaryDirectory() as folder:
        none, new, link = ('{"format": "mortar tuning", "version": 1, "sets": []}\n', *(
            os.path.join(folder, name) for name in ("new.json", "link.json")))
        source, first, second = (written(os.path.join(folder, name), text) for name, text in (
            ("precious.c", "mine\n"), ("first.json", none), ("second.json", none + "\n")))
        for out in source, first:
            before = content(out)
            result = run.run([run.MORTAR, "tune", "--merge", out, second])
            result.check(result.code == 1 and result.err.count("\n") == 1 and out + ": it is there" in result.err
                         and content(out) == before, "mortar tune --merge overwrites %s" % out)
        os.symlink(second, link)
        for words in ([new, first, second], [first, first, second], [link, first, second]):
            result = run.run([run.MORTAR, "tune", "--merge", *words])
            result.check(result.code == 0 and not result.err and '"sets": [' in content(words[0]), "mortar tune --merge")


def scripts():
    """A script runs, also one that does not say what reads it, found by PATH or not; what nothing can read is refused."""
    with tempfile.TemporaryDirectory() as folder:
        for name, head in (("says", "#!/bin/sh\n"), ("silent", "")):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="ascii") as out:
                out.write(head + 'echo "$0: $# words, $1, $2"\n')
            os.chmod(path, 0o755)
            for word in (path, name):
                result = run.run([run.MORTAR, "run", word, "a b", ""], env={"PATH": folder + ":" + os.environ["PATH"]})
                result.ok("%s: 2 words, a b, \n" % path)
        path = os.path.join(folder, "broken")
        with open(path, "wb") as out:
            out.write(b"\177ELF, but not really")
        os.chmod(path, 0o755)
        result = run.run([run.MORTAR, "run", path])
        result.check(result.code != 0 and result.err, "a broken program: nothing is said")


def explain():
    """A choice explained: the parts of each plan's time add up; one that is nearly the cheapest is marked and comes first."""
    for question in ("alltoall 16x4 64", "allgather 5,3,1 1K", "barrier 8x2"):
        result = run.run([run.MORTAR, "info", "--plan", question]).ok("* ", "network:")
        rows = [line.split("=") for line in result.out.splitlines() if line.count("=") == 1]
        times = [float(left.split()[-1]) for left, _ in rows[1:]]
        result.check(len(times) > 1 and times[1:] == sorted(times[1:]), "%s: not in the order of the time" % question)
        result.check(times[0] <= 1.05 * times[1] + 0.01, "%s: the choice is not near the cheapest" % question)
        result.check(rows[1][0].startswith("* ") and not any(left.startswith("*") for left, _ in rows[2:]), "%s: marks" % question)
        for (_, right), time in zip(rows[1:], times):
            total = sum(map(float, right.split()))
            result.check(abs(total - time) <= 0.05, "%s: %g us are told as %g" % (question, time, total))
    run.run([run.MORTAR, "info", "--plan", "alltoall 1x64 64"]).ok("* cico", "pull")
    result = run.run([run.MORTAR, "info", "--plans", "frob"])
    every = result.err.split("expected one of:")[1].split()
    result.check(len(every) > 20, "collectives: %r" % every)
    for question in ("%s %s %s" % (c, nodes, size) for c in every for nodes in ("1x8", "5,3,1") for size in ("", "8", "1M")):
        run.run([run.MORTAR, "info", "--plan", question]).ok("* ")


def orders():
    """Every order that can be in a plan, with every cell once, in the CSV that pictures and other tools read."""
    for p, domains in ((1, 1), (7, 3), (12, 2)):
        result = run.run([run.MORTAR, "info", "--orders", str(p), str(domains)]).ok()
        head, *lines = result.out.splitlines()
        result.check(head == "order,worker,step,source,dest", "another head")
        cells = {}
        for line in lines:
            order, *numbers = line.split(",")
            cells.setdefault(order, []).append(tuple(map(int, numbers)))
        names = {plan[5:-1].split(",")[0] for plan in run.plans("alltoall") if plan.startswith("pull(")}
        result.check(set(cells) <= names and "numa(hilbert)" in cells, "the orders are not those of the plans")
        for order, found in cells.items():
            result.check([cell[:2] for cell in found] == [(w, k) for w in range(p) for k in range(p)], "%s: steps" % order)
            result.check(len({cell[2:] for cell in found}) == p * p, "%s: a cell twice" % order)
    run.run([run.MORTAR, "info", "--orders"]).ok("bytes per rank", "numa(morton)")


run.main_of(options, merges, scripts, orders, explain)
