#!/bin/bash
# Sentences about recordings of waiting of which the answer is known: the lock with who had it and
# what that one slept in, the longest wait that is the program's own, and behind these the waits of
# shells for their children, of pools for work.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim convoy -pthread
compile_victim nap

# The findings on the lock are those of the summary on the terminal, word for word.
run timeout 60 "$FLAME" off -o convoy.findings ./convoy 200
is_int "$status" 0 'the command is recorded'
like "$(sed -n 1p convoy.findings)" '^The lock most waited for is futex g_(second|first), ' 'the lock comes first'
is_str "$(sed -nE '1s/^The lock most waited for is ([^;]*).*/\1/p' convoy.findings)" \
    "$(sed -n 's/^flame: lock most waited for: //p' err)" 'as the summary has it'
is_str "$(sed -nE '1s/.*; behind that: //p' convoy.findings)" \
    "$(sed -n 's/^flame: behind that: //p' err)" 'with what is behind it'
like "$(sed -n 1p convoy.findings)" 'until (middle in middle|front in front) gave it back; behind that: nanosleep of front in front, ' \
    'and it is right'
like "$(sed -n 2p convoy.findings)" '^    chain (back|middle);.*;(back|middle) convoy.c:[0-9]+$' 'it is about who waits'
file_has convoy.findings '^Blocked longest is front \(convoy.c:[0-9]+\): [0-9.]+ ms, .* of all blocked time, (most )?in (clock_)?nanosleep' \
    'who is the cause'
file_has convoy.findings '^Waited for its threads to end: .* in main \(convoy.c:[0-9]+\) by futex ' 'who joins'
is_str "$(grep -n '^Waited for its threads' convoy.findings | cut -d: -f1)" \
    "$(($(grep -n '^[A-Z]' convoy.findings | tail -1 | cut -d: -f1)))" 'comes last'

# A shell is its children's.
run timeout 60 "$FLAME" off -o sh.findings sh -c 'sleep 0.2; echo $(sleep 0.1; echo x); exit 0'
like "$(sed -n 1p sh.findings)" '^Blocked longest is [^:]*: [0-9.]+ ms, .*nanosleep$' 'the sleep comes first'
file_has sh.findings '^Waited for its children: .* by (wait4|waitid) child$' 'then who waits for it'
file_has sh.findings '^Waited for what its children print: .* by read pipe' 'and who reads what it prints'
file_lacks sh.findings '^The lock' 'there is no lock'

# One thread alone has nobody to wait for.
run timeout 60 "$FLAME" off -o nap.findings ./nap
file_lacks nap.findings '^(The lock|Waited for)' 'nap: no lock and nobody else'
file_has nap.findings '^Blocked longest is ' 'nap: it sleeps'

# The picture of a view says what is in that view.
run timeout 60 "$FLAME" off --view chain -o convoy.svg ./convoy 200
file_has convoy.svg '<title>The lock most waited for is futex g_(first|second), .* gave it back' 'a picture of chains'
run timeout 60 "$FLAME" off -o convoy.svg ./convoy 200
file_has convoy.svg '<title>Blocked longest is front: ' 'a picture of waits'
file_lacks convoy.svg 'gave it back' 'which does not say who held a lock'

done_testing
