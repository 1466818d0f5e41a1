#!/usr/bin/env bash
# A program finds no sign of libflamemem.so in its descriptors, errno or signal mask.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object
run ./guest
is_str "$(cat out)" clean 'guest without the library finds its environment clean'
record "" ./guest
is_int "$status" 0 'guest under the library ends with status 0'
is_str "$(cat out)" clean \
    'guest under the library finds its environment clean, though the trace grows with all descriptors closed'
is_str "$(cat err)" "" 'guest under the library prints no error'
ok "the trace grew (4096 stacks)" test "$(($(stat -c '%b * %B' t.flame)))" -gt 524288
is_int "$(fview count | grep ';branch ' | awk '{ n += $NF } END { print n }')" 4096 \
    'the trace that grew has all calls'
is_str "$(stat -c %a t.flame)" 600 'the trace has mode 600'

ln -s "$SCRATCH/elsewhere" t2.flame
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/t2.flame" ./guest
not_ok "a symbolic link is not followed" test -e elsewhere
not_ok 'a trace path that is a symbolic link leaves no other trace' test -e t2.flame.1
file_has err 'no regular file: .*t2.flame' 'a trace path that is a symbolic link is reported'
is_str "$(cat out)" clean 'the program runs on when its trace path is a symbolic link'
done_testing
