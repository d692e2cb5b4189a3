# SPDX-License-Identifier: BSD-3-Clause
"""hosts - is the rig what the other tests take it for?
usage: hosts.py where FLAVOUR MAP...   does the MPI library see the map that was asked for, and does each host have its own name?
       hosts.py rig                    are hosts apart, counted, ended in time, and is nothing left?"""
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, ".."))
from run import Failure, HOSTS, Skip, main, mpi, wait_until  # noqa: E402

RIG = os.path.join(FOLDER, "rig")
Map = runpy.run_path(HOSTS)["Map"]


def where(flavour, *maps):
    for text in maps:
        asked = Map(text)
        result = mpi(flavour, text, ["where-" + flavour], None, seconds=30).ok("where: fine")
        seen = [line.split() for line in result.out.splitlines() if line[:1].isdigit()]
        wanted = [[str(rank), "h%d" % asked.host_of[rank], str(asked.first_on(rank))] for rank in range(asked.ranks)]
        result.check(seen == wanted, "ranks are not placed as %s says: wanted %r" % (text, wanted))
    print("%d maps" % len(maps))


def rig_run(*words, seconds=20, **environment):
    done = subprocess.run([RIG, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=seconds,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **environment), check=False)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    return done


def expect(fine, why, done=None):
    if not fine:
        raise Failure(why + ("\nexit code %d\n%s%s" % (done.returncode, done.stdout, done.stderr) if done else ""))


def apart():
    """Names, processes, shared memory and /tmp of a host are its own; the exit code comes through."""
    done = rig_run("with", "3", "sh", "-c", "$RIG_AGENT h1 'touch /tmp/x /dev/shm/x; hostname' && $RIG_AGENT h2 "
                   "'test ! -e /tmp/x && test ! -e /dev/shm/x && test $(ls -d /proc/[0-9]* | wc -l) -lt 8 && hostname' && exit 5")
    expect(done.returncode == 5 and done.stdout == "h1\nh2\n", "hosts are not apart", done)


def counted():
    """A megabyte sent from h0 to h1 leaves h0 and nobody else."""
    send = ("import socket,time\nend=time.time()+10\nwhile 1:\n try: s=socket.create_connection(('h1',5000)); break\n"
            " except OSError: assert time.time()<end\ns.sendall(bytes(1<<20)); s.close()")
    take = ("import socket\ns=socket.create_server(('',5000)).accept()[0]\nn=0\nwhile 1:\n b=s.recv(1<<20)\n n+=len(b)\n"
            " if not b: break\nassert n==1<<20")
    folder = rig_run("up", "3").stdout.strip()
    try:
        taker = subprocess.Popen([RIG, "on", folder, "h1", sys.executable, "-c", take])
        sent = rig_run("on", folder, "h0", sys.executable, "-c", send)
        expect(sent.returncode == 0 and taker.wait(20) == 0, "hosts cannot talk to each other", sent)
        counters = rig_run("counters", folder)
        left = {line.split()[0]: int(line.split()[2]) for line in counters.stdout.splitlines()}
        expect(list(left) == ["h0", "h1", "h2"], "counters of three hosts", counters)
        expect(1 << 20 < left["h0"] < 1.2 * (1 << 20) and left["h1"] < 200000 and left["h2"] < 2000, "wrong counters", counters)
    finally:
        rig_run("down", folder)
    expect(not os.path.exists(folder), "%s is still there" % folder)


def gone(mark):
    """No process has this word in its command line."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, encoding="utf-8", errors="replace") as file:
                if mark in file.read() and int(pid) != os.getpid():
                    return False
        except OSError:
            pass
    return True


def ended():
    """By the time limit, and when what started it is killed: hosts, their processes and the folder go."""
    mark = "%d.125" % (100000 + os.getpid())  # seconds to sleep, and a name
    hosts = "$RIG_AGENT h0 'setsid sleep %s' & $RIG_AGENT h1 'trap \"\" TERM; sleep %s' & sleep %s" % (mark, mark, mark)
    start = time.monotonic()
    done = rig_run("with", "2", "sh", "-c", hosts, RIG_SECONDS="1")
    expect(done.returncode == 124 and "time limit" in done.stderr and time.monotonic() - start < 10, "no time limit", done)
    wait_until(lambda: gone(mark), 5, "a process outlived the time limit")
    for signal in ("terminate", "kill"):
        with tempfile.TemporaryDirectory() as folder:
            tell = os.path.join(folder, "rig")
            rig = subprocess.Popen([RIG, "with", "2", "sh", "-c", hosts], env=dict(os.environ, RIG_TELL=tell),
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            wait_until(lambda: os.path.exists(tell) and not gone("setsid sleep " + mark), 10, "the hosts did not start")
            with open(tell, encoding="utf-8") as file:
                state = file.read().strip()
            getattr(rig, signal)()
            rig.wait(10)
            wait_until(lambda: gone(mark), 5, "a process outlived its rig (%s)" % signal)
            expect(signal == "kill" or not os.path.exists(state), "%s is still there" % state)
            subprocess.run(["rm", "-rf", state], check=True)  # who is killed cannot clear up


def unprivileged():
    """Who is not root has the same hosts. The rig is copied to where everybody may read it."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(RIG, folder)
        who = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        done = subprocess.run([*who, copy, "with", "2", "sh", "-c", "$RIG_AGENT h1 hostname"], stdout=subprocess.PIPE, cwd="/",
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=20, stdin=subprocess.DEVNULL, check=False)
    # where only root may make namespaces this is 77, with the reason
    expect(done.returncode == 77 or (done.returncode == 0 and done.stdout == "h1\n"), "no hosts for others than root", done)


def refused():
    """What is asked wrongly is said plainly; what a machine cannot do is skipped, with the reason."""
    for words, why in (("0", "expected 1 to 200"), ("many", "expected 1 to 200"), ("201", "expected 1 to 200")):
        done = rig_run("with", words, "true")
        expect(done.returncode == 2 and why in done.stderr, "rig with %s" % words, done)
    done = rig_run("run", "/nowhere", "true")
    expect(done.returncode == 2 and "no hosts are up in '/nowhere'" in done.stderr, "rig run /nowhere", done)
    for words, why in ((["ompi4", "4by4", "true"], "expected HOSTSxRANKS"), (["ompi9", "4x4", "true"], "expected ompi4"),
                       (["--seconds", "soon", "ompi4", "2x2", "true"], "no number of seconds")):
        done = subprocess.run([HOSTS, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", check=False)
        expect(done.returncode == 2 and why in done.stderr, "run %s" % words, done)
    with tempfile.TemporaryDirectory() as folder:  # a machine whose unshare always fails
        with open(os.path.join(folder, "unshare"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'unshare: Operation not permitted' >&2; exit 1\n")
        os.chmod(os.path.join(folder, "unshare"), 0o755)
        done = subprocess.run([RIG, "with", "2", "true"], env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]),
                              stderr=subprocess.PIPE, encoding="utf-8", check=False, stdout=subprocess.PIPE)
        expect(done.returncode == 77 and "namespaces are forbidden here: unshare: Op" in done.stderr, "no reason to skip", done)


def rig():
    apart()
    counted()
    ended()
    unprivileged()
    refused()


def test(what, *words):
    {"where": where, "rig": rig}[what](*words)


if __name__ == "__main__":
    main(test)
