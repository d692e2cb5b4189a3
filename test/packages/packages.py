# SPDX-License-Identifier: BSD-3-Clause
"""packages - what takes a build of its own: packages.py install | deb | rpm | dist | jemalloc | heapless | setup.

install   make install and make uninstall, in a prefix with blanks, with DESTDIR, in a wrong one
deb       the .deb: built, installed, used by 4 ranks, removed, nothing left. As root; changes the machine while it runs
rpm       the .rpm: built; its files, and what it needs
dist      the tarball: twice the same bytes; builds without git and knows its version and commit
jemalloc  with jemalloc from its release the tests of test/heap pass; a file that is not there is refused
heapless  where neither apt nor dpkg, an MPI's command nor jemalloc is found, mortar is built, says what is missing, and works
setup     scripts/setup without apt-get"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

LONG = 500


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip("no %s" % program)


def files_below(folder):
    return {os.path.relpath(os.path.join(here, name), folder) for here, _, names in os.walk(folder) for name in names}


def make(*words, **environment):
    """In the repository, without what a make or ctest around this one has set."""
    others = ("MAKE", "MFLAGS", "MORTAR_", "DESTDIR", "PREFIX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    strict = ["sh", "-c", 'umask 077; exec "$@"', "sh"]  # what is made is for all users nevertheless
    done = subprocess.run(["timeout", str(LONG), *strict, "make", "-C", run.ROOT, *words], env={**kept, **environment},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    return run.Result(["make", *words], done.returncode, done.stdout, done.stderr, None)


def version():
    with open(os.path.join(run.ROOT, "include", "mortar.h"), encoding="utf-8") as file:
        return re.search('MORTAR_VERSION "(.*)"', file.read()).group(1)


def exchange(mortar):
    """An ordinary program on 4 ranks, its calls taken."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        result = run.run([run.LAUNCH, "ompi4", "4", mortar, "run", "--report", report, run.target("exchange-ompi4")], report=report)
        return result.ok("4 ranks, 0 errors").took(5)


def install(folder):
    place, stage = os.path.join(folder, "two  blanks (and) more"), os.path.join(folder, "stage")
    result = make("install", "PREFIX=~/mortar")
    result.check(result.code != 0 and "begins with /" in result.err, "PREFIX=~/mortar is not refused")
    make("install", "PREFIX=" + place).ok()
    first = files_below(place)
    closed = run.run(["find", place, "!", "-perm", "-a=r", "-o", "-type", "d", "!", "-perm", "-a=x"]).ok().out
    if closed:
        raise Failure("not for all users: %s" % closed)
    exchange(os.path.join(place, "bin", "mortar"))
    foreign = os.path.join(place, "share", "man", "man1", "other.1")
    with open(foreign, "w", encoding="utf-8"):
        pass
    result = make("uninstall", "PREFIX=" + folder)
    result.check(result.code != 0 and "elsewhere" in result.err and files_below(place) >= first, "a wrong prefix is not refused")
    make("uninstall", "PREFIX=" + place).ok("removed %d files" % len(first))
    if files_below(place) != {os.path.relpath(foreign, place)} or glob.glob(place + "/**/mortar", recursive=True):
        raise Failure("left behind: %s" % sorted(files_below(place)))
    result = make("uninstall", "PREFIX=" + place)
    result.check(result.code != 0 and "nothing was installed" in " ".join(result.err.split()), "uninstalls twice")
    make("install", "PREFIX=/usr", "DESTDIR=" + stage).ok()
    if {os.path.join("usr", name) for name in first} != files_below(stage):
        raise Failure("DESTDIR has other files: %s" % sorted({os.path.join("usr", name) for name in first} ^ files_below(stage)))
    make("uninstall", "PREFIX=/usr", "DESTDIR=" + stage).ok()
    if files_below(stage):
        raise Failure("left in DESTDIR: %s" % sorted(files_below(stage)))


