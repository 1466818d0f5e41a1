#!/usr/bin/env bash
# Deep recursion: both ends of the stack are kept, and the cost of a call does not grow
# with the depth.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

frames() {
    fview alloc | grep ';bottom ' | sed 's/ [0-9]*$//' | tr ';' '\n'
}

# Kept frames of a stack of N: multiples of a quarter of the limit are left out.
kept() { # N LIMIT
    local n=$1
    while [ "$n" -gt "$2" ]; do
        n=$((n - $2 / 4))
    done
    echo "$n"
}

compile_victim deep
record "" ./deep 1000
is_int "$(frames | grep -cx down)" 1000 'a stack of 1000 levels has all of them'
is_int "$(frames | grep -cF '[truncated]')" 0 'a stack of 1000 levels is not truncated'
# Without the command's name at the root: the number of the other frames.
others=$(($(frames | wc -l) - 1 - 1000))

record "" ./deep 50000
ok 'a stack of 50000 levels keeps main' grep -qx main <(frames)
ok 'a stack of 50000 levels keeps the entrance' grep -qx entrance <(frames)
ok 'a stack of 50000 levels keeps the bottom' grep -qx bottom <(frames)
is_int "$(frames | grep -cxF '[truncated]')" 1 'a stack of 50000 levels has one [truncated] frame'
# With the [truncated] frame, and the command's name at the root.
is_int "$(frames | wc -l)" $(($(kept $((50000 + others)) 1024) + 2)) \
    'a stack of 50000 levels keeps at least three quarters of 1024 frames'

record depth=16 ./deep 100
is_int "$(frames | wc -l)" $(($(kept $((100 + others)) 16) + 2)) \
    'depth=16 keeps at least three quarters of 16 frames'
ok 'depth=16 keeps both ends of the stack' test "$(frames | grep -cE '^(main|bottom)$')" -eq 2

# Each frame's caller is chosen at random.
compile_victim descent -pthread
for seed in 1 2; do
    record referee=1 ./descent wander $seed
    is_str "$(cat out err)" "done" "random descents and returns, seed $seed: each stack equals libunwind's"
done
record referee=1 ./descent returns 4000
is_str "$(cat out err)" "done" "a return by another path from a deep stack: each stack equals libunwind's"

record "" ./descent grow 20000
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 20000 \
    'stacks of 20000 depths: all calls are in the trace'
# Two nodes a frame, and a row; kept as the innermost 512 they would be 160 MB.
ok 'stacks of 20000 depths: the trace grows with the frames' test "$(on_disk t.flame)" -lt 5000000
record "" ./descent cost
read -r shallow deep <out
ok "a call at 200000 frames costs less than 8 times one at 3000: $deep and $shallow ns" \
    test "$deep" -lt $((shallow * 8))
done_testing
