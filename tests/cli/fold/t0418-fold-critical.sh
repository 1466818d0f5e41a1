#!/bin/bash
# The critical path of a trace whose short waits are known as sums only: it has its full length, and
# the share of such waits. Also of a packed trace, and of several.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim waypoints -pthread

of() { sed -nE "s/^# critical: path(.*)? $1=([0-9]+).*/\2/p" "$2" | head -n 1; }

# Many waits in little room: two processes hand bytes to each other.
run_expect_status 0 'flame off --lanes 256k of many waits succeeds' \
    "$FLAME" off -q --lanes 256k -o many.flame -- \
    "${PYTHON:-python3}" -c '
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}) # so that each read waits
a, b, c, d = *os.pipe(), *os.pipe()
if os.fork() == 0:
    for i in range(30000):
        os.read(a, 1)
        os.write(d, b"x")
    os._exit(0)
for i in range(30000):
    os.write(b, b"x")
    os.read(c, 1)
'
run_expect_status 0 'fold --view critical of many waits succeeds' "$FLAME" fold --view critical many.flame
cp out path
parts=0
for part in ran waited woken short other unknown; do
    parts=$((parts + $(of "$part" path)))
done
is_int "$parts" "$(of length path)" 'the parts of the critical path sum to its length'
like "$(of short path)" '^[1-9]' 'a part of the critical path is short waits'

off ./waypoints lock
"$FLAME" fold --view critical t.flame >path
run_expect_status 0 'flame pack of an off-CPU trace succeeds' "$FLAME" pack -o packed.flame t.flame
run_expect_status 0 'fold --view critical of a packed trace succeeds' "$FLAME" fold --view critical packed.flame
is_str "$(cat out)" "$(cat path)" 'fold --view critical of a packed trace is the same'
run_expect_status 0 'fold --view critical of two traces succeeds' "$FLAME" fold --view critical t.flame t.flame
is_int "$(grep -c '^# critical: path ' out)" 2 'fold --view critical of two traces has two paths'
# Each line is rounded once.
once=$(grep -v '^#' path | sum .)
both=$(grep -v '^#' out | sum .)
is_int $((both - 2 * once <= 20 && 2 * once - both <= 20)) 1 'fold --view critical of two traces sums the paths'

done_testing
