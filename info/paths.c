/* SPDX-License-Identifier: BSD-3-Clause */
/* paths - could a data path work on this machine? */
#include "info/health.h"
#include "info/info.h"

#include "reach/reach.h"

bool path_here(int path) {
    if (path == PATH_cma) return health_cma() == 0;
    return path != PATH_xpmem || health_xpmem() == 0;
}
