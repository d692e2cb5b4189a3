# SPDX-License-Identifier: BSD-3-Clause
# check - for the scripts beside it: with COMMAND... runs it on the heap library $heap; check says what a command has to say, and
# $failed is 1 in the end if one did not.
failed=0

with() {
    env LD_PRELOAD="$heap" "$@"
}

# check EXPECTED-WORDS COMMAND...
check() {
    expected=$1
    shift
    if ! said=$("$@" 2>&1); then
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
