#!/usr/bin/env bash
# A trace that is cut short while it is written ends the recording, not the program; what
# else SIGBUS stands for stays as it is.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

ulimit -c 0
compile_victim cutshort -fno-builtin -pthread
for how in cut grow restores; do
    record "" ./cutshort "$how" "$SCRATCH/t.flame"
    is_str "$status $(cat out)" "0 well" "$how: the program runs on"
    is_str "$(cat err)" "libflamemem: another process truncated the trace: $SCRATCH/t.flame; the program runs on, nothing more is recorded" \
        "$how: one line says why"
    record quiet=1 ./cutshort "$how" "$SCRATCH/t.flame"
    is_str "$status $(cat out err)" "0 well" "$how: no word under quiet=1"
done
# Many threads meet it at the same moment; one in three such runs had a second line.
others=
for _ in {1..20}; do
    record "" ./cutshort crowd "$SCRATCH/t.flame"
    [ "$status $(cat out)" = "0 well" ] && [ "$(wc -l <err)" = 1 ] || others+="$status $(cat out err);"
done
is_str "$others" "" "crowd: every time the program runs on, and one line says why"
record quiet=1 ./cutshort fork "$SCRATCH/t.flame"
is_str "$status $(cat out)" "0 well" "a child's trace: child and parent run on"
ok "the parent's is whole" test "$(total count)" -ge 20000

for how in own sent; do
    status=0
    { ./cutshort $how - >out; } 2>/dev/null || status=$?
    want=$status
    record "" ./cutshort $how -
    is_str "$status $(cat out err)" "$want " "$how: the program ends as it does without us"
    is_int "$want" 135 "$how: by SIGBUS"
done
./cutshort asks - >want
record "" ./cutshort asks -
is_str "$(cat out)" "$(cat want)" "what the program is told of its handler"
record "" ./cutshort handles -
is_str "$status $(cat out)" "0 well" "a handler of its own gets its own faults"
ok "and recording goes on" test "$(total count)" -ge 20000
done_testing
