#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# adopt - programs of all kinds with MORTAR_ADOPT, and where it leaves them as they were, with a note that says why.
# adopt.sh HEAP PROGRAM THREAD
set -eu
. "$(dirname "$0")/check.sh"
heap=$1 program=$2 thread=$3
export MORTAR_VERBOSE=2 MORTAR_HUGE=off MORTAR_ADOPT=on

check "are in the shared heap" with "$program"
check "" with MORTAR_ADOPT=off "$program" "not asked for"
check "MORTAR_HEAP=off" with MORTAR_HEAP=off "$program" "without a heap"
check "no room for it" with MORTAR_HEAP_BYTES=16M "$program" "room in the region"
check "had threads before" env LD_PRELOAD="$heap $thread" "$program" "threads before"
check "" with MORTAR_ADOPT=maybe "$program" "a wrong word counts as off"

# A shell forks for everything, and keeps its state in static data.
if command -v bash >/dev/null; then
    check "1 2 3 4 5 6: 6 of 36 and 7" with bash -c '
        n=0 words=; for i in 1 2 3 4 5 6; do words="$words $(echo $i)"; n=$((n + 1)); (n=100); done
        (n=200; exit 3) || code=$?; [ $code = 3 ] || exit 1
        square=$(echo $((n * n)) | cat | cat); f() { ( n=8; echo $((n - 1)) ); }
        coproc cat; kill $COPROC_PID; wait $COPROC_PID 2>/dev/null
        trap "seven=\$(f)" USR1; kill -USR1 $$; echo $words: $n of $square and $seven'
fi
# Without randomised addresses the program break follows .bss at once.
if setarch -R true 2>/dev/null; then check "are in the shared heap" with setarch -R "$program"; fi
exit $failed
