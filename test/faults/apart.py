# SPDX-License-Identifier: BSD-3-Clause
"""apart - runs the campaign apart from the machine where root may have namespaces: what is left in /dev/shm is its own, and none of
its processes outlives it. A keeper beside it puts back what it has changed and removes what it has made, however it ends."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

INSIDE = "FAULTS_FOLDER"  # where the campaign keeps its files; set: it is apart already
MOUNTS = "FAULTS_MOUNTS"  # set: it may mount what nobody else sees
GROUPS = "mortar-faults-%s-"  # how the memory groups begin that it makes
SETTINGS = ["/proc/sys/vm/overcommit_memory"]  # what rows may change
NAMESPACES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]


def contents(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def keep(pipe, folder):
    """Waits until nobody holds the other end of the pipe, then tidies up."""
    before = {path: contents(path) for path in SETTINGS}
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.read(pipe, 1)
    for path, value in before.items():
        if os.geteuid() == 0 and contents(path) != value:
            with open(path, "w", encoding="ascii") as file:
                file.write(value)
    groups = glob.glob("/sys/fs/cgroup/*/" + GROUPS % os.path.basename(folder) + "*")
    for _ in range(100):
        groups = [group for group in groups if os.path.exists(group) and not remove(group)]
        if not groups:
            break
        time.sleep(0.1)  # until its last process is no more
    shutil.rmtree(folder, ignore_errors=True)


def remove(group):
    try:
        os.rmdir(group)
    except OSError:
        return False
    return True


def namespaces():
    """The words that start a command apart; none where that is not possible."""
    if os.geteuid() != 0 or subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "none", "/dev/shm"],
                                           stderr=subprocess.DEVNULL, check=False).returncode:
        return []
    # The shell is the first process there, which becomes the parent of orphans.
    return [*NAMESPACES, "sh", "-c", 'mount -t tmpfs none /dev/shm && "$@"; code=$?; exit $code', "sh"]


def again():
    """Runs this program apart; its exit code. Returns None there."""
    if INSIDE in os.environ:
        tempfile.tempdir = os.environ[INSIDE]
        return None
    folder = tempfile.mkdtemp(prefix="faults")
    os.chmod(folder, 0o755)  # other users' jobs have folders in it
    end, held = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        os.close(held)
        keep(end, folder)
        os._exit(0)
    os.close(end)
    apart = namespaces()
    words = [*apart, sys.executable, "-B", os.path.abspath(sys.argv[0]), *sys.argv[1:]]
    try:
        return subprocess.call(words, env={**os.environ, INSIDE: folder, MOUNTS: "yes" if apart else ""})
    finally:
        os.close(held)
        os.waitpid(keeper, 0)
