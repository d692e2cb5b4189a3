# SPDX-License-Identifier: BSD-3-Clause
# find_package(mortar) - for programs that ask mortar something (mortar.h): target mortar::mortar. Others need nothing of it.
include(${CMAKE_CURRENT_LIST_DIR}/mortarTargets.cmake)
