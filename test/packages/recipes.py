# SPDX-License-Identifier: BSD-3-Clause
"""recipes - the recipes for EasyBuild and Spack, executed against small stand-ins for what both give to recipes: names, versions,
and CMake's options, each of which must be an option of this project. With `eb` in PATH EasyBuild itself makes a dry run, too."""
import glob
import os
import re
import shutil
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run  # noqa: E402
from run import Failure  # noqa: E402

PACKAGING = os.path.join(run.ROOT, "packaging")


def version():
    with open(os.path.join(run.ROOT, "include", "mortar.h"), encoding="utf-8") as file:
        return re.search('MORTAR_VERSION "(.*)"', file.read()).group(1)


def known_options():
    """What CMakeLists.txt declare, and what they look for."""
    found = set()
    for path in glob.glob(os.path.join(run.ROOT, "**", "CMakeLists.txt"), recursive=True):
        with open(path, encoding="utf-8") as file:
            found |= set(re.findall(r"^ *(?:option|set|find_path)\((MORTAR_\w+)", file.read(), re.MULTILINE))
    return found


def check(name, said, options):
    if said != version():
        raise Failure("%s: version %s, expected %s" % (name, said, version()))
    strange = set(options) - known_options()
    missing = {"MORTAR_TESTS", "MORTAR_JEMALLOC_SOURCE", "MORTAR_JSMN_INCLUDE"} - set(options)
    if strange or missing:
        raise Failure("%s: options that are not there: %s; missing: %s" % (name, sorted(strange), sorted(missing)))


def easybuild():
    path, = glob.glob(os.path.join(PACKAGING, "easybuild", "*.eb"))
    names = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)  # as EasyBuild does
    toolchain = "%(name)s-%(version)s" % names["toolchain"]
    if os.path.basename(path) != "%s-%s-%s.eb" % (names["name"], names["version"], toolchain):
        raise Failure("%s is not named after what it says" % path)
    if len(names["sources"]) != len(names["checksums"]):
        raise Failure("%s: a checksum for each source, or None" % path)
    check(path, names["version"], re.findall(r"-D(\w+)=", names["configopts"]))
    if shutil.which("eb"):
        run.run(["eb", "--dry-run", "--robot", path], seconds=300).ok("mortar-")
        print("EasyBuild has made a dry run")


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class CMakePackage:
    """What Spack's class of this name has, as far as the recipe asks."""
    spec = {"hwloc": types.SimpleNamespace(prefix=Prefix("/hwloc"))}
    stage = types.SimpleNamespace(source_path="/stage/spack-src")
    prefix = Prefix("/prefix")

    @staticmethod
    def define(name, value):
        return "-D%s:%s=%s" % (name, *(("BOOL", "ON" if value else "OFF") if isinstance(value, bool) else ("STRING", value)))


def spack():
    path, said = os.path.join(PACKAGING, "spack", "package.py"), []

    def directive(name):
        return lambda *words, **keys: said.append((name, words, keys))

    def around(*_words, **_keys):
        return lambda function: function
    package = types.ModuleType("spack.package")
    for name in ("license", "version", "depends_on", "resource", "conflicts", "generator"):
        setattr(package, name, directive(name))
    package.join_path, package.run_after, package.on_package_attributes = os.path.join, around, around
    package.Executable = lambda program: lambda *words: said.append(("runs", (program, *words), {}))
    package.CMakePackage = CMakePackage
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": package})
    names = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    recipe = names["Mortar"]()
    recipe.check_command()
    versions = [words[0] for name, words, _ in said if name == "version"]
    check(path, versions[0], re.findall(r"-D(MORTAR_\w+):", " ".join(recipe.cmake_args())))
    for name, words, keys in said:
        if name == "resource" and not (re.fullmatch("[0-9a-f]{64}", keys["sha256"]) and
                                       any("/%s" % keys["placement"] in word for word in recipe.cmake_args())):
            raise Failure("%s: resource %s is not used where it is put" % (path, keys["name"]))
    if ("runs", ("/prefix/bin/mortar", "info"), {}) not in said or "depends_on" not in dict((word[0], 1) for word in said):
        raise Failure("%s: it says %s" % (path, said))


def test():
    easybuild()
    spack()


run.main(test)
