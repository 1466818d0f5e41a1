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
is_int "$status" 0 'max-disk=0: the program ends with status 0'
ok 'max-disk=0 does not limit the trace' test "$(largest)" -gt 200000
file_lacks err libflamemem 'max-disk=0: the recorder prints nothing'

limited 200000 ./family 4000 4000 2
is_int "$status" 0 'max-disk=200000: the program runs to its end'
ok 'max-disk=200000: the trace keeps to the limit' test "$(largest)" -le 200000
is_int "$(grep -c . err)" 1 'max-disk=200000: the recorder prints one line'
file_has err '^libflamemem: some allocations are not recorded: a quota, or max-disk, leaves no more room: .*/family\..*\.flame; the program runs on$' \
    'max-disk=200000: the recorder says that calls are lost'
ok 'max-disk=200000: the trace is readable' "$FLAME" fold -o x.folded traces/*.flame
for file in traces/*.flame; do "$FLAME" dump -s header "$file"; done >out
ok 'max-disk=200000: the trace counts the lost calls' grep -Eq 'lost_calls=[1-9]' out

limited 1 ./family 10 10 1
is_int "$status" 0 'max-disk=1: the program runs to its end'
file_has err '^libflamemem: cannot create the trace: a quota, or max-disk, leaves no more room: ' \
    'max-disk=1: the recorder says that it cannot create the trace'
is_int "$(find traces -name '*.flame' -size +0 | wc -l)" 0 'max-disk=1: no trace is left'

# A forked child's trace has a limit of its own.
limited 60000 ./keeper keep:100 fork keep:50
is_int "$status" 0 'max-disk=60000 with a child: the program ends with status 0'
file_lacks err libflamemem 'max-disk=60000 counts for each process alone'
is_int "$(find traces -name '*.flame' | wc -l)" 2 'max-disk=60000: the child has a trace'

limited 1k true
file_has err "max-disk=1k' is ignored; known are .*max-disk=BYTES" 'an invalid max-disk is ignored and reported'
done_testing
