#!/usr/bin/env bash
# Deep recursion: both ends of the stack are kept, and what a call costs does not grow
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
is_int "$(frames | grep -cx down)" 1000 "1000 levels are all there"
is_int "$(frames | grep -cF '[truncated]')" 0 "and nothing is left out"
# Without the command's name at the root: what there is but for the levels.
others=$(($(frames | wc -l) - 1 - 1000))

record "" ./deep 50000
ok "50000 levels: main is kept" grep -qx main <(frames)
ok "50000 levels: the entrance is kept" grep -qx entrance <(frames)
ok "50000 levels: the bottom is kept" grep -qx bottom <(frames)
is_int "$(frames | grep -cxF '[truncated]')" 1 "50000 levels: the middle is one frame"
# With the frame that says so, and the command's name at the root.
is_int "$(frames | wc -l)" $(($(kept $((50000 + others)) 1024) + 2)) \
    "50000 levels: of 1024 frames no more than a quarter is missing"

record depth=16 ./deep 100
is_int "$(frames | wc -l)" $(($(kept $((100 + others)) 16) + 2)) "depth=16: so many are kept of 16"
ok "depth=16: both ends" test "$(frames | grep -cE '^(main|bottom)$')" -eq 2

# Every frame's caller is another by chance.
compile_victim descent -pthread
for seed in 1 2; do
    record referee=1 ./descent wander $seed
    is_str "$(cat out err)" "done" "up and down by chance, $seed: no stack differs"
done
record referee=1 ./descent returns 4000
is_str "$(cat out err)" "done" "back by another way, far out: no stack differs"

record "" ./descent grow 20000
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 20000 \
    "20000 depths: all calls are there"
# Two nodes a frame, and a row; kept as the innermost 512 they would be 160 MB.
ok "20000 depths: the trace grows with the frames" test "$(on_disk t.flame)" -lt 5000000
record "" ./descent cost
read -r shallow deep <out
ok "at 200000 frames a call costs what it costs at 3000: $deep and $shallow ns" \
    test "$deep" -lt $((shallow * 8))
done_testing
