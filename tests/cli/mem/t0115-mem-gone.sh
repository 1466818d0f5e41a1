#!/usr/bin/env bash
# Memory of unmapped stacks and modules is never read, and never mistaken for what has its address now.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim takes -O1
record "" ./takes
is_str "$status$(cat out err)" 0alive 'the unwinder does not read an unmapped half of a stack'
is_int "$(fview count | awk '/;leaf / { n += $NF } END { print n }')" 9 \
    'a stack whose half is unmapped has all its calls'

compile_victim dangles -O2 -fomit-frame-pointer
record "" ./dangles
is_str "$status$(cat out err)" 0alive 'the unwinder does not follow a frame pointer into unmapped memory'

compile_victim guesses -fno-omit-frame-pointer
record "" ./guesses
is_str "$status $(tr '\n' ' ' <out)$(cat err)" "0 0 1 2 3 4 " \
    'each kind of rule checks a guessed address before it reads there'
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 200 \
    'stacks with guessed addresses have all their calls'

for flags in -O0 "-O2 -fno-omit-frame-pointer" -O2; do
    # shellcheck disable=SC2086 # several flags
    compile_victim contexts $flags
    record referee=1 ./contexts
    is_str "$status$(cat out err)" 0done "contexts on a heap, $flags: each stack equals libunwind's"
    is_int "$(fview count | grep -c 'outer;.*inner\|enter;.*inner')" 0 \
        "contexts on a heap, $flags: a stack ends where its context was made"
done

compile_victim charsets
record referee=1 ./charsets
is_str "$status$(cat out err)" 0done "C library modules that come and go: each stack equals libunwind's"
done_testing
