# SPDX-License-Identifier: BSD-3-Clause
"""first - types what docs/first-minutes.md shows, each section in a new home and in its own surroundings, and holds what is printed
now against the page. Numbers may differ; a line that is "...", or ends so, stands for what was left out.
usage: first.py SECTION [--write]    --write puts what is printed now into the page, whole; it is cut by hand

A section begins with <!-- tried: SECTION -->. Files that it needs stand above, behind <!-- file NAME -->."""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("..", "../slurm"):
    sys.path.insert(0, os.path.join(HERE, folder))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

PAGE = os.path.join(run.ROOT, "docs", "first-minutes.md")
MARK = "<!-- tried: %s -->\n"
HOME = "~"
NEXT = "=== next ==="
PROCESSOR = "AMD EPYC"  # the pages' machine
SYSTEM = "/usr/bin:/bin"
# Old files of earlier jobs in /dev/shm, this machine's own: the last row of `mortar doctor`, and its verdict.
LEFT = re.compile(r"^yellow  left behind .*\n +-> .*\nNothing is red: .*", re.MULTILINE)
NOTHING_LEFT = ("green   left behind       nothing: mortar's memory has no names, and /dev/shm has no old files of yours\n"
                "All is green: mortar has what it needs.")
CRASH = "Failing at address: (nil)"  # of Open MPI 4, natively, too: test/slurm/slurm.py
# Commands of a shell and a compiler: what is left of a system when its MPI is hidden.
TOOLS = "sh bash env cat ls cc gcc ld as sed head tail grep dirname basename readlink uname rm cp mkdir expr tr awk python3".split()


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """[(begin, end)] of the indented blocks of a section that show commands."""
    found = re.finditer(r"^    .*\n(?:    .*\n|\n(?=    ))*", text, re.MULTILINE)
    return [match.span() for match in found if "    $ " in match.group()]


def section(text, name):
    if MARK % name not in text:
        raise Failure("%s has no section %s" % (PAGE, name))
    begin = text.index(MARK % name) + len(MARK % name)
    end = re.search(r"^## |\Z", text[begin:], re.MULTILINE).start() + begin
    return begin, end


def commands(block):
    """[(command, [lines that it prints])]"""
    found = []
    for line in block.splitlines():
        line = line[4:]
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and (line.strip() or found[-1][1]):
            found[-1][1].append(line)
    for _, printed in found:
        while printed and not printed[-1].strip():
            printed.pop()
    return found


# ---- the surroundings ----

def hidden(home, *first):
    """A PATH without the system's MPI."""
    tools = os.path.join(home, ".tools")
    os.mkdir(tools)
    for tool in TOOLS:
        for place in SYSTEM.split(":"):
            if os.path.exists(os.path.join(place, tool)) and not os.path.lexists(os.path.join(tools, tool)):
                os.symlink(os.path.join(place, tool), os.path.join(tools, tool))
    return ":".join((*first, tools))


def install(home):
    words = ["cmake", "--install", run.BUILD, "--prefix", os.path.join(home, ".local")]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def need_program(*names, where=SYSTEM):
    for name in names:
        if not any(os.path.exists(os.path.join(place, name)) for place in where.split(":")):
            raise Skip("no %s" % name)


def surroundings(name, home):
    """(what the shell is started with, its environment)"""
    env = {"HOME": home, "USER": "you", "LC_ALL": "C.UTF-8", "TERM": "dumb", "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl": "self,vader",
           "OMPI_MCA_odls_base_sigkill_timeout": "0", "PATH": SYSTEM}
    start = ["bash"]
    if name == "wheel":
        wheels = glob.glob(os.path.join(run.BUILD, "..", "wheel", "*.whl"))
        if not wheels:
            raise Skip("no wheel: make wheel")
        os.symlink(os.path.abspath(wheels[0]), os.path.join(home, os.path.basename(wheels[0])))
        env.update({"PIP_DISABLE_PIP_VERSION_CHECK": "1", **{key: value for key, value in os.environ.items()
                                                             if key.startswith("PIP_") or key.lower().endswith("_proxy")}})
        return start, env
    install(home)
    if name in ("plain", "standard"):
        bin_ = os.path.join(run.MPIS, "mpich5", "bin")
        need_program("mpicc", "mpicc_abi", where=bin_)
        os.symlink(os.path.dirname(bin_), os.path.join(home, "mpich"))
        env["PATH"] = hidden(home, os.path.join(home, "mpich", "bin"))
    else:
        need_program("mpicc", "mpirun")
    if name == "closed":
        start = [os.path.join(run.BUILD, "test", "first", "first-closed"), "bash"]
    return start, env


