# SPDX-License-Identifier: BSD-3-Clause
"""foreign - `mortar run` and programs that its libraries cannot or should not be loaded into: of another C library, static,
sanitized, audited, with an allocator or rights of their own; where another mortar is; plug-ins of an MPI that nobody knows.
usage: foreign.py TEST [FLAVOUR]"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip, mpi  # noqa: E402


def preloaded(words, said=None, env=None):
    """What `mortar run words` (a kind of env) shows: are mortar's libraries in LD_PRELOAD? It says so much."""
    result = run.run([run.MORTAR, "run", *words], env=env).ok()
    if said is None:
        result.silent()
    else:
        result.check(len(result.lines()) == 1 and all(word in result.lines()[0] for word in said), "unclear")
    return any(line.startswith("LD_PRELOAD=") and "libmortar.so" in line for line in result.out.splitlines())


def check(fine, why):
    if not fine:
        raise Failure(why)


def with_linker(program, linker, folder):
    """A copy of a program that names another dynamic linker, which is the usual one under that name."""
    with open(os.path.realpath(shutil.which(program)), "rb") as file:
        image = file.read()
    usual = image[image.find(b"/lib"):].split(b"\0", 1)[0]
    other, place = os.path.join(folder, linker), os.path.join(folder, program + "-" + linker)
    if b"ld-linux" not in usual or len(other) > len(usual):
        raise Skip("%s cannot be written over %r, the first name in %s" % (other, usual, program))
    if not os.path.lexists(other):
        os.symlink(usual.decode(), other)
    with open(place, "wb") as file:
        file.write(image.replace(usual, other.encode().ljust(len(usual), b"\0"), 1))
    os.chmod(place, 0o755)
    return place


def libraries():
    """A program of another C library runs as it is; one of glibc is served, whatever its dynamic linker is called."""
    with tempfile.TemporaryDirectory(prefix="m", dir="/tmp") as folder:
        musl, own = with_linker("env", "ld-musl.so", folder), with_linker("env", "ld.so", folder)
        check(preloaded(["env"]), "a usual program is not served")
        check(preloaded([own]), "a dynamic linker of another name is not glibc's")
        check(not preloaded([musl], ["ld-musl.so", "as it is"]), "mortar is preloaded into another C library's program")
        check(not preloaded([musl], env={"PMI_RANK": "3"}), "preloaded on another rank")
        script = os.path.join(folder, "script")
        for shell, said in (("/bin/sh", None), (with_linker("cat", "ld-musl.so", folder), ["ld-musl.so"])):
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!%s\nenv\n" % shell)
            os.chmod(script, 0o755)
            check(preloaded([script], said) == (said is None), "a script of %s" % shell)


def static():
    """A static wrapper is said, and what it starts is served. The command itself, under another name, is one."""
    with open(run.MORTAR, "rb") as file:
        if b"ld-linux" in file.read(4096):
            raise Skip("the command is not static here")
    with tempfile.TemporaryDirectory() as folder:
        wrapper = installation(folder, "wrapper")
        check(preloaded([wrapper, "run", "env"], ["statically linked", "as it is"]), "what a static program starts is not served")


def installation(folder, name="mortar"):
    """Another mortar below a folder, the same one: its command."""
    program = os.path.join(folder, "bin", name)
    os.mkdir(os.path.dirname(program))
    shutil.copy(run.MORTAR, program)
    os.symlink(os.path.join(run.BUILD, "lib"), os.path.join(folder, "lib"))
    return program


def site():
    """Where a site preloads mortar, or runs it before the user's, the user's takes its place: one, with a heap or without."""
    with tempfile.TemporaryDirectory() as folder:
        other = installation(folder)
        libraries = [os.path.join(run.BUILD, "lib", name) for name in ("libmortar-heap.so", "libmortar.so")]
        if not os.path.exists(libraries[0]):
            raise Skip("there is no shared heap")
        others = [os.path.join(folder, "lib", os.path.basename(library)) for library in libraries]
        for words, env, expected in (
                ([other, "run", "env"], {}, others),
                (["sh", "-c", '"$@"', "sh", other, "run", "env"], {}, others),
                (["env"], {"LD_PRELOAD": ":".join(others)}, libraries),
                (["env"], {"LD_PRELOAD": " ".join(libraries), "MORTAR_HEAP": "off"}, libraries[1:])):
            result = run.run(["env", *["%s=%s" % pair for pair in env.items()], run.MORTAR, "run", *words]).ok().silent()
            check("LD_PRELOAD=" + ":".join(expected) in result.out.splitlines(), "not one mortar alone: %s" % result.out)


