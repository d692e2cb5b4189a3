# SPDX-License-Identifier: BSD-3-Clause
"""The recipe for Spack: packages/mortar/package.py of a repository. mortar needs no MPI and serves all of them."""
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage  # Spack 1; before, spack.package has it
except ImportError:
    pass


class Mortar(CMakePackage):
    """Makes MPI collectives faster on shared-memory nodes, from outside the program: mpirun -n 64 mortar run ./app"""

    url = "file:///path/of/mortar-0.1.0.tar.gz"  # what `make dist` has written
    license("BSD-3-Clause")

    version("0.1.0")  # no checksum: say spack install --no-checksum, or write the one of your tarball here

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("hwloc@2:")

    # Built inside: other builds of jemalloc have no archive of what a library can be linked with.
    resource(name="jemalloc", url="https://github.com/jemalloc/jemalloc/releases/download/5.3.0/jemalloc-5.3.0.tar.bz2",
             sha256="2db82d1e7119df3e71b7640219b6dfe84789bc0537983c3b7ac4f7189aecfeaa", expand=False, placement="jemalloc")
    resource(name="jsmn", url="https://github.com/zserge/jsmn/archive/v1.1.0.tar.gz",
             sha256="5f0913a10657fe7ec8d5794ccf00a01000e3e1f2f1e1f143c34a0f7b47edcb38", placement="jsmn")

    conflicts("platform=darwin", msg="mortar is for Linux with glibc")
    conflicts("platform=windows", msg="mortar is for Linux with glibc")
    generator("ninja")

    def cmake_args(self):
        source = self.stage.source_path
        return [self.define("MORTAR_TESTS", False), self.define("MORTAR_SIMULATIONS", False),
                self.define("MORTAR_JSMN_INCLUDE", join_path(source, "jsmn")),
                self.define("MORTAR_HWLOC_INCLUDE", self.spec["hwloc"].prefix.include),
                self.define("MORTAR_JEMALLOC_SOURCE", join_path(source, "jemalloc", "jemalloc-5.3.0.tar.bz2"))]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        Executable(join_path(self.prefix.bin, "mortar"))("info")
