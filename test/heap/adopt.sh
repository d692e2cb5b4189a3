#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# adopt - programs of all kinds with MORTAR_ADOPT, and where it leaves them as they were, with a note that says why.
# adopt.sh HEAP PROGRAM THREAD
set -eu
heap=$1 program=$2 thread=$3
failed=0
export MORTAR_VERBOSE=2 MORTAR_HUGE=off MORTAR_ADOPT=on

# check EXPECTED-WORDS COMMAND...
check() {
    expected=$1
    shift
    if ! said=$(LD_PRELOAD="$heap" "$@" 2>&1); then
        echo "FAIL: '$*' failed: $said"
        failed=1
    fi
    case $said in
    *"$expected"*) echo "ok: $said" ;;
    *)
        echo "FAIL: '$*' said '$said', expected '$expected'"
        failed=1
        ;;
    esac
}

check "are in the shared heap" "$program"
check "" env MORTAR_ADOPT=off "$program" "not asked for"
check "MORTAR_HEAP=off" env MORTAR_HEAP=off "$program" "without a heap"
check "no room for it" env MORTAR_HEAP_BYTES=16M "$program" "room in the region"
check "had threads before" env LD_PRELOAD="$heap $thread" "$program" "threads before"
check "expected off|on" env MORTAR_ADOPT=maybe "$program" "a wrong word"

# A shell forks for everything, and keeps its state in static data.
if command -v bash >/dev/null; then
    check "1 2 3 4 5 6: 6 of 36 and 7" bash -c '
        n=0 words=; for i in 1 2 3 4 5 6; do words="$words $(echo $i)"; n=$((n + 1)); (n=100); done
        (n=200; exit 3) || code=$?; [ $code = 3 ] || exit 1
        square=$(echo $((n * n)) | cat | cat); f() { ( n=8; echo $((n - 1)) ); }
        coproc cat; kill $COPROC_PID; wait $COPROC_PID 2>/dev/null
        trap "seven=\$(f)" USR1; kill -USR1 $$; echo $words: $n of $square and $seven'
fi
# Without randomised addresses the program break follows .bss at once.
if setarch -R true 2>/dev/null; then check "are in the shared heap" setarch -R "$program"; fi
exit $failed
