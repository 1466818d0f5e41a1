#!/bin/bash
# flame off --in-process: sendfile, and reads and writes at an offset, are logged like other calls on
# descriptors, and reported as by stops.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    skip 'noted calls' 'this loader puts libflamegate.so elsewhere'
    done_testing
fi
compile_victim sendsfile -pthread
stops() {
    sed -n 's/.*stopped the threads \([0-9,]*\) times.*/\1/p' err | tr -d ,
}
# A busy machine may let the reader begin before the sender waits.
sender_waits() {
    run "$FLAME" off "$how" -o x.folded -- ./sendsfile
    sends=$(sum '^sendsfile;.*;main;.*sendfile .*unix' <x.folded)
    [ "$sends" -ge 180000 ]
}
for how in --no-in-process --in-process; do
    again 5 sender_waits
    is_int "$status" 0 "flame off $how: sendsfile ends with status 0"
    ok "flame off $how: sendsfile waits in sendfile ($sends us of 200000)" test "$sends" -ge 180000
    if [ $how = --no-in-process ]; then
        many=$(stops)
        ok "flame off $how: calls stop ($many times)" test "$many" -gt 2000
    elif [ "${libc##*.}" -lt 41 ] || grep -q '^Seccomp_filters:' /proc/self/status; then
        ok "flame off $how: few calls stop ($(stops) times, not $many)" \
            test $(($(stops) * 10)) -lt "$many"
    fi
done
done_testing
