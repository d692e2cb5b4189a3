# SPDX-License-Identifier: BSD-3-Clause
"""cluster - Slurm on this machine, for the time of a test: munged, slurmctld and a slurmd for each of two nodes of four processors
that are not there. Everything lies in one temporary folder, with a key and ports of its own: a Slurm of the machine's own is
neither used nor disturbed."""
import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time

from run import Failure, Skip

NODES = ("n0", "n1")
CONFIGURATION = """
ClusterName=mortar-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
PlugStackConfig={folder}/plugstack.conf
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill{accounting}
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=4000
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=4000
PartitionName=all Nodes=n0,n1 Default=YES MaxTime=5 State=UP
"""


def find(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip("no %s: scripts/setup long installs Slurm" % name)
    return path


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def with_variable(text):
    """The processes that have this text in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if text.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


class Cluster:
    """with Cluster() as cluster: ... cluster.env names the configuration to Slurm's commands. accounting: more of
    JobAcctGatherParams."""

    def __init__(self, accounting=""):
        self.programs = [find(name) for name in ("munged", "slurmctld", "slurmd", "srun")]
        if os.geteuid() != 0:
            raise Skip("slurmd starts jobs as root")
        self.folder = tempfile.mkdtemp(prefix="mortar-slurm-", dir="/tmp")  # the name of a socket has to be short
        self.accounting, self.daemons, self.own = accounting, [], set()
        self.env = {"SLURM_CONF": os.path.join(self.folder, "slurm.conf")}

    def start(self, name, *words):
        path = os.path.join(self.folder, name + ".log")
        with open(path, "wb") as log:
            self.daemons.append((name, path, subprocess.Popen(  # pylint: disable=consider-using-with
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(os.environ, **self.env), cwd=self.folder)))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(text)

    def __enter__(self):
        munged, slurmctld, slurmd, _ = self.programs
        try:
            os.chmod(self.folder, 0o755)
            for name in ("state", *(kind + node for node in NODES for kind in ("spool-", "tmp-"))):
                os.mkdir(os.path.join(self.folder, name))
            self.write("plugstack.conf", b"")
            self.write("key", os.urandom(128))
            os.chmod(os.path.join(self.folder, "key"), 0o600)
            self.write("slurm.conf", CONFIGURATION.format(
                host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=self.folder, ports=free_ports(3),
                accounting=self.accounting).encode())
            self.start("munged", munged, "--foreground", *("--%s=%s/%s" % (option, self.folder, name) for option, name in (
                ("socket", "munge"), ("key-file", "key"), ("log-file", "munge.log"), ("pid-file", "munge.pid"),
                ("seed-file", "seed"))))
            self.wait(lambda: os.path.exists(os.path.join(self.folder, "munge")), "munged")
            self.start("slurmctld", slurmctld, "-D")
            for node in NODES:
                self.start(node, slurmd, "-D", "-N", node)
            self.wait(lambda: self.say("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES), "the nodes")
            self.own = self.processes()  # the daemons and their helpers
        except BaseException:
            self.__exit__()
            raise
        return self

    def say(self, *words):
        """What a command prints, if it succeeds."""
        return subprocess.run(["timeout", "10", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                              env=dict(os.environ, **self.env), check=False).stdout

    def wait(self, fine, what):
        end = time.monotonic() + 30
        while not fine():
            ended = [name for name, _, process in self.daemons if process.poll() is not None]
            if ended or time.monotonic() > end:
                why = "ended: " + ", ".join(ended) if ended else "time is up"
                raise Failure("%s; waited for: %s\n%s" % (why, what, self.logs()))
            time.sleep(0.1)

    def logs(self):
        text = ""
        for name, path, _ in self.daemons:
            with open(path, encoding="utf-8", errors="replace") as file:
                text += "--- %s\n%s" % (name, "".join(file.readlines()[-15:]))
        return text

    def idle(self):
        """No job is left, and no process of one."""
        self.wait(lambda: not self.say("squeue", "-h").strip(), "the end of all jobs")
        self.wait(lambda: not self.left(), "the end of all processes of jobs")

    def left(self):
        """Processes that belong to jobs."""
        return self.processes() - self.own

    def processes(self):
        return set(with_variable("SLURM_CONF=" + self.env["SLURM_CONF"]))

    def __exit__(self, *_):
        for _, _, process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.processes():  # steps of a test that has failed
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)
