#!/bin/bash
# FLAMEMEM_OPTIONS=max-disk=BYTES: the recorder alone keeps to a limit, and the program runs on.
. "${0%/*}/../lib.sh"

compile_victim family
compile_victim keeper

# limited BYTES COMMAND...: the traces are in traces/.
limited() {
    rm -rf traces
    mkdir traces
    bytes=$1
    shift
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/traces/%e.%p.%n.flame:max-disk=$bytes" "$@"
}

# largest: bytes that the largest of them takes of the disk.
largest() {
    find traces -name '*.flame' -printf '%k\n' | awk '$1 > most { most = $1 } END { printf "%.0f\n", most * 1024 }'
}

limited 0 ./family 4000 4000 2
is_int "$status" 0 'without a limit'
ok 'the trace takes what it takes' test "$(largest)" -gt 200000
file_lacks err libflamemem 'and nothing is said'

limited 200000 ./family 4000 4000 2
is_int "$status" 0 'with one the program runs to its end'
ok 'the trace keeps to it' test "$(largest)" -le 200000
is_int "$(grep -c . err)" 1 'one line'
file_has err '^libflamemem: some allocations are not recorded: a quota, or max-disk, leaves no more room: .*/family\..*\.flame; the program runs on$' 'says it'
ok 'what there is can be read' "$FLAME" fold -o x.folded traces/*.flame
for file in traces/*.flame; do "$FLAME" dump -s header "$file"; done >out
ok 'what was lost is counted' grep -Eq 'lost_calls=[1-9]' out

limited 1 ./family 10 10 1
is_int "$status" 0 'no room at all: the program runs'
file_has err '^libflamemem: cannot create the trace: a quota, or max-disk, leaves no more room: ' 'and that is said'
is_int "$(find traces -name '*.flame' -size +0 | wc -l)" 0 'nothing is left'

# A forked child's trace has a limit of its own.
limited 60000 ./keeper keep:100 fork keep:50
is_int "$status" 0 'a child'
file_lacks err libflamemem 'has room for itself'
is_int "$(find traces -name '*.flame' | wc -l)" 2 'and a trace'

limited 1k true
file_has err "max-disk=1k' is ignored; known are .*max-disk=BYTES" 'what is no number is ignored, and said'
done_testing
