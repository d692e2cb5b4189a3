# SPDX-License-Identifier: BSD-3-Clause
# Flavours - the MPI libraries on this machine, each as an ordinary target, so that one build makes programs for all of them.
#
# Sets  MORTAR_ABIS              ompi, mpich or both: engines can be built for it. Target MPI::headers_<abi>: mpi.h, no library.
#       MORTAR_FLAVOURS          out of ompi4 mpich4 ompi5 mpich5 impi. Target MPI::<flavour>: the flags of its mpicc.
#       MORTAR_ABI_<flavour>     the ABI that it speaks
#       MORTAR_FORTRAN_FLAVOURS  those with `use mpi` and mpif.h for this Fortran compiler. Target MPI::<flavour>_fortran.
#       MORTAR_F08_FLAVOURS      those with `use mpi_f08`
# and defines mortar_mpi_program() and mortar_mpi_test(). Nothing is downloaded here: scripts/get-mpis fills MORTAR_MPIS.
#
# Elsewhere than on Debian and Ubuntu, name the compiler wrappers: -DMORTAR_MPICC_ompi4=PREFIX/bin/mpicc, -DMORTAR_MPIFC_ompi4=...

set(mpis $ENV{MORTAR_MPIS})
if(NOT mpis)
    set(mpis ${PROJECT_SOURCE_DIR}/build/mpis)
endif()
set(MORTAR_MPIS ${mpis} CACHE PATH "where scripts/get-mpis put Open MPI 5, MPICH 5 and Intel MPI")
set(MORTAR_ABI_ompi4 ompi)
set(MORTAR_ABI_ompi5 ompi)
set(MORTAR_ABI_mpich4 mpich)
set(MORTAR_ABI_mpich5 mpich)
set(MORTAR_ABI_impi mpich)

find_program(MORTAR_MPICC_ompi4 mpicc.openmpi DOC "C compiler wrapper of Open MPI")
find_program(MORTAR_MPICC_mpich4 mpicc.mpich DOC "C compiler wrapper of MPICH")
find_program(MORTAR_MPIFC_ompi4 mpif90.openmpi DOC "Fortran compiler wrapper of Open MPI")
find_program(MORTAR_MPIFC_mpich4 mpif90.mpich DOC "Fortran compiler wrapper of MPICH")
foreach(flavour ompi5 mpich5 impi)
    find_program(MORTAR_MPICC_${flavour} mpicc PATHS ${MORTAR_MPIS}/${flavour}/bin NO_DEFAULT_PATH)
endforeach()
find_program(MORTAR_MPIFC_impi mpif90 PATHS ${MORTAR_MPIS}/impi/bin NO_DEFAULT_PATH)

include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
endif()

# Asks a compiler wrapper what it would run and makes an interface target of the answer. Sets `found` for the caller.
function(mortar_wrapper_target target flavour wrapper modules)
    set(found FALSE PARENT_SCOPE)
    set(show -show)
    if(MORTAR_ABI_${flavour} STREQUAL ompi)
        set(show --showme)
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} -E env I_MPI_ROOT=${MORTAR_MPIS}/impi ${wrapper} ${show}
        OUTPUT_VARIABLE line RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
        message(STATUS "MPI ${flavour}: ${wrapper} ${show} failed: ${why}")
        return()
    endif()
    separate_arguments(words UNIX_COMMAND "${line}")
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${modules})
    foreach(word ${words})
        string(SUBSTRING "${word}" 0 2 option)
        string(SUBSTRING "${word}" 2 -1 value)
        if(option STREQUAL -I AND IS_DIRECTORY "${value}")
            set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${value}")
        elseif(option STREQUAL -L AND IS_DIRECTORY "${value}")
            set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_DIRECTORIES "${value}")
            if(NOT value MATCHES "^/usr/lib") # the loader finds those by itself
                set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_OPTIONS "LINKER:-rpath,${value}")
            endif()
        elseif(option STREQUAL -l AND value MATCHES "^mpi") # what the MPI library itself needs it names itself
            set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${value})
        elseif(word MATCHES "^-fallow-")
            set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_OPTIONS $<$<COMPILE_LANGUAGE:Fortran>:${word}>)
        endif()
    endforeach()
    set(found TRUE PARENT_SCOPE)
endfunction()

