#!/bin/bash
# Findings on off-CPU recordings with a known answer: the lock with its holder and
# the holder's own wait, the longest wait that is the program's own, and after these the waits of
# shells for their children, of pools for work.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim convoy -pthread
compile_victim nap

# The findings on the lock are those of the summary on the terminal, word for word.
run timeout 60 "$FLAME" off -o convoy.findings ./convoy 200
is_int "$status" 0 'flame off -o convoy.findings succeeds'
like "$(sed -n 1p convoy.findings)" '^The lock most waited for is futex g_(second|first), ' \
    'the first finding of a convoy is the lock'
is_str "$(sed -nE '1s/^The lock most waited for is ([^;]*).*/\1/p' convoy.findings)" \
    "$(sed -n 's/^flame: lock most waited for: //p' err)" "the finding on the lock equals the summary's line"
is_str "$(sed -nE '1s/.*; behind that: //p' convoy.findings)" \
    "$(sed -n 's/^flame: behind that: //p' err)" \
    "the finding on the lock has the holder's own wait, as the summary"
like "$(sed -n 1p convoy.findings)" 'until (middle in middle|front in front) gave it back; behind that: nanosleep of front in front, ' \
    'the finding on the lock names the right holder and wait'
like "$(sed -n 2p convoy.findings)" '^    chain (back|middle);.*;(back|middle) convoy.c:[0-9]+$' \
    "the finding on the lock shows the waiting thread's stack"
file_has convoy.findings '^Blocked longest is front \(convoy.c:[0-9]+\): [0-9.]+ ms, .* of all blocked time, (most )?in (clock_)?nanosleep' \
    'a finding names the thread that blocks longest'
file_has convoy.findings '^Waited for its threads to end: .* in main \(convoy.c:[0-9]+\) by futex ' \
    'a finding has the join of the threads'
is_str "$(grep -n '^Waited for its threads' convoy.findings | cut -d: -f1)" \
    "$(($(grep -n '^[A-Z]' convoy.findings | tail -1 | cut -d: -f1)))" 'the finding on the join comes last'

# A shell waits for its children.
run timeout 60 "$FLAME" off -o sh.findings sh -c 'sleep 0.2; echo $(sleep 0.1; echo x); exit 0'
like "$(sed -n 1p sh.findings)" '^Blocked longest is [^:]*: [0-9.]+ ms, .*nanosleep$' \
    "the first finding of a shell is its child's sleep"
file_has sh.findings '^Waited for its children: .* by (wait4|waitid) child$' \
    "a finding has the shell's wait for its children"
file_has sh.findings '^Waited for what its children print: .* by read pipe' \
    "a finding has the shell's read of its child's output"
file_lacks sh.findings '^The lock' 'a shell has no finding on a lock'

# A single thread waits for no other.
run timeout 60 "$FLAME" off -o nap.findings ./nap
file_lacks nap.findings '^(The lock|Waited for)' 'nap: no finding on a lock or on another thread'
file_has nap.findings '^Blocked longest is ' 'nap: a finding has its sleep'

# The picture of a view says what is in that view.
run timeout 60 "$FLAME" off --view chain -o convoy.svg ./convoy 200
file_has convoy.svg '<title>The lock most waited for is futex g_(first|second), .* gave it back' \
    'the picture of --view chain has the finding on the lock'
run timeout 60 "$FLAME" off -o convoy.svg ./convoy 200
file_has convoy.svg '<title>Blocked longest is front: ' 'the picture of --view off has the longest wait'
file_lacks convoy.svg 'gave it back' 'the picture of --view off does not name the lock holder'

done_testing
