# SPDX-License-Identifier: BSD-3-Clause
# A toolchain: this machine's compiler and headers, but linked as if the C library were glibc 2.28, so that the product runs on
# systems that are older than this one. Zig's linker has the symbols of every glibc; `stat` and others that were no functions of
# the library then it adds. What it cannot serve test/wheel finds: the engines may have undefined symbols, those of MPI.
find_program(zig python-zig REQUIRED)
set(link "${zig} cc -target ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu.2.28")
set(CMAKE_C_LINK_EXECUTABLE "${link} <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
# Unwinding has to be done by the libgcc_s of whoever throws, which Zig does not link by itself.
execute_process(COMMAND cc -print-file-name=libgcc_s.so.1 OUTPUT_VARIABLE libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_C_CREATE_SHARED_LIBRARY "${link} <LINK_FLAGS> -shared <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> \
<LINK_LIBRARIES> ${libgcc}")