def with_library(library, folder):
    """A copy of env that names a library, which it does not need."""
    unused = b"\0_ITM_deregisterTMCloneTable\0"
    with open(os.path.realpath(shutil.which("env")), "rb") as file:
        image = file.read()
    if unused not in image:
        raise Skip("env has no name that can be written over")
    place = os.path.join(folder, "env")
    with open(place, "wb") as file:
        file.write(image.replace(unused, (b"\0" + library).ljust(len(unused), b"\0"), 1))
    os.chmod(place, 0o755)
    return place


def wrapper():
    """Behind a wrapper the program is looked at, too. What follows a program of MPI is for that one."""
    with tempfile.TemporaryDirectory(prefix="m", dir="/tmp") as folder:
        musl, program = with_linker("env", "ld-musl.so", folder), with_library(b"libmpi.so.40", folder)
        said = [musl, "ld-musl.so", "as it is"]
        check(not preloaded(["env", "A=1", musl], said), "mortar is preloaded into another C library's program")
        check(preloaded([program, "-u", musl]), "the argument of a program of MPI is taken for a program")
        check(preloaded(["env", "A=/bin/sh", program]), "a usual program is not served")
        check(not preloaded(["env", "-u", "A", "env", musl], said), "not seen behind two wrappers")
        library = os.path.join(run.BUILD, "lib", "libmortar.so")
        check(preloaded(["env", "-u", library, "-u", "/dev/null", "-u", folder]), "what is no program")


def allocator():
    """A program that needs an allocator's library has that one's malloc, unless the heap's was asked for."""
    with tempfile.TemporaryDirectory(prefix="m", dir="/tmp") as folder:
        place = with_library(b"libjemalloc.so.2", folder)
        for env, said in (({}, True), ({"MORTAR_HEAP": "off"}, False), ({"MORTAR_HEAP": "on"}, False)):
            result = run.run([run.MORTAR, "run", place], env=env).ok()
            result.check(len(result.lines()) == said and ("libjemalloc" in result.err) == said, "said otherwise")
            check(("libmortar-heap.so" in result.out) == (env.get("MORTAR_HEAP") != "off"), "the heap with %r" % env)
            check(("MORTAR_HEAP=aside" in result.out) == said, "it does not stand aside, or with %r" % env)
            check("libmortar.so" in result.out, "mortar with %r" % env)
            line = [line for line in run.run([run.MORTAR, "doctor", place], env=env).out.splitlines() if "program  " in line]
            check(len(line) == 1 and line[0].startswith("yellow" if said else "green") and
                  ("env is linked with libjemalloc, and keeps that one's malloc" in line[0]) == said, "doctor says %r" % line)


def raised():
    """A program with other rights than its user's runs as it is, which is said, by doctor, too; without them it is served."""
    if os.geteuid() != 0:
        raise Skip("only root can be another user")
    with open("/proc/self/status", encoding="utf-8") as file:
        fixed = "NoNewPrivs:\t1" in file.read()
    if fixed or os.statvfs("/tmp").f_flag & os.ST_NOSUID:
        raise Skip("no program gets other rights here")
    user = 65534
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        place = os.path.join(folder, "env")
        shutil.copy(os.path.realpath(shutil.which("env")), place)
        as_user = ["setpriv", "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups"]
        if run.run([*as_user, run.MORTAR, "--version"]).code != 0:
            raise Skip("another user cannot start the command")
        for mode, owner, secure in ((0o4755, 0, True), (0o2755, 0, True), (0o4755, user, False), (0o755, 0, False)):
            os.chown(place, owner, owner)
            os.chmod(place, mode)
            for words in ([], ["setpriv", "--no-new-privs"]):
                expected = secure and not words
                result = run.run([*as_user, *words, run.MORTAR, "run", place]).ok()
                said = [line for line in result.lines() if "setuid, or has capabilities" in line and "runs as it is" in line]
                result.check(len(result.lines()) == len(said) == expected, "mode %o: not said once" % mode)
                check(("libmortar.so" in result.out) != expected, "mode %o: preloaded, or not" % mode)
                line = [line for line in run.run([*as_user, *words, run.MORTAR, "doctor", place]).out.splitlines()
                        if "program  " in line]
                check(len(line) == 1 and line[0].startswith("red" if expected else "green"), "doctor says %r" % line)