def package(ending):
    make("package").ok()
    found = glob.glob(os.path.join(run.ROOT, "build", "package", "mortar*" + version() + "*." + ending))
    if len(found) != 1:
        raise Failure("expected one .%s, found %s" % (ending, found))
    return found[0]


MUST_HAVE = ("bin/mortar", "include/mortar.h", "share/man/man1/mortar-run.1", "share/doc/mortar/docs/install.md",
             "share/bash-completion/completions/mortar", "share/modulefiles/mortar/%s.lua" % version(), "pkgconfig/mortar.pc",
             "/libmortar.a", "mortar/libmortar-heap.so", "mortar/libmortar-ompi.so", "mortar/machines/knc-5110p")


def check_list(names):
    for name in MUST_HAVE:
        if sum(path.endswith(name) for path in names) != 1:
            raise Failure("the package has not %s: %s" % (name, names))
    if any("sim" in os.path.basename(path) and path.endswith(".so") for path in names):
        raise Failure("the package has simulations, which need SimGrid: %s" % names)


def deb(folder):
    need("dpkg-deb", "dpkg-shlibdeps")
    path = package("deb")
    fields = run.run(["dpkg-deb", "--field", path]).ok().out
    depends = re.search("^Depends: (.*)$", fields, re.MULTILINE)
    if not depends or "libc6 (>=" not in depends.group(1) or re.search("mpi|simgrid|jemalloc", depends.group(1)):
        raise Failure("depends on the wrong packages: %s" % fields)
    listed = run.run(["dpkg-deb", "--contents", path]).ok().out.splitlines()
    names = [line.split()[5].lstrip(".") for line in listed if not line.endswith("/")]
    check_list(names)
    closed = [line for line in listed if not re.match("-r..r..r..|dr.xr.xr.x", line)]
    if closed:
        raise Failure("not for all users: %s" % closed)
    if os.geteuid() != 0:
        raise Skip("installing the .deb needs root; its contents are fine")
    if run.run(["dpkg", "--status", "mortar"]).code == 0:
        raise Skip("a package mortar is installed here: left as it is")
    before = {name for name in names if os.path.exists(name)}
    if before:
        raise Skip("files of the package are here already: %s" % sorted(before)[:3])
    try:
        run.run(["dpkg", "--install", path]).ok()
        run.run(["/usr/bin/mortar", "info"]).ok("mortar " + version())
        exchange("/usr/bin/mortar")
    finally:
        removed = run.run(["dpkg", "--purge", "mortar"])
    removed.ok()
    left = [name for name in names if os.path.lexists(name)] + glob.glob("/usr/lib/*/mortar") + glob.glob("/usr/share/*/mortar")
    if left:
        raise Failure("left behind: %s" % left)


def rpm(folder):
    need("rpmbuild", "rpm")
    path = package("rpm")
    listed = run.run(["rpm", "-qlp", path]).ok().out.splitlines()
    check_list(listed)
    others = ("/usr/bin", "/usr/lib", "/usr/share/man", "/usr/share/man/man1", "/usr/include")
    shared = [name for name in listed if "/.build-id" in name or name in others]
    if shared:
        raise Failure("owns folders of others: %s" % shared)
    needed = run.run(["rpm", "-qRp", path]).ok().out
    if "libc.so.6" not in needed or re.search("mpi|simgrid", needed):
        raise Failure("needs the wrong things: %s" % needed)


