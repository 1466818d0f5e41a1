#!/usr/bin/env bash
# flame mem -p PID --view leak: which of the blocks that were allocated since nothing leads to.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

use_own_tmpdir
compile_victim losing -pthread

begin ./losing
ok 'the victim allocates before the attach' tell before
if ! attach --view leak; then
    if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
        tell quit
        skip_all ptrace "$(head -1 err)"
    fi
    diag "$(cat err)"
fi
ok 'the victim works under flame mem -p --view leak' tell work
leave
is_int "$status" 0 'flame mem -p --view leak ends with status 0'

total() { fview "$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }

is_str "$(sum definite lost) $(sum indirect lost)" '10000 0' 'blocks to which nothing leads'
is_str "$(sum definite pairs) $(sum indirect pairs)" '6400 20000' 'blocks to which lost blocks lead'
is_str "$(sum definite circles) $(sum indirect circles)" '480 480' 'blocks that lead to each other'
is_str "$(sum reachable listed) $(sum leak listed)" '2400 0' 'blocks from before the attach lead to blocks'
is_str "$(sum inner inside) $(sum leak inside)" '8000 0' 'blocks reached by their insides'
is_str "$(sum reachable large) $(sum leak large)" '1000024 0' 'the last word of a large block leads to one'
is_str "$(sum reachable mapped) $(sum leak mapped)" '560 0' 'mapped memory leads to blocks'
is_str "$(sum reachable stacked) $(sum leak stacked)" '160 0' \
    "a thread's stack and thread-local data lead to blocks"
is_str "$(sum reachable sealed) $(sum leak sealed)" '320 0' 'read-only data leads to blocks'
is_str "$(sum reachable locked) $(sum leak locked)" '360 0' 'data that cannot be read now leads to blocks'
is_str "$(sum reachable below) $(sum leak below)" '1200 0' \
    'data below a stack that the program has made leads to blocks'
is_str "$(total leak)" "$((10000 + 26400 + 960))" 'there are no other leaks'
is_str "$(total live)" "$(($(total leak) + $(total inner) + $(total reachable)))" \
    'every live block has a verdict'
like "$(cat err)" '36.48 KiB, 37,360 bytes in 320 blocks leaked; looked for leaks in .* of its memory' 'the summary says how much was looked at'
like "$(cat err)" 'its threads were stopped for [0-9.]+ ms more to look at its memory' \
    'the summary says for how long the program was stopped'
run "$FLAME" render --view leak -o x.svg t.flame
is_int "$status" 0 'flame render draws the leaks of flame mem -p'
file_has x.svg 'pairs' 'the picture of leaks has them'

# Without the view there is no look.
attach
leave
file_lacks err 'looked for leaks' 'flame mem -p without --view leak does not look'
run_expect_status 2 'fold --view leak without a look ends with status 2' "$FLAME" fold --view leak t.flame

# A process that ends by itself cannot be looked at any more, and the rest of the recording is kept.
attach --view leak
echo quit >&7
status=0
wait "$victim" || status=$?
is_int "$status" 0 'the victim ends with status 0'
wait "$flame"
file_has err 'its memory was not searched: it had ended' 'flame mem -p says that it could not look'
begin ./losing
tell before
run_expect_ended() { # STATUS OUTPUT: what flame mem -p --view leak -o OUTPUT ends with when the process ends
    : >err
    "$FLAME" mem --view leak -o "$2" -p "$victim" 2>err &
    flame=$!
    until_true records_or_ended err
    tell quit
    wait "$victim"
    status=0
    wait "$flame" || status=$?
    is_int "$status" "$1" "flame mem -p --view leak -o $2 of a process that ends: status $1"
}
run_expect_ended 1 gone.svg
file_has err 'mem: gone.svg is not written: there is no view leak, as its memory was not searched \(it had ended\)' \
    'a line says why there is no picture'
kept=$(sed -n 's/.*kept in \([^;]*\);.*/\1/p' err)
ok 'the recording is kept' test -d "${kept:-none}" -a ! -e gone.svg
rm -rf "${kept:?}"
begin ./losing
tell before
run_expect_ended 0 gone.flame
file_has err "see it with 'flame render --view alloc" 'the hint names a view that the trace has'

# Blocks of Python's own kind: nothing is lost.
if [ -x /usr/bin/python3 ]; then
    cat >app.py <<'END'
import sys
kept = {}
for line in sys.stdin:
    for i in range(20000):
        kept[i % 5000] = [str(i), {"a": i}, (i, b"x" * 100)]
    print("done", flush=True)
END
    begin env PYTHONMALLOC=malloc /usr/bin/python3 app.py
    tell warm
    attach --view leak
    ok 'Python works under flame mem -p --view leak' tell work
    leave
    is_str "$(total leak)" 0 'Python has lost nothing'
    ok 'what Python keeps has been looked at' test "$(total reachable)" -gt 400000
    exec 7>&- 8<&-
    wait "$victim"
else
    skip 'Python has lost nothing' 'no python3'
fi
done_testing
