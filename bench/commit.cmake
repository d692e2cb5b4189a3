# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake: writes what `git describe` says into a header, when it has changed; in
# an unpacked tarball what is written in packaging/commit.
cmake_minimum_required(VERSION 3.22)
set(commit unknown)
file(STRINGS ${SOURCE}/packaging/commit recorded LIMIT_COUNT 1)
find_program(GIT git)
if(recorded MATCHES "^([0-9a-f]+) ")
    string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
elseif(GIT)
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
        set(commit ${found})
    endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define BENCH_COMMIT \"@commit@\"\n" @ONLY)
