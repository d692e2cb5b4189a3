# SPDX-License-Identifier: BSD-3-Clause
"""doctor - `mortar doctor` finds what is wrong, on the ranks where it is, says what to do, and is red when mortar cannot work.
usage: doctor.py TEST [FLAVOUR]"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure  # noqa: E402

RANKS = {"mpich4": 2}  # it spins
QUICK = {**run.QUICK_END, "MORTAR_TUNE": ""}


def ranks(flavour):
    return RANKS.get(flavour, 4)


def examine(flavour, *words, before=(), env=None):
    """(result, {name: [finding]}) of all ranks."""
    run.need(flavour)
    words = [run.LAUNCH, flavour, str(ranks(flavour)), *before, run.MORTAR, "doctor", "--json", *words]
    result = run.run(words, env={**QUICK, **(env or {})})
    try:
        facts = json.loads(result.out[result.out.index("{"):result.out.rindex("}") + 1])
    except ValueError:
        raise Failure("no JSON: %s\n%s" % (result.out, result.err)) from None
    names = {}
    for one in facts["findings"]:
        names.setdefault(one["name"], []).append(one)
    worst = max((one["colour"] for one in facts["findings"]), key=["green", "yellow", "red"].index)
    result.check(facts["worst"] == worst and (result.code != 0) == (worst == "red"), "the exit code is not that of the worst")
    return result, names


def expect(result, names, name, colour, *words, on=None):
    """One finding of this name has the colour and the words; it is on all ranks, or those given."""
    for one in names.get(name, []):
        said = one["text"] + (one["cure"] or "")
        if one["colour"] == colour and all(word in said for word in words) and on in (None, one["ranks"]):
            return result.check((one["cure"] is None) == (colour == "green"), "%s: a cure where it is not due" % name)
    raise Failure("no %s finding %r with %r on %r: %s" % (colour, name, words, on, json.dumps(names, indent=1)))


def well(flavour):
    everybody = list(range(ranks(flavour)))
    result, names = examine(flavour, run.target("plain"))
    for name in ("MPI", "mortar", "shared heap", "memfd", "namespaces", "peers' memory", "ulimit -n", "glibc", "program", "CMA"):
        result.check(name in names, "nothing about %s" % name)
    for name in ("MPI", "mortar", "shared heap", "memfd", "program"):
        expect(result, names, name, "green", on=everybody)
    expect(result, names, "a try", "green", "MPI_Alltoall of 64 bytes ran", on=everybody)
    words = [run.LAUNCH, flavour, str(ranks(flavour)), run.MORTAR, "doctor"]
    result = run.run(words, env=QUICK).ok("mortar doctor: %d ranks on 1 node" % ranks(flavour))
    for name in ("MPI", "mortar", "memfd", "glibc"):  # once for all ranks
        lines = [line for line in result.out.splitlines() if line.split()[1:2] == [name] and "(rank" not in line]
        result.check(len(lines) == 1, "%s: not in one line" % name)


def ill(flavour):
    """What keeps mortar from working is red; what costs something is yellow; each with what to do."""
    result, names = examine(flavour, env={"LD_PRELOAD": run.target("librefuse.so")})
    expect(result, names, "memfd", "red", "memfd_create is refused", "seccomp")
    expect(result, names, "a try", "red", "left to the MPI library")
    expect(result, names, "shared heap", "yellow", "not for malloc: ")
    result, names = examine(flavour, env={"MORTAR_OFF": "all"})
    expect(result, names, "mortar", "red", "MORTAR_OFF")
    result, names = examine(flavour, "/no/such/program")
    expect(result, names, "program", "red", "/no/such/program")
    result, names = examine(flavour, "/usr")
    expect(result, names, "program", "red", "/usr cannot be started: Is a directory")
    with tempfile.NamedTemporaryFile("w") as script:
        script.write("#!/no/such/shell\n")
        script.flush()
        os.chmod(script.name, 0o700)
        result, names = examine(flavour, script.name)
        expect(result, names, "program", "red", "cannot be started: /no/such/shell, which its first line names", "first line")
    other = "mpich4" if flavour.startswith("ompi") else "ompi4"
    if other in run.run([run.LAUNCH, "--list"]).out.split():
        library = {"ompi4": "libmpi.so.40", "mpich4": "libmpich.so.12"}[other]
        result, names = examine(flavour, env={"MORTAR_MPI": library})
        expect(result, names, "launcher", "red", "each sees itself alone", "MORTAR_MPI")
    result, names = examine(flavour, env={"MORTAR_MPI": "/no/such/library"})
    expect(result, names, "MPI", "red", "no MPI library of this launcher")


def differ(flavour):
    """What one rank has is said of that rank."""
    last = ranks(flavour) - 1
    others = list(range(last))
    env = {"LD_PRELOAD": run.target("libcma.so"), "TEST_CMA_CALLS": "0", "TEST_CMA_RANK": str(last)}
    result, names = examine(flavour, env=env)
    expect(result, names, "CMA between ranks", "yellow", "copied twice", on=[last])
    expect(result, names, "CMA between ranks", "green", on=others)
    script = 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in %d) ulimit -S -n 200; ulimit -v 16777216 ;; esac; exec "$@"' % last
    result, names = examine(flavour, before=["sh", "-c", script, "sh"])
    expect(result, names, "ulimit -n", "yellow", "200", "1024", on=[last])
    expect(result, names, "ulimit -v", "yellow", "a sixteenth", on=[last])
    expect(result, names, "ulimit -v", "green", on=others)


def alone():
    result = run.run([run.MORTAR, "doctor"]).ok("mortar doctor: 1 rank", "start it with the launcher", "Seen from one process only")
    result.check("red" not in result.out.split(), "red without a cause")
    for words in (["--frob"], ["one", "two"]):
        result = run.run([run.MORTAR, "doctor", *words])
        result.check(result.code == 2 and len(result.lines("mortar")) == 1 and not result.out, "doctor %s: unclear" % words)
    run.run([run.MORTAR, "doctor", "--help"]).ok("usage: mortar doctor")
    run.run([run.MORTAR, "info"]).ok("memfd", "huge pages", "ulimit -v")


def slurm():
    """Slurm says how it counts memory that ranks share."""
    with tempfile.TemporaryDirectory() as folder:
        for params, kind, colour, said in (("OverMemoryKill", "linux", "red", "killed"),
                                           ("(null)", "linux", "yellow", "once for each"),
                                           ("UsePss", "linux", "green", "UsePss"), ("(null)", "cgroup", "green", "cgroup"),
                                           (None, None, "yellow", "scontrol")):
            with open(os.path.join(folder, "scontrol"), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexit 1\n" if params is None else "#!/bin/sh\necho 'JobAcctGatherFrequency  = 30'\n"
                           "echo 'JobAcctGatherType       = jobacct_gather/%s'\necho 'JobAcctGatherParams     = %s'\n"
                           % (kind, params))
            os.chmod(file.name, 0o755)
            env = {"PATH": folder + ":" + os.environ["PATH"], "SLURM_JOB_ID": "1"}
            result = run.run([run.MORTAR, "doctor"], env=env)
            lines = [line for line in result.out.splitlines() if "Slurm accounting" in line]
            result.check(len(lines) == 1 and lines[0].startswith(colour) and said in lines[0], "%s %s: not %s" %
                         (kind, params, colour))
            result.check((result.code == 1) == (colour == "red"), "exit code")


run.main_of(well, ill, differ, alone, slurm)
