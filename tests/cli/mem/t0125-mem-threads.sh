#!/usr/bin/env bash
# Many threads: the cost of each, in memory and in system calls, does not grow with how
# many there are.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim throng -pthread
run ./throng 10
plain=$(cat out)
run ./throng 1000
plain=$(($(cat out) - plain))
record "" ./throng 10
few=$(cat out)
# On a busy machine threads that begin at once may have the C library make more of its arenas.
few_bytes() {
    record "" ./throng 1000
    bytes=$((($(cat out) - few - plain) * 1024 / 990))
    [ "$bytes" -lt 16384 ]
}
again 3 few_bytes
is_str "$status$(cat err)" 0 'throng of 1000 threads is recorded'
ok "each of 1000 threads takes less than 16 KiB: $bytes bytes" test "$bytes" -lt 16384
is_int "$(fview count | awk '/;call_once / { n += $NF } END { print n }')" 1000 \
    'each call of 1000 threads is in the trace'

# Each new thread from the 257th on looks for one that has ended.
run strace -f -e trace=tgkill -o calls -E LD_PRELOAD="$SHIM" \
    -E FLAMEMEM_OPTIONS="out=$SCRATCH/s.flame" ./throng 500 400
is_int "$status" 0 'throng of 500 threads and 400 more ends with status 0'
looks=$(grep -c 'tgkill(' calls)
ok "new threads check few others for their end: $looks" test "$looks" -le $(((500 - 256 + 400) * 9))
ok "new threads check others for their end: $looks" test "$looks" -ge 400
is_int "$(fview count s.flame | awk '/;call_once / { n += $NF } END { print n }')" 900 \
    'each call of 900 threads is in the trace'
done_testing
