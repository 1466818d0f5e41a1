#!/usr/bin/env bash
# Memory of stacks and modules that are gone is never read, and never taken for what is there now.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim takes -O1
record "" ./takes
is_str "$status$(cat out err)" 0alive "half of a stack is unmapped: nobody reads it"
is_int "$(fview count | awk '/;leaf / { n += $NF } END { print n }')" 9 \
    "and all of its calls are there"

compile_victim dangles -O2 -fomit-frame-pointer
record "" ./dangles
is_str "$status$(cat out err)" 0alive "a frame pointer into memory that is gone is not followed"

compile_victim guesses -fno-omit-frame-pointer
record "" ./guesses
is_str "$status $(tr '\n' ' ' <out)$(cat err)" "0 0 1 2 3 4 " \
    "what a guess leads to is asked about before it is read, by every kind of rule"
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 200 \
    "and all of its calls are there"

for flags in -O0 "-O2 -fno-omit-frame-pointer" -O2; do
    # shellcheck disable=SC2086 # several flags
    compile_victim contexts $flags
    record referee=1 ./contexts
    is_str "$status$(cat out err)" 0done "contexts on a heap, $flags: no stack differs"
    is_int "$(fview count | grep -c 'outer;.*inner\|enter;.*inner')" 0 \
        "contexts on a heap, $flags: a stack ends where its context was made"
done

compile_victim charsets
record referee=1 ./charsets
is_str "$status$(cat out err)" 0done "the C library's modules come and go: no stack differs"
done_testing
