#!/usr/bin/env bash
# Many traces are summed one after the other: the same counts as folded alone, in constant memory.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# Processes of two programs, forked ones and threads among them; each has its libraries
# elsewhere in memory.
compile_victim family
compile_victim forks -pthread
record "" ./family 40 400 3 2
mkdir traces
for f in t.flame*; do mv "$f" "traces/family$f"; done
record "" ./family 60 300 2
for f in t.flame*; do mv "$f" "traces/again$f"; done
record "" ./forks threads
for f in t.flame*; do mv "$f" "traces/forks$f"; done
set -- traces/*
ok 'the processes left twelve traces' test $# -eq 12

# Each folded to text, and the texts summed, without the code that merges traces.
by_hand() { # FOLD-OPTION...
    local n=0
    rm -rf texts
    mkdir texts
    for f in traces/*; do
        "$FLAME" fold "$@" -o "texts/$((n += 1))" "$f" 2>>texts.err || return 1
    done
    "$FLAME" fold --no-header texts/*
}

same() { # FOLD-OPTION...
    by_hand "$@" >apart
    run "$FLAME" fold "$@" -o together.folded traces/*
    grep -v '^#' together.folded >together
    cmp -s apart together || diff apart together | head -n 5 | sed 's/^/# /'
    ok "fold of twelve traces equals each folded alone: $*" \
        test -s together -a "$(cksum <apart)" = "$(cksum <together)"
}

for view in alloc count live peak temp; do
    same --view $view
done
same --tid
same --pid --view live
same --comm forks
same --lines --view count
same --pid --tid --view peak

mkdir many
for i in $(seq 400); do
    ln traces/familyt.flame.1 "many/$i.flame"
done
memory() { # FILE...: kilobytes
    command time -f %M -o kib "$FLAME" fold -o /dev/null "$@" 2>/dev/null
    tail -n 1 kib
}
few=$(memory many/?.flame)
ok 'fold of 400 traces takes hardly more memory than of nine' test "$(memory many/*)" -lt $((few * 3 / 2))
done_testing
