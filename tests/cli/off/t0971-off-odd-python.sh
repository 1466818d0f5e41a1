#!/bin/bash
# flame off with a fake interpreter: memory of frames, code objects and texts that is used again at once, a very
# deep chain, and chains that no interpreter makes.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
[ "$(uname -m)" = x86_64 ] || skip_all processor 'layouts of interpreters are known for x86-64'

cp "$ROOT/tests/victims/mem/pseudopython.c" .
"${CC:-gcc}" -g -O1 -DLIBRARY -shared -fPIC -o libpseudo.so pseudopython.c
"${CC:-gcc}" -g -O1 -fno-pie -no-pie -o pseudopython pseudopython.c -L. -lpseudo -Wl,-rpath,"$SCRATCH" -pthread

# sleeps TIMES US STACK: so many sleeps, together of so long, below these functions and no others. On a busy machine the
# tracer does not know exactly when a thread stopped, and may take a part of a sleep, or all of it, for a stop. So where
# threads are stopped the lower bound is for the time from begin to end.
sleeps() {
    local got all times least=$(($2 > 3000 ? $2 * 9 / 10 - 1500 : 0))
    [ "$OFF_HOW" = --in-process ] || least=-1
    got=$(sum ";loop;(memory_[^;]*;)?$3;rest;.*nanosleep [0-9]+\$" <folded)
    all=$(sum ";pc;$3;pc;.*nanosleep(;wa)? [0-9]+\$" <extents)
    times=$(sum ";loop;(memory_[^;]*;)?$3;rest;.*nanosleep;.[^;]+ [0-9]+\$" <counted)
    ok "$OFF_HOW: $2 us asleep below $3 ($got us, $all us from begin to end, $times times)" \
        test "$times" -eq "$1" -a "$got" -gt "$least" -a "$all" -ge "$2"
}

read_sleeps() {
    oview off >folded
    oview latency >counted
    spans >extents
}

for OFF_HOW in --in-process --no-in-process; do
    off ./pseudopython names sleep
    is_int "$status" 0 "$OFF_HOW: names: status"
    read_sleeps
    sleeps 1 100000 'py::outer:made.py;py::Class.__init__:made.py'
    sleeps 1 110000 'py::outer:made.py;py::[?]:made.py'

    off ./pseudopython reused sleep
    read_sleeps
    while read -r times us stack; do
        sleeps "$times" "$us" "$stack"
    done <<'E1'
1 1000 py::outer:made.py;py::first:here.py
1 2000 py::outer:made.py;py::again:here.py
1 3000 py::outer:made.py;py::third:here.py
1 4000 py::outer:made.py;py::forth:here.py
1 5000 py::outer:made.py;py::forth:away.py
1 6000 py::outer:made.py;py::fifth:away.py
2 16000 py::outer:made.py;py::sixth:away.py
1 8000 py::outer:made.py;py::other:away.py;py::sixth:away.py
1 10000 py::outer:made.py;py::other:away.py
1 11000 py::other:away.py;py::other:away.py
E1

    off ./pseudopython deep sleep
    oview off >folded
    file_has folded ';py::deeper:made.py;py::deeper:made.py;(.*;)?nanosleep [0-9]+$' "$OFF_HOW: a very deep chain has names"

    off ./pseudopython rubbish sleep
    is_int "$status" 0 "$OFF_HOW: damaged chains: status"
    file_has out '^survived$' "$OFF_HOW: damaged chains do no harm"
done
done_testing
