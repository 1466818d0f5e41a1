#!/usr/bin/env bash
# A program finds no trace of us in its descriptors, errno or signal mask.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object
run ./guest
is_str "$(cat out)" clean "without us: clean"
record "" ./guest
is_int "$status" 0 "with us: status"
is_str "$(cat out)" clean "with us: clean, though the trace grew with all descriptors closed"
is_str "$(cat err)" "" "nothing is said"
ok "the trace grew (4096 stacks)" test "$(($(stat -c '%b * %B' t.flame)))" -gt 524288
is_int "$(fview count | grep ';branch ' | awk '{ n += $NF } END { print n }')" 4096 "and lost nothing"
is_str "$(stat -c %a t.flame)" 600 "the trace is for its owner only"

ln -s "$SCRATCH/elsewhere" t2.flame
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/t2.flame" ./guest
not_ok "a symbolic link is not followed" test -e elsewhere
not_ok "and nothing is left beside it" test -e t2.flame.1
file_has err 'no regular file: .*t2.flame' "it is said"
is_str "$(cat out)" clean "the program runs on"
done_testing