set(MORTAR_ABIS)
set(MORTAR_FLAVOURS)
set(MORTAR_FORTRAN_FLAVOURS)
set(MORTAR_F08_FLAVOURS)
foreach(flavour ompi4 mpich4 ompi5 mpich5 impi)
    set(found FALSE)
    if(MORTAR_MPICC_${flavour})
        mortar_wrapper_target(MPI::${flavour} ${flavour} ${MORTAR_MPICC_${flavour}} "")
    endif()
    if(NOT found)
        message(STATUS "MPI ${flavour}: not here")
        continue()
    endif()
    list(APPEND MORTAR_FLAVOURS ${flavour})
    set(abi ${MORTAR_ABI_${flavour}})
    if(NOT abi IN_LIST MORTAR_ABIS)
        list(APPEND MORTAR_ABIS ${abi})
        add_library(MPI::headers_${abi} INTERFACE IMPORTED GLOBAL)
        get_target_property(folders MPI::${flavour} INTERFACE_INCLUDE_DIRECTORIES)
        if(folders)
            set_property(TARGET MPI::headers_${abi} PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${folders})
        endif()
        message(STATUS "MPI ABI ${abi}: headers of ${flavour}")
    endif()

    set(languages C)
    set(modules)
    if(flavour STREQUAL impi AND CMAKE_Fortran_COMPILER_ID STREQUAL GNU) # its wrapper names a folder that the wheel does not have
        string(REGEX MATCH "^[0-9]+" major ${CMAKE_Fortran_COMPILER_VERSION})
        file(GLOB modules ${MORTAR_MPIS}/impi/include/mpi/gfortran/${major}.*)
    endif()
    if(CMAKE_Fortran_COMPILER AND MORTAR_MPIFC_${flavour} AND (modules OR NOT flavour STREQUAL impi))
        mortar_wrapper_target(MPI::${flavour}_fortran ${flavour} ${MORTAR_MPIFC_${flavour}} "${modules}")
        if(found)
            list(APPEND MORTAR_FORTRAN_FLAVOURS ${flavour})
            string(APPEND languages " Fortran")
            if(NOT flavour STREQUAL impi) # Intel ships mpi_f08 for its own compiler only
                list(APPEND MORTAR_F08_FLAVOURS ${flavour})
                string(APPEND languages " mpi_f08")
            endif()
        endif()
    endif()
    message(STATUS "MPI ${flavour}: ${languages}")
endforeach()

foreach(abi ompi mpich)
    if(NOT abi IN_LIST MORTAR_ABIS)
        message(STATUS "MPI ABI ${abi}: no MPI of this kind is installed; mortar will not serve programs that use one")
    endif()
endforeach()
if(NOT MORTAR_ABIS)
    message(FATAL_ERROR "No MPI found. Debian, Ubuntu: run scripts/setup, or apt-get install libopenmpi-dev openmpi-bin "
        "libmpich-dev mpich. Elsewhere: install Open MPI or MPICH with its headers and pass -DMORTAR_MPICC_ompi4=<its mpicc> or "
        "-DMORTAR_MPICC_mpich4=<its mpicc>.")
endif()

# mortar_mpi_program(NAME SOURCE... [FORTRAN | F08] [LIBRARIES ...] [FLAVOURS ...])
# One executable NAME-<flavour> per flavour that can build it, or per one of the FLAVOURS given. FORTRAN: the sources use mpif.h
# or `use mpi`; F08: they use mpi_f08; else they are C or C++.
function(mortar_mpi_program name)
    cmake_parse_arguments(PARSE_ARGV 1 program "FORTRAN;F08" "" "LIBRARIES;FLAVOURS")
    set(flavours ${MORTAR_FLAVOURS})
    set(suffix)
    if(program_F08)
        set(flavours ${MORTAR_F08_FLAVOURS})
        set(suffix _fortran)
    elseif(program_FORTRAN)
        set(flavours ${MORTAR_FORTRAN_FLAVOURS})
        set(suffix _fortran)
    endif()
    foreach(flavour IN LISTS flavours)
        if(program_FLAVOURS AND NOT flavour IN_LIST program_FLAVOURS)
            continue()
        endif()
        add_executable(${name}-${flavour} ${program_UNPARSED_ARGUMENTS})
        target_link_libraries(${name}-${flavour} PRIVATE ${program_LIBRARIES} MPI::${flavour}${suffix})
        # every flavour compiles its own modules, if the sources have any
        set_property(TARGET ${name}-${flavour} PROPERTY
            Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}-${flavour}.modules)
    endforeach()
endfunction()

# mortar_mpi_test(NAME FLAVOUR RANKS [SECONDS n] [LABELS ...] COMMAND program-or-target [argument...])
# Adds the test NAME-<flavour>-<ranks>: the command under scripts/mpi, stopped politely after SECONDS (default 60) so that no rank
# stays behind, and alone on the machine. Labels: `check` for the distribution's MPIs and `all` for the others, or LABELS.
function(mortar_mpi_test name flavour ranks)
    cmake_parse_arguments(PARSE_ARGV 3 test "" "SECONDS" "LABELS;COMMAND")
    if(NOT test_SECONDS)
        set(test_SECONDS 60)
    endif()
    if(NOT test_LABELS)
        set(test_LABELS all)
        if(flavour STREQUAL ompi4 OR flavour STREQUAL mpich4)
            set(test_LABELS check)
        endif()
    endif()
    list(POP_FRONT test_COMMAND program)
    if(TARGET ${program})
        set(program $<TARGET_FILE:${program}>)
    endif()
    add_test(NAME ${name}-${flavour}-${ranks} COMMAND timeout -k 5 ${test_SECONDS}
        ${PROJECT_SOURCE_DIR}/scripts/mpi ${flavour} ${ranks} ${program} ${test_COMMAND})
    math(EXPR limit "${test_SECONDS} + 20")
    set_tests_properties(${name}-${flavour}-${ranks} PROPERTIES LABELS "${test_LABELS}" RUN_SERIAL TRUE TIMEOUT ${limit}
        SKIP_RETURN_CODE 77 ENVIRONMENT MORTAR_MPIS=${MORTAR_MPIS})
endfunction()
