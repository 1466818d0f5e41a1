#!/bin/bash
# misuse=1: the recorder writes wrong frees into the trace before the allocator is called.
. "${0%/*}/../lib.sh"

compile_victim misuses -O1 -pthread -ldl
compile_victim misnews -O1 -std=c++17 -pthread

# record STATUS|any VICTIM WORD: the misuses in the traces of its processes, in `found`.
record() {
    local want=$1 f
    shift
    rm -f t.*flame*
    # The shell prints a line for an end by a signal.
    {
        LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS="misuse=1:out=$SCRATCH/t.%p.flame" "$@" >out 2>err
    } 2>/dev/null
    status=$?
    [ "$want" = any ] || is_int "$status" "$want" "$*: the program ends as unrecorded"
    for f in t.*.flame; do
        "$FLAME" dump -s header -s misuse "$f"
    done >all
    grep '^misuse ' all >found
}

# is_one NAME FIELD...: there is one misuse, and it has the fields.
is_one() {
    local name=$1 field
    shift
    is_int "$(wc -l <found)" 1 "$name: one misuse is found"
    for field in "$@"; do
        file_has found " $field( |\$)" "$name: the misuse has $field"
    done
}

# shellcheck disable=SC2317,SC2329 # called by not_ok
same() { [ "$(sed -nE "s/.* $1=([^ ]*).*/\1/p" found)" = "$2" ]; }

record 134 ./misuses twice
is_one twice kind=double-free call=1 freed_by=1 made_by=1 size=40 frees=0 count=1
not_ok 'a double free has the stack of the call' same node 0
not_ok 'a double free has the stack of the first free' same free_node 0
not_ok 'a double free has the stack of the allocation' same alloc_node 0
record 134 ./misuses reused
is_one reused kind=double-free size=40
record 134 ./misuses inside
is_one inside kind=invalid-free where=1 offset=16 size=40 made_by=1
record 134 ./misuses large
is_one large kind=invalid-free where=1 offset=100000 size=3145728
record 134 ./misuses local
is_one local kind=invalid-free where=2 alloc_node=0 free_node=0
record 134 ./misuses global
is_one global kind=invalid-free where=3
record 139 ./misuses wild
is_one wild kind=invalid-free where=4 addr=0x10000
record 134 ./misuses astray
is_one astray kind=realloc-invalid call=2 where=3
record 134 ./misuses moved
is_one moved kind=double-free freed_by=2 size=40
record 134 ./misuses handler
is_one handler kind=double-free thread=1 freed_in=1
record 134 ./misuses strdup
is_one strdup kind=double-free size=6
record 139 ./misuses old
is_one old kind=invalid-free where=4 forgets=262144
record 0 ./misuses sized
is_one sized kind=wrong-size call=4 size=40 given=48

# How these end depends on the version of glibc.
record any ./misuses regrow
is_one regrow kind=realloc-freed call=2 freed_by=1 size=40
record any ./misuses array
is_one array kind=realloc-freed call=3 freed_by=1 size=40
record any ./misuses threads
is_one threads kind=double-free thread=2 freed_in=1

record 0 ./misuses child
is_one child kind=double-free size=40 freed_in=0 free_node=0 alloc_node=0
record 0 ./misuses often
is_int "$(grep -c kind=invalid-free found)" 5 'each forked child has its own misuse'

record 0 ./misnews malloc-delete
is_one malloc-delete kind=mismatch made_by=1 call=6 size=40
record 0 ./misnews new-free
is_one new-free kind=mismatch made_by=2 call=1 size=24
record 0 ./misnews 'new-delete[]'
is_one 'new-delete[]' kind=mismatch made_by=2 call=7
record 0 ./misnews 'new[]-delete'
is_one 'new[]-delete' kind=mismatch made_by=3 call=6
record 0 ./misnews aligned-delete
is_one aligned-delete kind=mismatch made_by=4 call=6 size=128
record 0 ./misnews sized
is_one sized kind=wrong-size made_by=2 call=6 size=24 given=20
record 0 ./misnews new-realloc
is_one new-realloc kind=mismatch made_by=2 call=2
record 0 ./misnews array-free
is_one array-free kind=mismatch made_by=3 call=1
# Each word is a call from another place; the same one repeated is one record.
record 0 ./misnews new-free new-free new-free
is_one 'three times' kind=mismatch count=3

for victim in misuses misnews; do
    record 0 ./$victim clean
    is_str "$(cat found)" '' "$victim clean: no misuse is found"
    file_lacks all 'unjudged_frees=[1-9]' "$victim clean: each free is checked"
done

printf '%s\n' '#include <stdlib.h>' 'void *get_block(void) { return malloc(40); }' \
    'void put_block(void *p) { free(p); }' >plugin.c
ok 'misplug.so is built' "${CC:-gcc}" -shared -fPIC -o misplug.so plugin.c
record 0 ./misuses plugin
is_str "$(cat found)" '' "a plugin's blocks: no misuse is found"
file_lacks all 'unjudged_frees=[1-9]' "a plugin's blocks: each free is checked"
record 0 ./misuses deep
is_str "$(cat found)" '' 'a free bound past the recorder: no misuse is found'
file_has all 'unjudged_frees=[1-9]' 'a free bound past the recorder is not checked'

rm -f t.*flame*
LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS="out=$SCRATCH/t.flame" ./misnews new-free
is_str "$("$FLAME" dump -s misuse t.flame)" '' 'a recording without misuse=1 checks no free'

done_testing
