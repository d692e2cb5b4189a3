# SPDX-License-Identifier: BSD-3-Clause
"""slurm - `mortar run` in Slurm's jobs: results are right, calls are taken, no process is left; and how Slurm counts memory.
usage: slurm.py TEST [FLAVOUR]"""
import json
import os
import re
import shlex
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, ".."))
import run  # noqa: E402
from cluster import Cluster  # noqa: E402
from run import Failure, Skip  # noqa: E402

PMI = {"ompi4": "pmix", "ompi5": "pmix", "mpich4": "pmi2", "mpich5": "pmi2", "impi": "pmi2"}
CRASH = "Failing at address: (nil)"  # of Open MPI 4 in 3 of 100 starts on these two nodes with one name, without mortar, too
MPI4PY = "/usr/bin/python3"  # of the distribution, for its Open MPI 4


def environment(flavour):
    """Settings of the MPI library for two nodes that are one: those of scripts/mpi, but messages may go by TCP."""
    prefix = os.path.join(os.environ.get("MORTAR_MPIS", ""), flavour)
    env = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": "lo",
           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none",
           "MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
    if flavour == "impi":
        env.update({"I_MPI_ROOT": prefix, "LD_LIBRARY_PATH": prefix + "/lib", "I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp",
                    "I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "2", "I_MPI_SPIN_COUNT": "1"})
    return env


def ranks(flavour):
    """MPICH 4 spins; Open MPI 5's MPI_Init fails under srun, natively too, with 3 ranks on a pretended node."""
    return 2 if flavour in ("mpich4", "ompi5") else 4


def job(cluster, flavour, words, batch=False, env=None):
    """Runs words (launchers), then `mortar run exchange`, here or as a batch script, and looks at the results and the report."""
    report, printed = os.path.join(cluster.folder, "report.json"), os.path.join(cluster.folder, "printed")
    if os.path.exists(report):
        os.remove(report)
    words = [*words, run.MORTAR, "run", "--report", report, run.target("exchange-" + flavour)]
    if batch:
        words = ["sbatch", "--wait", "--output=" + printed, *batch, "--wrap", shlex.join(words)]
    for _ in range(4):
        result = run.run(words, 90, {**environment(flavour), **cluster.env, **(env or {})}, report)
        if batch and os.path.exists(printed):
            with open(printed, encoding="utf-8") as file:
                result.out = result.err = file.read()
        if CRASH not in result.err:
            break
    result.ok("%d ranks, 0 errors" % ranks(flavour))
    result.took(3, collective="alltoall").took(2, collective="allgather")
    result.check(result.report["heap"] == "on", "the heap is not on")
    cluster.idle()
    return result


def jobs(flavour):
    """srun, salloc with the MPI library's own launcher, which asks Slurm for its nodes, and both in a batch script."""
    run.need(flavour)
    folder = os.path.join(os.environ.get("MORTAR_MPIS", ""), flavour, "bin")
    launcher = {"ompi4": "mpirun.openmpi", "mpich4": "mpiexec.mpich", "ompi5": folder + "/mpirun", "mpich5": folder + "/mpiexec",
                "impi": folder + "/mpiexec.hydra"}[flavour]
    srun = ["srun", "--mpi=" + PMI[flavour]]
    with Cluster() as cluster:
        if PMI[flavour] not in cluster.say("sh", "-c", "srun --mpi=list 2>&1"):
            raise Skip("this Slurm has no --mpi=%s" % PMI[flavour])
        for nodes in (1, 2):
            place = ["-N%d" % nodes, "-n%d" % ranks(flavour)]
            job(cluster, flavour, [*srun, *place])
            job(cluster, flavour, ["salloc", *place, launcher])
            job(cluster, flavour, srun, batch=place)
            job(cluster, flavour, [launcher], batch=place)


def settings():
    """A variable reaches the ranks of both nodes; if they have different ones, the first rank's count, and a line says so."""
    run.need("ompi4")
    with Cluster() as cluster:
        start = ["srun", "--mpi=pmix", "-N2", "-n4"]
        job(cluster, "ompi4", start, env={"MORTAR_PLAN": "cico"}).silent().took(3, collective="alltoall", plan="cico")
        without = ["sh", "-c", 'test "$SLURMD_NODENAME" = n0 || unset MORTAR_PLAN; exec "$@"', "sh"]
        result = job(cluster, "ompi4", [*start, *without], env={"MORTAR_PLAN": "cico"})
        result.took(3, collective="alltoall", plan="cico")
        result.check(len(result.lines()) == 1 and "MORTAR_PLAN" in result.lines()[0], "it is not said once that ranks differ")


def most_memory(accounting, through, limit):
    """MiB that Slurm has seen of a job of four ranks with 40 MiB to send and 160 to receive; None: it was stopped for that."""
    with Cluster(accounting) as cluster:
        words = ["srun", "--mpi=pmix", "-N1", "-n4", "--mem=%dM" % limit, *through]
        env = {**environment("ompi4"), **cluster.env, "MORTAR_START": "first"}
        # a step that runs is asked; there is no database that would know it afterwards
        asked = "for i in $(seq 40); do sleep 0.25; sstat -n -P -o AveRSS,NTasks -j $(squeue -h -o %A) --allsteps; done"
        with subprocess.Popen(["sh", "-c", asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                                  env={**os.environ, **cluster.env}) as asking:
            result = run.run([*words, MPI4PY, os.path.join(FOLDER, "memory.py"), "40", "8"], 90, env)
            seen = asking.communicate()[0]
        cluster.idle()
        if result.code and "memory limit" in result.err:
            return None
        result.ok("4 ranks, 0 errors")
        found = [float(rss) * {"K": 1, "M": 1024, "": 1 / 1024}[unit] / 1024 * int(tasks)
                 for rss, unit, tasks in re.findall(r"^([\d.]+)([KM]?)\|(\d+)$", seen, re.M)]
        result.check(found, "sstat has said nothing: %r" % seen)
        return max(found)


def memory():
    """Slurm adds up the resident memory of all ranks, a page once for each rank that has touched it. A job that needs no more than
    natively is stopped for that, unless Slurm is told to count shares of pages (UsePss)."""
    run.need("ompi4")
    if run.run([MPI4PY, "-c", "import numpy, mpi4py"]).code:
        raise Skip("no python3-mpi4py with numpy")
    through = [run.MORTAR, "run"]
    natively, resident, shares = (most_memory(*how, 3000) for how in (("", []), ("", through), (",UsePss", through)))
    print("MiB that Slurm counts: %.0f natively, %.0f under mortar, %.0f with UsePss" % (natively, resident, shares))
    peers = 4 * 3 * 40  # each rank reads what the three others send
    if not resident > natively + 0.5 * peers:
        raise Failure("pages of peers are not counted: is the heap shared?")
    if not shares < natively + 0.1 * peers:
        raise Failure("with UsePss a page is not counted once")
    limit = int((natively + resident) / 2)
    if most_memory("", through, limit) is not None:
        raise Failure("the job is not stopped at %d MiB" % limit)
    if most_memory(",UsePss", through, limit) is None:
        raise Failure("with UsePss the job is stopped at %d MiB" % limit)


def doctor():
    """`mortar doctor` knows before what `memory` has seen."""
    run.need("ompi4")
    for accounting, colour in (("", "red"), (",UsePss", "green")):
        with Cluster(accounting) as cluster:
            result = run.run(["srun", "--mpi=pmix", "-N1", "-n2", run.MORTAR, "doctor", "--json"], 60,
                             {**environment("ompi4"), **cluster.env})
            result.check('"ranks": 2' in result.out, "each rank is alone: this is not the MPI library of --mpi=pmix")
            found = [line["colour"] for line in json.loads(result.out)["findings"] if line["name"] == "Slurm accounting"]
            result.check(found == [colour], "JobAcctGatherParams=OverMemoryKill%s: %s, not %s" % (accounting, found, colour))
            cluster.idle()


run.main_of(jobs, settings, memory, doctor)
