# SPDX-License-Identifier: BSD-3-Clause
# `make package`: a .deb and an .rpm, by CPack. All that mortar opens by name while it runs, and can do without, is recommended or
# suggested; what its programs and libraries are linked with is found by dpkg-shlibdeps and by rpmbuild.
set(CPACK_PACKAGE_NAME mortar)
set(CPACK_PACKAGE_CONTACT "the mortar authors")
set(CPACK_PACKAGE_VENDOR "the mortar authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "makes MPI collectives faster on shared-memory nodes, from outside the program")
set(CPACK_PACKAGE_DESCRIPTION "mpirun -n 64 mortar run ./app: the program is not changed, not compiled again and not relinked.
Works with Open MPI, MPICH and Intel MPI of any origin, none of which it needs to be installed.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES TRUE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, libhwloc15")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-matplotlib, libpapi-dev, openmpi-bin | mpich")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none") # stripped: there is nothing that they would find
set(CPACK_RPM_PACKAGE_SUGGESTS "python3, hwloc-libs, python3-matplotlib")
# Folders that are others', too.
foreach(folder IN ITEMS bin include lib lib/cmake lib/pkgconfig share share/doc share/man share/man/man1 share/modulefiles
        share/bash-completion share/bash-completion/completions)
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${CMAKE_INSTALL_PREFIX}/${folder})
endforeach()
string(REPLACE "${CMAKE_INSTALL_PREFIX}/lib" "${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}" libraries
    "${CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION}")
list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${libraries})
include(CPack)
