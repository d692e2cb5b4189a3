# SPDX-License-Identifier: BSD-3-Clause
# The human entry. The work is done by cmake (CMakePresets.json), ctest and the scripts, which can as well be used by hand.
#   make            build                        make check      the tests before a commit (installs what is missing first)
#   make demo       see what mortar gains        make check-wide those that take longer; make check-all: all there are
#   make bench      the benchmark                make lint       the rules of the sources; make format  clang-format
#   make install PREFIX=$HOME/.local             make uninstall PREFIX=$HOME/.local    takes away what install has put there
#   make package    a .deb and an .rpm           make dist       mortar-VERSION.tar.gz of the last commit, in build/
#   make wheel      the Python wheel             make clean      removes the builds, keeps build/mpis
# MPICC="PREFIX/bin/mpicc;..." names MPIs to test with, beside those that are found (cmake/Flavours.cmake).
PREFIX ?= /usr/local
MPIS = $(if $(MPICC),-DMORTAR_MPICC='$(MPICC)')
RANKS ?= 8
export FUZZ_SECONDS ?= 60
MPI ?= $(shell scripts/mpi --list | head -n 1)
RESULTS = $(CURDIR)/build/results
CTEST = ctest --output-on-failure --no-tests=error -j 2 --output-junit $(RESULTS)/$@.xml --test-dir
TABLES = %/list.h %/options.h %/collectives.h

.NOTPARALLEL:
.PHONY: release dev asan tsan setup demo check check-wide check-asan check-tsan check-more check-fuzz check-faults check-long \
	check-suites check-all bench lint format install uninstall package dist wheel clean

release dev asan tsan:
	@test -f build/$@/build.ninja -a -z '$(MPICC)' || cmake --preset $@ $(MPIS)
	@cmake --build build/$@

setup: ; @scripts/setup

demo: setup release ; @scripts/demo

# A test's label says when it runs: check, all, long, fuzz, suite, asan, tsan. Tests that start MPI programs run alone.
# Of those for each commit `check` leaves the slower half to check-wide: MPICH and the standard ABI, the sanitizers, and whole
# commands and examples.
WIDE = mpich|impi|-(asan|tsan)$$|^(cores|demo|simulation)$$|^(bench|card|fft|heat|network|programs|tune-nodes)-ompi4
check: setup release
	@mkdir -p $(RESULTS)
	@$(CTEST) build/release -L '^check$$' -E '$(WIDE)'

check-wide: setup release ; @mkdir -p $(RESULTS) && $(CTEST) build/release -L '^check$$' -R '$(WIDE)'

check-asan: asan ; @mkdir -p $(RESULTS) && $(CTEST) build/asan -L '^asan$$'

check-tsan: tsan ; @mkdir -p $(RESULTS) && $(CTEST) build/tsan -L '^tsan$$'

# What check leaves out. The release build is configured again, to find the MPIs that have come; if one has not, that is an error
# in the end.
check-more: setup dev check-asan check-tsan
	@scripts/setup long || true
	@scripts/get-mpis; missed=$$?; mkdir -p $(RESULTS) && cmake --preset release && cmake --build build/release && \
	$(CTEST) build/release -L '^all$$' && exit $$missed

# Simulations and explorations that take minutes, fuzzing, faults.
check-long: setup release
	@mkdir -p $(RESULTS) && $(CTEST) build/release -L '^long$$'
	@$(MAKE) check-fuzz
	@$(MAKE) check-faults

# What goes wrong on real machines, natively and under mortar. make check-faults FAULTS="--mpi ompi4 dies --system": some rows under
# one MPI, and those that change the whole machine for seconds.
check-faults: setup release
	@scripts/get-mpis; cmake --preset release && cmake --build build/release && python3 -B test/faults/faults.py $(FAULTS)

# libFuzzer looks for inputs that break what reads texts, types and figures: 60 s for each target of test/fuzz. An hour each:
# make check-fuzz FUZZ_SECONDS=3600
check-fuzz:
	@scripts/setup long || true
	@if test/fuzz/fuzz --able; then test -f build/fuzz/build.ninja || cmake --preset fuzz; \
	cmake --build --preset fuzz && mkdir -p $(RESULTS) && $(CTEST) build/fuzz -L '^fuzz$$'; \
	else echo "no Clang with libFuzzer: not fuzzed"; fi

# Other projects' tests and applications, natively and under mortar: mpi4py's, half an hour, and MPICH's.
check-suites: setup
	@scripts/setup applications || true
	@scripts/get-mpis && mkdir -p $(RESULTS) && cmake --preset release && cmake --build build/release && \
	$(CTEST) build/release -L '^suite$$'

check-all: check check-wide check-more check-long check-suites

bench: release
	scripts/mpi $(MPI) $(RANKS) build/release/bin/mortar bench alltoall
	scripts/mpi $(MPI) $(RANKS) build/release/bin/mortar bench allgather

wheel: setup ; @packaging/wheel/build

lint: release ; @ctest --output-on-failure --no-tests=error --test-dir build/release -L '^lint$$'

FORMATTED = src heap include bin info bench cores model sim test examples
format: ; clang-format -i $(filter-out $(TABLES), $(shell find $(FORMATTED) -name '*.[ch]'))

# Without the tests. DESTDIR=FOLDER puts all of it below that folder, as packages are made. JEMALLOC=TARBALL, JSMN=FOLDER:
# docs/install.md.
product = -DMORTAR_TESTS=OFF $(if $(JEMALLOC),-DMORTAR_JEMALLOC_SOURCE='$(abspath $(JEMALLOC))') \
	$(if $(JSMN),-DMORTAR_JSMN_INCLUDE='$(abspath $(JSMN))')
install uninstall: export PREFIX := $(PREFIX)
install:
	@case $$PREFIX in /*) ;; *) echo "make install: PREFIX=$$PREFIX: expected a path that begins with /" >&2; exit 2 ;; esac
	@cmake --preset release -B build/product $(product)
	@cmake --build build/product
	umask 022; cmake --install build/product --prefix "$$PREFIX"

uninstall: ; @cmake -P packaging/uninstall.cmake

# Of what is below /usr, without `mortar predict`, which would need SimGrid on every node. As .rpm where rpmbuild is.
package:
	@cmake --preset release -B build/package $(product) -DMORTAR_SIMULATIONS=OFF -DCMAKE_INSTALL_PREFIX=/usr
	@cmake --build build/package
	@umask 022; cd build/package && for kind in deb:dpkg-deb rpm:rpmbuild; do if command -v $${kind#*:} >/dev/null; then \
	cpack -G $$(echo $${kind%:*} | tr a-z A-Z) || exit 1; else echo "no $${kind#*:}: no .$${kind%:*}"; fi; done

# Of the last commit, whose hash is in it (packaging/commit); the same bytes whoever makes it.
dist: ; @scripts/dist

clean: ; rm -rf $(addprefix build/,release product package dev asan tsan fuzz wheel results setup-without)