def dist(folder):
    need("git", "gzip")
    if not os.path.exists(os.path.join(run.ROOT, ".git")):
        raise Skip("not a repository")
    paths = []
    for name, mask in (("a", 0o022), ("b", 0o077)):
        place = os.path.join(folder, name)
        before = os.umask(mask)
        paths.append(run.run([os.path.join(run.ROOT, "scripts", "dist"), place]).ok().out.split()[-1])
        os.umask(before)
    with open(paths[0], "rb") as one, open(paths[1], "rb") as other:
        if one.read() != other.read():
            raise Failure("%s and %s differ" % tuple(paths))
    if os.path.basename(paths[0]) != "mortar-%s.tar.gz" % version():
        raise Failure("it is called %s" % paths[0])
    subprocess.run(["tar", "xf", paths[0], "-C", folder], check=True)
    source, build = os.path.join(folder, "mortar-" + version()), os.path.join(folder, "build")
    configured(source, build, "-DMORTAR_SIMULATIONS=OFF")
    run.run(["cmake", "--build", build], seconds=LONG).ok()
    run.run([os.path.join(build, "bin", "mortar"), "--version"]).ok("mortar " + version())
    commit = run.run(["git", "-C", run.ROOT, "rev-parse", "HEAD"]).ok().out
    with open(os.path.join(build, "bench", "commit.h"), encoding="utf-8") as file:
        if file.read() != '#define BENCH_COMMIT "%s"\n' % commit[:12]:
            raise Failure("the build does not know its commit, %s" % commit)


def configured(source, build, *words):
    return run.run(["cmake", "--preset", "release", "-S", source, "-B", build, "-DMORTAR_TESTS=OFF", *words]).ok()


