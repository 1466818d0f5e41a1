#!/bin/bash
# flame off with a fake interpreter: memory of frames, code objects and texts that is used again at once, a very
# deep chain, and chains that no interpreter makes.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
[ "$(uname -m)" = x86_64 ] || skip_all processor 'layouts of interpreters are known for x86-64'

cp "$ROOT/tests/victims/mem/pseudopython.c" .
"${CC:-gcc}" -g -O1 -DLIBRARY -shared -fPIC -o libpseudo.so pseudopython.c
"${CC:-gcc}" -g -O1 -fno-pie -no-pie -o pseudopython pseudopython.c -L. -lpseudo -Wl,-rpath,"$SCRATCH" -pthread

# sleeps US STACK: a sleep of so long, below these functions and no others.
sleeps() {
    local got
    got=$(sum ";loop;(memory_[^;]*;)?$2;rest;.*nanosleep [0-9]+\$" <folded)
    ok "$OFF_HOW: $1 us asleep below $2 (${got} us)" test "$got" -gt $(($1 > 3000 ? $1 * 9 / 10 - 1500 : 0)) -a "$got" -lt $(($1 * 2 + 20000))
}

for OFF_HOW in --in-process --no-in-process; do
    off ./pseudopython names sleep
    is_int "$status" 0 "$OFF_HOW: names: status"
    oview off >folded
    sleeps 100000 'py::outer:made.py;py::Class.__init__:made.py'
    sleeps 110000 'py::outer:made.py;py::[?]:made.py'

    off ./pseudopython reused sleep
    oview off >folded
    while read -r us stack; do
        sleeps "$us" "$stack"
    done <<'E1'
1000 py::outer:made.py;py::first:here.py
2000 py::outer:made.py;py::again:here.py
3000 py::outer:made.py;py::third:here.py
4000 py::outer:made.py;py::forth:here.py
5000 py::outer:made.py;py::forth:away.py
6000 py::outer:made.py;py::fifth:away.py
16000 py::outer:made.py;py::sixth:away.py
8000 py::outer:made.py;py::other:away.py;py::sixth:away.py
10000 py::outer:made.py;py::other:away.py
11000 py::other:away.py;py::other:away.py
E1

    off ./pseudopython deep sleep
    oview off >folded
    file_has folded ';py::deeper:made.py;py::deeper:made.py;(.*;)?nanosleep [0-9]+$' "$OFF_HOW: a very deep chain has names"

    off ./pseudopython rubbish sleep
    is_int "$status" 0 "$OFF_HOW: damaged chains: status"
    file_has out '^survived$' "$OFF_HOW: damaged chains do no harm"
done
done_testing
