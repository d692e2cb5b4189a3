#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# limits - where there can be no shared heap the program runs on private memory, and the heap says why.
# limits.sh HEAP STATE OWN EARLY WRAPS [PROGRAM UNDER A SANITIZER]
set -eu
. "$(dirname "$0")/check.sh"
heap=$1 state=$2 own=$3 early=$4 wraps=$5 sanitized=${6:-}

limited() {
    limit=$1 value=$2
    shift 2
    (ulimit "$limit" "$value" && with "$@")
}

check "all blocks in the region; shared" with "$state"
check "no blocks in the region; MORTAR_HEAP=off" with MORTAR_HEAP=off "$state"
check "all blocks in the region; shared" with MORTAR_HEAP=maybe "$state" # what is wrong counts as the default
check "all blocks in the region; shared" with MORTAR_HEAP_BYTES=1G "$state"
check "some blocks in the region; shared" with MORTAR_HEAP_BYTES=16M "$state"
check "the address space has no room" with MORTAR_HEAP_BYTES=100T "$state"
check "all blocks in the region; shared" with MORTAR_HEAP_BYTES=15M "$state"
check "all blocks in the region; shared" with MORTAR_HEAP_BYTES=lots "$state"
check "all blocks in the region; shared" with MORTAR_HUGE=on "$state"
check "all blocks in the region; shared" with MORTAR_HUGE=off "$state"
check "all blocks in the region; shared" limited -v 8000000 "$state" # a smaller region
check "ulimit -v" limited -v 200000 "$state"
check "ulimit -f" limited -f 1000000 "$state"
check "all blocks in the region; shared" limited -n 64 "$state"
check "another malloc comes first" with "$own"
check "another malloc comes first" with "$wraps"
check "shared" with "$wraps-next"
check "MORTAR_HEAP=off" with MORTAR_HEAP=off "$wraps"
check "MORTAR_HEAP=off" with MORTAR_HEAP=off "$wraps-next"
check "all blocks in the region; shared" env LD_PRELOAD="$heap $early" "$state"
check "no blocks in the region; MORTAR_HEAP=off" env LD_PRELOAD="$heap $early" MORTAR_HEAP=off "$state"
if [ -n "$sanitized" ]; then
    check "no blocks in the region; another malloc comes first" with "$sanitized"
fi
exit $failed