# ---- typing and comparing ----

def processor():
    """The name of this machine's, as the system gives it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        named = re.search(r"^model name\s*: (.+)$", file.read(), re.MULTILINE)
    return named[1] if named else os.uname().machine


def typed(words, env, home, start):
    """What each command prints."""
    script = "\n".join(["exec 2>&1", *("echo '%s'\n%s" % (NEXT, word) for word in words), ""])
    path = os.path.join(home, ".typed")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    done = subprocess.run([*start, path], env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=450,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    if done.returncode == 77:
        raise Skip(done.stdout.strip())
    text = done.stdout
    mpich = os.path.join(os.path.realpath(run.MPIS), "mpich5")
    for here, shown in ((mpich, HOME + "/mpich"), (os.path.realpath(home), HOME), (home, HOME), (processor(), PROCESSOR)):
        text = text.replace(here, shown)
    text = LEFT.sub(NOTHING_LEFT, text)
    return [[line.rstrip() for line in part.strip("\n").splitlines()] for part in text.split(NEXT + "\n")[1:]]


def rough(line):
    """Without numbers, and what goes with them."""
    line = re.sub(r"^ *(alltoall|allreduce) +\d.*|^ *\d+K? .* auto: .*", "row", line)  # plans and trials differ, too
    line = re.sub(r"\[[^]\s]*:\d+\]", "[#]", line)
    line = re.sub(r"\d[\w.,:%+-]*", "#", line)
    return " ".join(re.sub(r"-(?=\s)", "#", line).split())


def alike(shown, printed):
    """Is it what the page shows? With "..." there may be more, also around a line, as ranks that print much break lines, and a
    line that ends so may go on. Lines of several ranks, and of both outputs, come in any order."""
    printed, whole = [rough(line) for line in printed], "..." not in (line.strip() for line in shown)
    for line in shown:
        if line.strip() == "...":
            continue
        begin, end = rough(line[:-3]) if line.endswith("...") else None, rough(line)
        found = [one for one in printed if
                 (one.startswith(begin) if begin is not None else one == end if whole else end in one)]
        if not found:
            return False
        printed.remove(found[0])
    return not (whole and printed)


def write(name, wanted, printed):
    """Puts what is printed into the section."""
    text = page()
    begin, end = section(text, name)
    part, left = text[begin:end], list(zip(wanted, printed))
    for at, stop in reversed(blocks(part)):
        count = len(commands(part[at:stop]))
        mine, left = left[len(left) - count:], left[:len(left) - count]
        lines = [line for (word, _), output in mine for line in ["$ " + word, *output, *[""] * bool(output)]]
        lines += [""] * (lines[-1] != "")
        part = part[:at] + "".join(("    " + line).rstrip() + "\n" for line in lines[:-1]) + part[stop:]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text[:begin] + part + text[end:])


def test(name, *more):
    text = page()
    begin, end = section(text, name)
    wanted = [one for at, stop in blocks(text[begin:end]) for one in commands(text[begin + at:begin + stop])]
    with tempfile.TemporaryDirectory() as home:
        start, env = surroundings(name, home)
        for file, content in re.findall(r"<!-- file (\S+) -->\n\n((?:    .*\n|\n(?=    ))+)", text):
            with open(os.path.join(home, file), "w", encoding="utf-8") as out:
                out.write(re.sub("^    ", "", content, flags=re.MULTILINE))
        words = [word for word, _ in wanted]
        if name == "slurm":
            from cluster import Cluster
            with Cluster() as cluster:
                for _ in range(4):
                    printed = typed(words, {**env, **cluster.env, "OMPI_MCA_btl": "self,vader,tcp"}, home, start)
                    if not any(CRASH in line for lines in printed for line in lines):
                        break
                cluster.idle()
        else:
            printed = typed(words, env, home, start)
    if "--write" in more:
        write(name, wanted, printed)
        return
    if len(printed) != len(wanted):
        raise Failure("the shell ended after %d of %d commands: %s" % (len(printed), len(wanted), printed[-1:]))
    for (word, shown), lines in zip(wanted, printed):
        if not alike(shown, lines):
            raise Failure("$ %s\n--- the page\n%s\n--- now\n%s" % (word, "\n".join(shown), "\n".join(lines)))


run.main(test)
