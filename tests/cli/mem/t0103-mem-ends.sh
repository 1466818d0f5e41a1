#!/usr/bin/env bash
# However a program ends, what it did is in the trace, exactly.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim ends
for how in return _exit quick_exit exit_group abort kill segv; do
    case $how in
    abort) want=134 ;;
    kill) want=137 ;;
    segv) want=139 ;;
    *) want=7 ;;
    esac
    ulimit -c 0
    record "" ./ends "$how"
    is_int "$status" "$want" "$how: status as without us"
    is_int "$(fview alloc | from_main | awk '{ n += $NF } END { print n }')" 40000 "$how: bytes"
    is_int "$(fview count | from_main | awk '{ n += $NF } END { print n }')" 1000 "$how: calls"
    is_int "$(fview live | from_main | awk '{ n += $NF } END { print n }')" 24000 "$how: live"
done

# Killed from outside, in the middle of whatever it was doing.
compile_victim crowd -pthread
for delay in 0.05 0.1 0.15; do
    rm -f t.flame
    LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/t.flame ./crowd >/dev/null 2>&1 &
    pid=$!
    { timeout "$delay" tail --pid="$pid" -f /dev/null; } 2>/dev/null
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    if [ -e t.flame ]; then
        ok "killed after $delay s: the trace is whole" "$FLAME" fold --view alloc -o folded t.flame
    else
        test_ok "killed after $delay s: before its first allocation"
    fi
done
done_testing
