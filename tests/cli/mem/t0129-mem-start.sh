#!/bin/bash
# Cost of recording a process that does nothing, in page faults and mappings.
. "${0%/*}/../lib.sh"

# The minimum of many: how much of a file the kernel maps at a time is chance, as is its address.
faults() { # NAME=VALUE...
    for ((i = 0; i < 40; i++)); do
        rm -f t.flame*
        /usr/bin/time -o cost -f %R env "$@" true >/dev/null 2>>err && tail -n 1 cost
    done | sort -n | head -n 1
}
plain=$(faults A=1)
# A machine with little memory free maps less at a time: the minimum of more runs there.
for tries in 1 2 3 4 5; do
    recorded=$(faults FLAMEMEM_OPTIONS=out="$PWD/t.flame" LD_PRELOAD="$SHIM")
    [ $((recorded - plain)) -gt 30 ] || break
    diag "$((recorded - plain)) page faults in try $tries"
done
is_str "$(cat err)" '' 'recording of true prints no error'
ok 'true has a trace' test -s t.flame
ok "recording takes at most 30 page faults ($plain, $recorded)" \
    test $((recorded - plain)) -le 30

# One executable, one writable, one written during relocation, and memory.
LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS=record=0 cat /proc/self/maps >maps
maps=$(grep -c '/libflamemem\.so' maps)
ok "libflamemem.so is at most 3 mappings ($maps)" test "$maps" -ge 1 -a "$maps" -le 3
done_testing