def audited():
    """Beside an auditor of the dynamic linker a program starts, without the shared heap, which is said unless it was not wanted."""
    audit = {"LD_AUDIT": run.target("auditor.so")}
    for heap, said in ((None, True), ("on", True), ("off", False)):
        env = {**audit, **({"MORTAR_HEAP": heap} if heap else {})}
        check(preloaded(["env"], ["LD_AUDIT", "without the shared heap"] if said else None, env=env), "mortar is not preloaded")


def sanitizer(name, flavour):
    """Under mortar run, alone and with its own options, a sanitized program computes as usual, and an error is found as usual."""
    program = run.target("sanitized-%s-%s" % (name, flavour))
    env = {"TSAN_OPTIONS": "report_bugs=0:die_after_fork=0", "ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}
    native = run.run(run.command(flavour, 2, [program], None), env={**env, **run.QUICK_END})
    if native.code != 0:
        raise Skip("it does not run natively: %s" % native.err[-500:])
    result = mpi(flavour, 2, [program], env=env).ok("2 ranks, 0 errors").took(20)
    result.check(len(result.lines()) == 1 and "without the shared heap" in result.lines()[0], "not said once")
    result = run.run(run.command(flavour, 2, ["env", "A=1", program], []), env=env).ok("2 ranks, 0 errors")
    result.check(len(result.lines()) == 1 and "without the shared heap" in result.lines()[0], "not said once behind env")
    mpi(flavour, 2, [program], ["--heap", "off"], env=env).ok("2 ranks, 0 errors").took(20).silent()
    site = "LD_PRELOAD=" + ":".join(os.path.join(run.BUILD, "lib", name) for name in ("libmortar-heap.so", "libmortar.so"))
    words = run.command(flavour, 2, ["env", site, run.MORTAR, "run", program], None)
    run.run(words, env=env).ok("2 ranks, 0 errors")
    if name == "address":
        result = mpi(flavour, 2, [program, "wrong"], env={**env, **run.QUICK_END})
        result.check(result.code != 0 and "heap-buffer-overflow" in result.err, "the sanitizer did not find the error")


def stubs():
    """Plug-ins that bring MPI functions of their own: each gets its own, also those that reports would count."""
    one, other = (run.target("stub-%d.so" % whose) for whose in (3, 4))
    for options in ([], ["--report", "-"]):
        for plugins in ([one], [one, other]):
            run.run([run.target("stubs"), *plugins]).ok("all theirs")
            result = run.run([run.MORTAR, "run", *options, run.target("stubs"), *plugins]).ok("all theirs")
            result.check(len(result.lines()) == 1 and "unchanged" in result.lines()[0], "not one line that says why")
        result = run.run([run.MORTAR, "run", *options, run.target("stubs")])
        result.check(result.code != 0 and "calls MPI_Barrier, which" in result.err, "what nobody has was called")


def renamed():
    """An MPI library of another name, loaded privately, gets its calls."""
    run.need("mpich4")
    usual, other = b"libmpich.so.12", b"libother.so.12"
    plugin = run.target("plugin-mpich4.so")
    needed = run.run(["ldd", plugin]).ok().out.split()  # "libmpich.so.12 => FILE (...)"
    if usual.decode() not in needed:
        raise Skip("MPICH has another name here")
    library = needed[needed.index(usual.decode()) + 2]
    with tempfile.TemporaryDirectory() as folder:
        for name, path in ((other.decode(), library), ("plugin.so", plugin)):
            with open(path, "rb") as file:
                image = file.read()
            with open(os.path.join(folder, name), "wb") as file:
                file.write(image.replace(usual, other))
        result = mpi("mpich4", 2, ["late", os.path.join(folder, other.decode()), os.path.join(folder, "plugin.so")])
        result.ok("2 ranks, 0 errors").check(not result.report, "a report was written")
        result.check(all("unchanged" in line for line in result.lines()) and result.lines(), "no line that says why")


run.main_of(libraries, static, wrapper, site, allocator, raised, audited, sanitizer, stubs, renamed)
