# SPDX-License-Identifier: BSD-3-Clause
"""installed - the build, installed in a folder with a blank in its name and then moved: installed.py WORD [FLAVOUR].

commands  every command of `mortar --help` works from there, and the links between the pages lead somewhere
modules   the module files give the command and its pages, to Environment Modules, to Lmod, and to a bare tclsh
default   what docs/install.md says of a site that preloads mortar everywhere: it works, and each way out of it
link      a program linked with -lmortar, by pkg-config and by CMake, runs under `mortar run`, natively, and with no mortar there"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run  # noqa: E402
from run import Failure  # noqa: E402


def install(folder):
    """The prefix, which is not where it was installed."""
    run.run(["cmake", "--install", run.BUILD, "--prefix", os.path.join(folder, "at first")]).ok()
    prefix = os.path.join(folder, "a prefix")
    os.rename(os.path.join(folder, "at first"), prefix)
    return prefix


def only(pattern):
    found = glob.glob(pattern, recursive=True)
    if len(found) != 1:
        raise Failure("%s: expected one file, found %s" % (pattern, found))
    return found[0]


REPORT = {"mortar": "0.1.0", "mpi": "an MPI", "ranks": 2, "heap": "on", "moved": {"buffers": 0, "bytes": 0, "seconds": 0},
          "verified_calls": 0, "differences": 0, "teams": [], "collectives": []}


def commands(folder):
    prefix = install(folder)
    mortar = os.path.join(prefix, "bin", "mortar")
    told = run.run([mortar, "--help"]).ok().out
    names = set(re.findall(r"^(?:usage:|      ) (?:mpirun -n P )?mortar ([a-z][\w-]*)", told, re.MULTILINE))
    report = os.path.join(folder, "report.json")
    with open(report, "w", encoding="utf-8") as file:
        json.dump(REPORT, file)
    ways = {  # what each prints when all that it needs is there
        "run": (["run", "sh", "-c", "echo $LD_PRELOAD; cat /proc/self/maps"], "libmortar-heap.so"),
        "bench": (["bench", "communicators", "--help"], "MPI_Comm_split"),
        "tune": (["tune", "--help"], "--output FILE"),
        "info": (["info"], "MORTAR_PLAN"),
        "doctor": (["doctor"], "mortar doctor"),
        "site-card": (["site-card", "--help"], "--minutes M"),
        "try": (["try", "--help"], "--patience"),
        "report": (["report", "-o", os.path.join(folder, "page.html"), report], "page.html"),
        "replay": (["replay", "--help"], "--times N"),
        "model": (["model", "--machine", "knc-5110p", "--bytes", "64", "--csv"], "morton"),
        "cores": (["cores", "barrier", "--ranks", "4"], "central"),
        "predict": (["predict", "--platform", "2x2", "--collective", "alltoall", "--sizes", "8", "--plans", "direct", "--quiet"],
                    "direct")}
    if names != set(ways):
        raise Failure("mortar --help has %s, this test %s" % (sorted(names), sorted(ways)))
    if not os.path.exists(os.path.join(run.BUILD, "lib", "mortar-sim")):
        del ways["predict"]
    for words, expected in ways.values():
        result = run.run([mortar, *words])
        result.check(result.code in (0, 1) if words == ["doctor"] else result.code == 0, "it failed").check(
            expected in result.out + result.err, "no %r" % expected)
    links(only(os.path.join(prefix, "share", "doc", "mortar")))


def links(folder):
    """Every relative link of an installed page leads to an installed file."""
    pages = glob.glob(os.path.join(folder, "**", "*.md"), recursive=True)
    names = {os.path.relpath(page, folder) for page in pages}
    if not {"README.md", "CHANGELOG.md", "docs/install.md"} <= names or not os.path.exists(os.path.join(folder, "LICENSE")):
        raise Failure("not all pages are in %s: %s" % (folder, sorted(names)))
    for page in pages:
        with open(page, encoding="utf-8") as file:
            for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", file.read()):
                if not os.path.exists(os.path.join(os.path.dirname(page), link)):
                    raise Failure("%s: a link to %s, which is not installed" % (page, link))


TCLSH = """
proc module-whatis {args} {}
proc conflict {args} {}
proc prepend-path {name value} { puts "$name=$value" }
proc append-path {name value} {}
set ModulesCurrentModulefile [lindex $argv 0]
source [lindex $argv 0]
"""


def modules(folder):
    prefix = install(folder)
    tree = os.path.join(prefix, "share", "modulefiles")
    file = only(os.path.join(tree, "mortar", "*.lua"))[:-4]
    expected = ["PATH=%s/bin" % prefix, "MANPATH=%s/share/man" % prefix]
    tested = 0
    if shutil.which("tclsh"):
        script = os.path.join(folder, "script.tcl")
        with open(script, "w", encoding="utf-8") as text:
            text.write(TCLSH)
        result = run.run(["tclsh", script, file]).ok()
        result.check(all(word in result.out.split("\n") for word in expected), "expected %s" % expected)
        tested += 1
    for start in ("/usr/share/modules/init/bash", "/usr/share/lmod/lmod/init/bash"):
        if os.path.exists(start):
            with_modules(start, tree, prefix)
            tested += 1
    if not tested:
        raise run.Skip("no tclsh, no Environment Modules, no Lmod")


def with_modules(start, tree, prefix):
    """In a shell with a module system: before, loaded, unloaded; a copy of the file elsewhere says what is wrong with it."""
    lines = '. %s; module use "$1"; man -w ls; module load mortar && command -v mortar && man -w mortar && man -w ls; ' \
            'module unload mortar; command -v mortar || echo gone' % start
    values = {name: "" for name in ("MODULEPATH", "LOADEDMODULES", "_LMFILES_", "MANPATH")}
    result = run.run(["env", *["--unset=" + name for name in values], "bash", "--norc", "-c", lines, "bash", tree])
    said = result.out.splitlines()
    result.check(os.path.join(prefix, "bin", "mortar") in said, "%s: no command" % start)
    result.check(said[-1] == "gone", "%s: the command is still there" % start)
    if shutil.which("man"):
        page = os.path.join(prefix, "share", "man", "man1", "mortar.1")
        result.check(page in said or not os.path.exists(page), "%s: no page" % start)
        result.check(said.count(said[0]) == 2 or not said[0].startswith("/usr"), "%s: the system's pages are hidden" % start)
    copy = os.path.join(os.path.dirname(prefix), "copy")
    shutil.copytree(tree, copy)
    lines = '. %s; module use "$1"; module load mortar; command -v mortar || echo none' % start
    result = run.run(["env", *["--unset=" + name for name in values], "bash", "--norc", "-c", lines, "bash", copy])
    result.check(result.out.strip().endswith("none"), "%s: a copy of the file gives a command" % start)
    result.check("name mortar's prefix in" in " ".join(result.err.split()), "%s: a copy of the file says nothing" % start)
    shutil.rmtree(copy)


def link(folder, flavour):
    run.need(flavour)
    prefix = install(folder)
    compiler = subprocess.run([run.LAUNCH, "--cc", flavour], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.strip()
    mortar = os.path.join(prefix, "bin", "mortar")
    programs = [by_pkg_config(folder, prefix, compiler), by_cmake(folder, prefix, compiler)]
    with open(os.path.join(prefix, "include", "mortar.h"), encoding="utf-8") as file:
        version = re.search('MORTAR_VERSION "(.*)"', file.read()).group(1)
    for program in programs:
        if not program:
            continue
        report = os.path.join(folder, "report.json")
        heard = "version=%s plan=0 wrong=-22 plans=" % version
        result = run.run([run.LAUNCH, flavour, "2", mortar, "run", "--verify", "1", program, report], report=report)
        result.ok(heard, "verified=0 calls=3 report=0").took(3, collective="alltoall", plan="cico")
        os.remove(report)
        alone = "version=none plan=-38 wrong=-38 plans=-38 first= verified=-38 calls=0 report=-38"
        run.run([run.LAUNCH, flavour, "2", program, report]).ok(alone)
    os.rename(prefix, prefix + " away")
    run.run([run.LAUNCH, flavour, "2", programs[-1] or programs[0], "-"]).ok(alone)


def by_pkg_config(folder, prefix, compiler):
    if not shutil.which("pkg-config"):
        return None
    flags = {"PKG_CONFIG_PATH": os.path.dirname(only(os.path.join(prefix, "lib*", "**", "mortar.pc")))}
    program = os.path.join(folder, "by-pkg-config")
    # Blanks are escaped in what pkg-config says: eval reads it.
    line = 'eval "%s -o \\"\\$1\\" \\"\\$2\\" $(pkg-config --cflags --libs mortar)"' % compiler
    run.run(["sh", "-c", line, "sh", program, os.path.join(HERE, "asks.c")], env=flags).ok()
    return program


PROJECT = """cmake_minimum_required(VERSION 3.22)
project(asks C)
find_package(mortar %s REQUIRED)
add_executable(asks "%s/asks.c")
target_link_libraries(asks mortar::mortar)
"""


def by_cmake(folder, prefix, compiler):
    source, build = os.path.join(folder, "project"), os.path.join(folder, "project", "build")
    os.mkdir(source)
    with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT % ("0.1", HERE))
    words = compiler.split()
    wrapper = os.path.join(folder, "cc")  # the wrapper with its arguments, as one word
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec %s \"$@\"\n" % " ".join(words))
    os.chmod(wrapper, 0o755)
    run.run(["cmake", "-S", source, "-B", build, "-DCMAKE_C_COMPILER=" + wrapper, "-DCMAKE_PREFIX_PATH=" + prefix]).ok()
    run.run(["cmake", "--build", build]).ok()
    return os.path.join(build, "asks")


def default(folder, flavour):
    run.need(flavour)
    program, report = run.target("exchange-" + flavour), os.path.join(folder, "report.json")
    prefix = os.path.join(folder, "prefix")  # LD_PRELOAD is cut at blanks
    run.run(["cmake", "--install", run.BUILD, "--prefix", prefix]).ok()
    libraries = os.path.dirname(only(os.path.join(prefix, "lib*", "**", "libmortar.so")))
    preload = "LD_PRELOAD=%s/libmortar-heap.so:%s/libmortar.so" % (libraries, libraries)
    counts = {}
    for name, words in (("on", []), ("off", ["MORTAR_OFF=all"]), ("some", ["MORTAR_OFF=alltoall"]),
                        ("private", ["MORTAR_HEAP=off"]), ("out", ["LD_PRELOAD="])):
        set_for_all = ["env", preload, "MORTAR_REPORT=" + report]
        result = run.run([run.LAUNCH, flavour, "2", *set_for_all, "env", *words, program], report=report)
        result.ok("2 ranks, 0 errors").check((result.report is None) == (name == "out"), "%s: a report, or none" % name)
        counts[name] = result.report and (result.calls(True), result.report["heap"] == "on")
        if result.report:
            os.remove(report)
    expected = {"on": (5, True), "off": (0, True), "private": (5, False), "out": None}
    some = counts.pop("some")
    if counts != expected or not 0 < some[0] < 5:
        raise Failure("calls that were taken, and whether the heap was shared: %s, expected %s; without alltoall %s" % (
            counts, expected, some))


def test(name, *words):
    with tempfile.TemporaryDirectory() as folder:
        {"commands": commands, "modules": modules, "link": link, "default": default}[name](os.path.realpath(folder), *words)


run.main(test)
