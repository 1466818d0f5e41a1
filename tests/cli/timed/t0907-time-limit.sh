#!/bin/bash
# A process is traced for the time that was given, also if it was traced before.
. "${0%/*}/../lib.sh"

off() {
    timeout 100 "$FLAME" off -q "$@"
}

sleep 60 &
pid=$!
off -d 0.05 -o x.folded -p "$pid"
# On a busy machine the end comes late; what is wrong would be wrong always.
ends_in_time() {
    start=$(date +%s%3N)
    off -d 0.15 -o x.folded -p "$pid"
    took=$(($(date +%s%3N) - start))
    [ "$(awk '{n = $NF} END {print n}' x.folded)" -lt 230000 ]
}
again 5 ends_in_time
ok "-d 0.15 is not much more ($took ms)" test "$(awk '{n = $NF} END {print n}' x.folded)" -lt 230000
kill "$pid"
done_testing
