#!/usr/bin/env bash
# Deep recursion: both ends of the stack are kept.
. "${0%/*}/lib.sh"
. "$ROOT/tests/cli/mem.sh"

frames() {
    fview alloc | grep ';bottom ' | sed 's/ [0-9]*$//' | tr ';' '\n'
}

compile_victim deep
record "" ./deep 1000
is_int "$(frames | grep -cx down)" 1000 "1000 levels are all there"
is_int "$(frames | grep -cF '[truncated]')" 0 "and nothing is left out"

record "" ./deep 50000
ok "50000 levels: main is kept" grep -qx main <(frames)
ok "50000 levels: the entrance is kept" grep -qx entrance <(frames)
ok "50000 levels: the bottom is kept" grep -qx bottom <(frames)
is_int "$(frames | grep -cxF '[truncated]')" 1 "50000 levels: the middle is one frame"
# 1,024 frames and the one that says so, and the command's name at the root.
is_int "$(frames | wc -l)" 1026 "50000 levels: 1024 frames are kept"

record depth=16 ./deep 100
is_int "$(frames | wc -l)" 18 "depth=16: 16 frames are kept"
ok "depth=16: both ends" test "$(frames | grep -cE '^(main|bottom)$')" -eq 2
done_testing
