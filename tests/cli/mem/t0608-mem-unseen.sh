#!/bin/bash
# The summary names each program that has memory from other sources than malloc.
. "${0%/*}/../lib.sh"

build() { # NAME FLAG...
    local name=$1
    shift
    compile_victim ownpool -fno-builtin "$@"
    mv ownpool "$name"
}

build plain
build own -DMALLOC=malloc -DALL
build inside -DMALLOC=je_malloc
compile_victim keeper

# With --no-patch; t0144 tests the patches.
run_expect_status 0 'flame mem --no-patch of a program with its own malloc succeeds' \
    "$FLAME" mem --no-patch -o x.svg -- ./own
file_has err '^flame: own: has a malloc of its own; blocks .* are not recorded' \
    'the summary names a program with its own malloc'
file_lacks err 'no call of malloc was seen' 'the summary has one line on a program with its own malloc'
run_expect_status 0 'flame mem --no-patch of it beside a program that calls malloc succeeds' \
    "$FLAME" mem --no-patch -o x.svg -- \
    sh -c './keeper drop:100:1000; ./own; ./own; ./keeper keep:100'
is_int "$(grep -c 'malloc of its own' err)" 1 \
    'the summary names a program with its own malloc once, beside others'
run_expect_status 0 'flame mem --no-patch of a program with je_malloc succeeds' \
    "$FLAME" mem --no-patch -o x.svg -- ./inside
file_has err '^flame: inside: has an allocator of its own \(je_malloc\)' \
    'the summary names a program with je_malloc'
# Programs call an allocator's library by names that are hooked or not.
for name in mallocx mi_heap_malloc; do
    build "lib$name.so" -shared -fPIC "-DMALLOC=$name" -DLIBRARY
    build "by_$name" "-DCALLS=$name" -L. -Wl,-rpath,"$SCRATCH" -Wl,--no-as-needed "-l:lib$name.so"
done
build asks -DASKS=mallocx
run_expect_status 0 'flame mem of a program that calls mi_heap_malloc succeeds' "$FLAME" mem -o x.svg -- \
    ./by_mi_heap_malloc
file_has err '^flame: by_mi_heap_malloc: calls its allocator by mi_heap_malloc; blocks .* are not recorded' \
    'the summary names a program that calls mi_heap_malloc'
run_expect_status 0 'flame mem of a program that calls mallocx succeeds' \
    "$FLAME" mem -o x.folded -- ./by_mallocx
file_lacks err 'calls its allocator' 'the summary does not name a program that calls the hooked mallocx'
file_has x.folded '^by_mallocx;.*;main(_\[i\])? 100$' 'calls of the hooked mallocx are recorded'
run_expect_status 0 'flame mem of a program with a weak reference to mallocx succeeds' \
    "$FLAME" mem -o x.svg -- ./asks
file_lacks err 'mallocx' 'the summary does not name a program with a weak reference to mallocx'
FLAMEMEM_OPTIONS=patch=0 run "$FLAME" leak -o x.svg -- ./own
file_has err 'own: has a malloc of its own' 'flame leak names a program with its own malloc'

run_expect_status 0 'flame mem of a program without an allocator succeeds' "$FLAME" mem -o x.svg -- ./plain
file_lacks err 'of its own' 'the summary does not name a program without an allocator'
run_expect_status 0 'flame mem of much memory by malloc succeeds' \
    "$FLAME" mem -o x.svg -- ./keeper hold:100000000
file_lacks err 'at its most' 'much memory by malloc is not reported as unhooked'
# glibc before 2.34 touches all of a first calloc before it returns.
build late.so -shared -fPIC -DLATE
LD_PRELOAD=$SCRATCH/late.so run_expect_status 0 'flame mem sampled in the middle of a calloc succeeds' \
    timeout 60 \
    "$FLAME" mem -o x.svg -- ./keeper hold:100000000
file_has err '100,000,000 bytes in' 'a calloc that was sampled in the middle counts'
file_lacks err 'at its most' 'a calloc that was sampled in the middle is not reported as unhooked'

compile_victim branching -O1
run_expect_status 0 'flame mem of a quarter of a million stacks succeeds' \
    "$FLAME" mem -o x.folded -- ./branching 18
file_has err 'allocated 256.0 KiB.* in 262,144 calls' 'a quarter of a million stacks are recorded'
file_lacks err 'at its most' "the recorder's own tables do not count as the program's memory"

run_expect_status 0 'flame mem of a program with large mappings succeeds' \
    "$FLAME" mem -o x.svg -- ./plain map:64
file_has err '^flame: plain [0-9]+: 6[4-9][.0-9]* MiB of memory at its most, [0-9.]+ (KiB|bytes).* of it by malloc; the rest' \
    "the summary compares a program's memory with that of malloc"
run_expect_status 0 'flame mem of large mappings in one of several processes succeeds' \
    "$FLAME" mem -o x.svg -- \
    sh -c './keeper drop:100:1000; ./plain map:48 wait; ./plain map:2'
file_has err '^flame: plain [0-9]+: 4[89][.0-9]* MiB of memory at its most' \
    'the process with large mappings is found while it runs'
is_int "$(grep -c 'at its most' err)" 1 'no other process is reported for large mappings'
run bash -c 'sleep 2 | "$FLAME" mem -o x.svg -- ./keeper keep:100:400000 fork keep:20 wait'
file_lacks err 'at its most' "inherited memory of a forked child counts as malloc's"
run "$FLAME" mem -q -o x.svg -- ./plain map:64
is_str "$(cat err)" '' 'flame mem -q of large mappings prints nothing'
done_testing
