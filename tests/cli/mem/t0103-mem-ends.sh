#!/usr/bin/env bash
# In whatever way a program ends, its trace is exact.
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
    is_int "$status" "$want" "a program that ends by $how has its status as unrecorded"
    is_int "$(fview alloc | from_main | awk '{ n += $NF } END { print n }')" 40000 \
        "a program that ends by $how: bytes allocated"
    is_int "$(fview count | from_main | awk '{ n += $NF } END { print n }')" 1000 \
        "a program that ends by $how: calls"
    is_int "$(fview live | from_main | awk '{ n += $NF } END { print n }')" 24000 \
        "a program that ends by $how: bytes live"
done

# Killed from outside, at an arbitrary moment.
compile_victim crowd -pthread
for delay in 0.05 0.1 0.15; do
    rm -f t.flame
    LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/t.flame ./crowd >/dev/null 2>&1 &
    pid=$!
    { timeout "$delay" tail --pid="$pid" -f /dev/null; } 2>/dev/null
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    if [ -e t.flame ]; then
        ok "a program killed after $delay s leaves a readable trace" \
            "$FLAME" fold --view alloc -o folded t.flame
    else
        test_ok "a program killed after $delay s, before its first allocation, leaves no trace"
    fi
done
done_testing