def release_of_jemalloc():
    """Debian's copy of the release, by apt in a state of its own, kept in build/; or what JEMALLOC names."""
    named = os.environ.get("JEMALLOC")
    place = os.path.join(run.ROOT, "build", "jemalloc")
    found = glob.glob(os.path.join(place, "jemalloc_*.orig.tar.*"))
    if named or found:
        return named or found[0]
    need("apt-get")
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(place, name), exist_ok=True)
    for path in glob.glob("/etc/apt/sources.list.d/*.sources") + glob.glob("/etc/apt/sources.list"):
        with open(path, encoding="utf-8") as file, open(os.path.join(place, "parts", os.path.basename(path)), "w",
                                                        encoding="utf-8") as copy:
            copy.write(re.sub("^(Types: *|)deb\\b(?!-)", r"\1deb-src", file.read(), flags=re.MULTILINE))
    if os.path.exists(os.path.join(place, "parts", "sources.list")):  # apt wants another ending here
        os.rename(os.path.join(place, "parts", "sources.list"), os.path.join(place, "parts", "old.list"))
    words = ["apt-get", "-q", "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=%s/parts" % place, "-o",
             "Dir::State::Lists=%s/lists" % place, "-o", "Dir::Cache=%s/cache" % place]
    subprocess.run([*words, "update"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=200)
    subprocess.run([*words, "source", "--download-only", "jemalloc"], cwd=place, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False, timeout=100)
    found = glob.glob(os.path.join(place, "jemalloc_*.orig.tar.*"))
    if not found:
        raise Skip("apt-get has no sources of jemalloc here; JEMALLOC=/path/jemalloc-5.3.0.tar.bz2 names a release")
    return found[0]


def jemalloc(folder):
    need("make", "cmake", "tar")
    source, build = release_of_jemalloc(), os.path.join(folder, "with")
    run.run(["cmake", "--preset", "release", "-S", run.ROOT, "-B", build, "-DMORTAR_JEMALLOC_SOURCE=" + source], seconds=100).ok()
    targets = run.run(["ninja", "-C", build, "-t", "targets", "all"]).ok().out
    targets = re.findall(r"^(heap-[\w-]+|old-kernel): ", targets, re.MULTILINE)
    run.run(["cmake", "--build", build, "--target", "mortar-heap", *targets], seconds=LONG).ok()
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        if "/usr/lib" in "".join(line for line in file if "libjemalloc_pic" in line):
            raise Failure("it is built with the distribution's jemalloc")
    alone = ["env", "--unset=MORTAR_START", "--unset=MORTAR_TUNE"]  # which run() sets
    done = run.run([*alone, "ctest", "--test-dir", build, "-L", "^heap$", "--output-on-failure", "--no-tests=error"], seconds=LONG)
    done.ok("100% tests passed")
    print(re.search("100% tests passed.*", done.out).group())
    result = run.run(["cmake", "--preset", "release", "-S", run.ROOT, "-B", os.path.join(folder, "wrong"),
                      "-DMORTAR_JEMALLOC_SOURCE=/no/such/file"])
    result.check(result.code != 0 and "/no/such/file" in result.err and "jemalloc-5.3.0.tar.bz2" in result.err, "a wrong file")

def without_debian(folder):
    """A PATH with what this system has but for what only Debian has, and MPI libraries."""
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    for path in glob.glob("/usr/bin/*"):
        if not re.match(r"apt|dpkg|mpi|ompi|orte|pmix|hydra", os.path.basename(path)):
            os.symlink(path, os.path.join(tools, os.path.basename(path)))
    return "PATH=" + tools


def heapless(folder):
    build, path = os.path.join(folder, "build"), without_debian(folder)
    hidden = run.run(["env", path, "sh", "-c", "command -v apt-get dpkg mpicc mpirun mpiexec.hydra"])
    hidden.check(not hidden.out, "these are still found")
    result = run.run(["env", path, "cmake", "--preset", "release", "-S", run.ROOT, "-B", build, "-DMORTAR_TESTS=OFF",
                      "-DJEMALLOC_PIC=", "-DMORTAR_SIMULATIONS=OFF"]).ok()
    result.check("WITHOUT the shared heap" in " ".join(result.err.split()), "it does not say what is missing")
    result.check("MORTAR_JEMALLOC_SOURCE" in result.err, "it does not say what to do")
    run.run(["env", path, "cmake", "--build", build], seconds=LONG).ok()
    for engine in "ompi", "mpich", "standard":
        if not os.path.exists(os.path.join(build, "lib", "libmortar-%s.so" % engine)):
            raise Failure("the engine %s was not built" % engine)
    result = exchange(os.path.join(build, "bin", "mortar"))
    result.check("ld.so" not in result.err and result.report["heap"] != "on", "there is a heap")
    print("without jemalloc the report says: heap %s" % result.report["heap"])


def setup(folder):
    """With nothing in PATH but what it calls itself and a few tools, it names what is missing, and other systems' packages."""
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    for name in ("sh", "dirname", "cat", "cc", "cmake"):
        os.symlink(shutil.which(name), os.path.join(tools, name))
    result = run.run(["env", "PATH=" + tools, os.path.join(run.ROOT, "scripts", "setup")])
    result.check(result.code == 1, "it does not fail")
    for word in ("dnf install", "zypper install", "pacman -S", "spack install", "hwloc-devel", " gfortran", "docs/install.md"):
        result.check(word in result.err, "it does not say %r" % word)
    first = result.err.splitlines()[0]
    result.check(" mpicc" in first and " cmake" not in first, "it does not say what of it is missing")
    words = os.path.join(folder, "words")  # of an apt-get on a machine without packages
    for name, line in (("dpkg-query", ""), ("apt-get", 'echo "$@" >>"%s"' % words), ("id", "echo 0")):
        with open(os.path.join(tools, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % line)
        os.chmod(os.path.join(tools, name), 0o755)
    copy = os.path.join(folder, "scripts")
    os.mkdir(copy)
    shutil.copy(os.path.join(run.ROOT, "scripts", "setup"), copy)
    run.run(["env", "PATH=%s:%s" % (tools, os.environ["PATH"]), os.path.join(copy, "setup")]).ok("setup: done")
    with open(words, encoding="utf-8") as file:
        installs = [line for line in file if " install " in line]
    if not installs or not all("--no-remove" in line for line in installs):
        raise Failure("packages that are there may be removed: %s" % installs)


def test(name):
    tests = {f.__name__: f for f in (install, deb, rpm, dist, jemalloc, heapless, setup)}
    with tempfile.TemporaryDirectory() as folder:
        tests[name](os.path.realpath(folder))


run.main(test)
