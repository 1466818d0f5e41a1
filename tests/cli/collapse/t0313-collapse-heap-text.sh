#!/bin/bash
# Heap profiles in text: the same as pprof's of the same heap, scaled as pprof and jeprof do, and
# named by the files that were mapped.
. "${0%/*}/../lib.sh"
samples=$ROOT/tests/corpus/heaptext

for type in inuse_space inuse_objects alloc_space alloc_objects; do
    "$FLAME" collapse --type $type "$samples/go-heap.pb.gz" | sed 's/_\[i\]//g' >want
    run_expect_status 0 "Go's heap text, $type: collapse succeeds" \
        "$FLAME" collapse --type $type "$samples/go-heap"
    ok "Go's heap text, $type: as in Go's profile of the same heap" cmp out want
    ok "Go's heap text, $type: there are stacks" test "$(wc -l <out)" -gt 2
    is_str "$(cat err)" '' "Go's heap text, $type: nothing on standard error"
done
run_expect_status 0 "Go's heap text without --type: collapse succeeds" "$FLAME" collapse "$samples/go-heap"
like "$(cat err)" 'inuse_space is counted, --type picks another \(inuse_objects, alloc_space, alloc_objects\)' \
    "Go's heap text without --type counts live bytes"
run_expect_status 0 "Go's goroutines in text: collapse succeeds" "$FLAME" collapse "$samples/go-goroutine"
file_has out '^main.wait 5$' "Go's goroutines in text are counted"
is_str "$(cat err)" '' "Go's goroutines in text: nothing on standard error"
"$FLAME" collapse --srcline "$samples/go-goroutine" >out
file_has out '^main.wait /src/main.go:37 5$' 'heap text: --srcline'

# jeprof --text has 0.7 MB in all; the sums are those of its --collapsed.
"$FLAME" collapse --type inuse_space "$samples/jemalloc" >out 2>err
is_str "$(sed 's/.* //' out | sort -n | tr '\n' ' ')" '81920 614399 ' "jemalloc's, scaled as jeprof does"
"$FLAME" collapse --type alloc_space "$samples/gperftools" >out 2>err
is_str "$(sed 's/.* //' out)" 1004950 "gperftools', not scaled"

# Addresses of a file that is here: its first mapping with code, as the kernel would have mapped it.
read -r offset vaddr <<<"$(readelf -lW "$FLAME" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')"
main=$(nm "$FLAME" | awk '$3 == "main" { print $1 }')
start=$((0x7f1200000000)) page=$((offset - offset % 4096))
at=$((start + 0x$main - vaddr + offset - page + 5))
map=$(printf '%x-%x r-xp %08x 00:00 77 %s' $start $((start + 0x10000000)) $page "$FLAME")
printf 'heap profile: 1: 8 [2: 24] @ heapprofile\n1: 8 [2: 24] @ 0x%x 0x%x 0x10\n\nMAPPED_LIBRARIES:\n%s\n' \
    $at $((start + 0x9000000)) "$map" >x
is_str "$("$FLAME" collapse --type alloc_space x)" "[unknown];[${FLAME##*/}];main 24" 'functions by address'
is_str "$("$FLAME" collapse --type inuse_objects --addrs x | sed 's/;.*;/;...;/')" '0xf;...;main 1' 'heap text: --addrs'
printf 'heap_v2/1\n  t*: 1: 8 [0: 0]\n@ 0x%x\n  t*: 1: 8 [0: 0]\n  t0: 1: 8 [0: 0]\nMAPPED_LIBRARIES:\n%s\n' $at "$map" >x
is_str "$("$FLAME" collapse --type inuse_space x)" 'main 8' "jemalloc's heap text: functions by address"

heap() { # LINE...
    printf '%s\n' 'heap profile: 1: 1 [1: 1] @ heap_v2/1000' "$@" >x
    run_expect_status 0 "$1" "$FLAME" collapse --type inuse_space x
}
heap '2: 18446744073709551615 [0: 0] @ 0x10' && is_str "$(cat out)" '[unknown] 18446744073709551615' 'heap text: the largest count is exact'
heap '4000000: 40 [0: 0] @ 0x10' && like "$(cat out)" '^\[unknown\] 40000000(19|20)$' 'heap text: small blocks are scaled'
heap '1: 5000 [0: 0] @ 0x10 0xzz' '1: 7 [0: 0' '@' '  t*: 1' '#	0x1' '2: 9999999 [0: 0] @ 0x1' 'MAPPED_LIBRARIES:' '0-1 r-xp zz' \
    '00001000-00000000 r-xp 00000000 00:00 1 /nowhere' '00000000-00001000 r-xp 00000000 00:00 1 /dev/zero' '0-1000 r-xp 0 00:00 1 /a;b'
like "$(cat err)" 'lines were not understood, the first is line 2: 1: 5000' \
    'heap text: broken lines are reported'
is_int "$(wc -l <out)" 1 'heap text: the other lines count'
printf 'heap profile: 1: 1 [1: 1] @ heapprofile\n' >x
run_expect_status 0 'heap text without an allocation: collapse succeeds' "$FLAME" collapse --type inuse_space x
like "$(cat err)" 'the profile is empty' 'heap text without an allocation: the profile is empty'
run_expect_status 2 'heap text: --type cpu ends with status 2' \
    "$FLAME" collapse --type cpu "$samples/gperftools"
like "$(cat err)" "no values 'cpu'; it has inuse_space, inuse_objects, alloc_space, alloc_objects" \
    'heap text: --type cpu lists the types'

done_testing
