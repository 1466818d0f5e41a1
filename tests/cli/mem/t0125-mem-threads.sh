#!/usr/bin/env bash
# Many threads: what each costs, in memory and in system calls, does not grow with how
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
is_str "$status$(cat err)" 0 "1000 threads: recorded"
ok "and each takes less than 16 KiB: $bytes bytes" test "$bytes" -lt 16384
is_int "$(fview count | awk '/;call_once / { n += $NF } END { print n }')" 1000 \
    "all of its calls are there"

# Each new thread from the 257th on looks for one that has ended.
run strace -f -e trace=tgkill -o calls -E LD_PRELOAD="$SHIM" \
    -E FLAMEMEM_OPTIONS="out=$SCRATCH/s.flame" ./throng 500 400
is_int "$status" 0 "500 threads and 400 more: run"
looks=$(grep -c 'tgkill(' calls)
ok "it looks a few times: $looks" test "$looks" -le $(((500 - 256 + 400) * 9))
ok "and is not blind: $looks" test "$looks" -ge 400
is_int "$(fview count s.flame | awk '/;call_once / { n += $NF } END { print n }')" 900 \
    "all of their calls are there"
done_testing
