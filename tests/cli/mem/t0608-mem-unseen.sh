#!/bin/bash
# Programs whose memory is not all malloc's are named, each for itself.
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

# Where they are left as they are; t0144 is about what is patched.
run_expect_status 0 'a malloc of its own' "$FLAME" mem --no-patch -o x.svg -- ./own
file_has err '^flame: own: has a malloc of its own; blocks .* are not recorded' 'is named'
file_lacks err 'no call of malloc was seen' 'once'
run_expect_status 0 'beside a program that calls malloc much' "$FLAME" mem --no-patch -o x.svg -- \
    sh -c './keeper drop:100:1000; ./own; ./own; ./keeper keep:100'
is_int "$(grep -c 'malloc of its own' err)" 1 'it is named, too, and once'
run_expect_status 0 'an allocator under another name' "$FLAME" mem --no-patch -o x.svg -- ./inside
file_has err '^flame: inside: has an allocator of its own \(je_malloc\)' 'is named'
# An allocator's library is reached by names that are not hooked, or are.
for name in mallocx mi_heap_malloc; do
    build "lib$name.so" -shared -fPIC "-DMALLOC=$name" -DLIBRARY
    build "by_$name" "-DCALLS=$name" -L. -Wl,-rpath,"$SCRATCH" -Wl,--no-as-needed "-l:lib$name.so"
done
build asks -DASKS=mallocx
run_expect_status 0 "an allocator's own function" "$FLAME" mem -o x.svg -- \
    ./by_mi_heap_malloc
file_has err '^flame: by_mi_heap_malloc: calls its allocator by mi_heap_malloc; blocks .* are not recorded' \
    'is named'
run_expect_status 0 'one that is hooked' "$FLAME" mem -o x.folded -- ./by_mallocx
file_lacks err 'calls its allocator' 'is left in peace'
file_has x.folded '^by_mallocx;.*;main(_\[i\])? 100$' 'as it is recorded'
run_expect_status 0 'a program that asks for it by a weak reference' "$FLAME" mem -o x.svg -- ./asks
file_lacks err 'mallocx' 'is left in peace, and finds none'
FLAMEMEM_OPTIONS=patch=0 run "$FLAME" leak -o x.svg -- ./own
file_has err 'own: has a malloc of its own' 'the leak gate does not pass it over'

run_expect_status 0 'a program without' "$FLAME" mem -o x.svg -- ./plain
file_lacks err 'of its own' 'is left in peace'
run_expect_status 0 'much memory by malloc' "$FLAME" mem -o x.svg -- ./keeper hold:100000000
file_lacks err 'at its most' 'is what is recorded'
# glibc before 2.34 touches all of a first calloc before it returns.
build late.so -shared -fPIC -DLATE
LD_PRELOAD=$SCRATCH/late.so run_expect_status 0 'looked at in the middle of a calloc' timeout 60 \
    "$FLAME" mem -o x.svg -- ./keeper hold:100000000
file_has err '100,000,000 bytes in' 'what was counted after it'
file_lacks err 'at its most' 'is what is recorded'

compile_victim branching -O1
run_expect_status 0 'a quarter of a million stacks' "$FLAME" mem -o x.folded -- ./branching 18
file_has err 'allocated 256.0 KiB.* in 262,144 calls' 'are recorded'
file_lacks err 'at its most' "the recorder's own tables are not the program's memory"

run_expect_status 0 'mappings' "$FLAME" mem -o x.svg -- ./plain map:64
file_has err '^flame: plain [0-9]+: 6[4-9][.0-9]* MiB of memory at its most, [0-9.]+ (KiB|bytes).* of it by malloc; the rest' \
    'are told beside what malloc gave'
run_expect_status 0 'in one of several processes' "$FLAME" mem -o x.svg -- \
    sh -c './keeper drop:100:1000; ./plain map:48 wait; ./plain map:2'
file_has err '^flame: plain [0-9]+: 4[89][.0-9]* MiB of memory at its most' 'it is found while it runs'
is_int "$(grep -c 'at its most' err)" 1 'and no other is taken for it'
run bash -c 'sleep 2 | "$FLAME" mem -o x.svg -- ./keeper keep:100:400000 fork keep:20 wait'
file_lacks err 'at its most' "what a forked child has of its parent's is malloc's"
run "$FLAME" mem -q -o x.svg -- ./plain map:64
is_str "$(cat err)" '' 'nothing of all that under -q'
done_testing
