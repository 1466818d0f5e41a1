#!/bin/bash
# flame off -d traces for the given time, also if the process was traced before.
. "${0%/*}/../lib.sh"

off() {
    timeout 100 "$FLAME" off -q "$@"
}

sleep 60 &
pid=$!
off -d 0.05 -o x.folded -p "$pid"
# On a busy machine the end comes late; a real error would occur each time.
ends_in_time() {
    start=$(date +%s%3N)
    off -d 0.15 -o x.folded -p "$pid"
    took=$(($(date +%s%3N) - start))
    [ "$(awk '{n = $NF} END {print n}' x.folded)" -lt 230000 ]
}
again 5 ends_in_time
ok "flame off -d 0.15 traces for hardly more ($took ms)" \
    test "$(awk '{n = $NF} END {print n}' x.folded)" -lt 230000
kill "$pid"
done_testing
