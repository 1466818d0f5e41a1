#!/usr/bin/env bash
# A trace truncated while it is written ends the recording, not the program; other causes
# of SIGBUS keep their effect.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

ulimit -c 0
compile_victim cutshort -fno-builtin -pthread
for how in cut grow restores; do
    record "" ./cutshort "$how" "$SCRATCH/t.flame"
    is_str "$status $(cat out)" "0 well" "a trace truncated ($how): the program runs on"
    is_str "$(cat err)" "libflamemem: another process truncated the trace: $SCRATCH/t.flame; the program runs on, nothing more is recorded" \
        "a trace truncated ($how): one line says why"
    record quiet=1 ./cutshort "$how" "$SCRATCH/t.flame"
    is_str "$status $(cat out err)" "0 well" "a trace truncated ($how) under quiet=1: no line is printed"
done
# Many threads find the truncated trace at once; one in three such runs had a second line.
others=
for _ in {1..20}; do
    record "" ./cutshort crowd "$SCRATCH/t.flame"
    [ "$status $(cat out)" = "0 well" ] && [ "$(wc -l <err)" = 1 ] || others+="$status $(cat out err);"
done
is_str "$others" "" 'a trace truncated under many threads: the program runs on and one line says why'
record quiet=1 ./cutshort fork "$SCRATCH/t.flame"
is_str "$status $(cat out)" "0 well" 'a truncated trace of a child: child and parent run on'
ok "a truncated trace of a child: the parent's trace is complete" test "$(total count)" -ge 20000

for how in own sent; do
    status=0
    { ./cutshort $how - >out; } 2>/dev/null || status=$?
    want=$status
    record "" ./cutshort $how -
    is_str "$status $(cat out err)" "$want " "SIGBUS of the program ($how): it ends as unrecorded"
    is_int "$want" 135 "SIGBUS of the program ($how): its status is that of SIGBUS"
done
./cutshort asks - >want
record "" ./cutshort asks -
is_str "$(cat out)" "$(cat want)" "sigaction returns the program's own SIGBUS handler"
record "" ./cutshort handles -
is_str "$status $(cat out)" "0 well" "the program's own SIGBUS handler gets the program's faults"
ok "recording continues after the program's own SIGBUS faults" test "$(total count)" -ge 20000
done_testing
