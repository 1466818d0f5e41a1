#!/bin/bash
# A trace that somebody cuts short while it is written ends the recording, not the tracer, nor the program
# with it; one line says so.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir

# shorten SIZE...: makes the trace so long, one after the other, sleeps, and ends with 9.
cat >shorten <<'END_SHORTEN'
file=$(echo "$TMPDIR"/flame-*.*/off.flame)
for size; do
    truncate -s "$size" "$file" || exit 99
done
for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done
./keeper keep:100
echo survived
exit 9
END_SHORTEN
clean() { rm -rf "$TMPDIR"/flame-*; }
said() { grep -c 'was cut short while it was written' err; }

# To nothing; to the header and a piece; and twice.
for sizes in 0 4096 '0 4096' '8192 0'; do
    for how in '' --no-in-process --no-filter; do
        # shellcheck disable=SC2086 # an option, or none; words
        run timeout 60 "$FLAME" off $how -o x.html -- bash ./shorten $sizes
        is_str "$status $(cat out)" '9 survived' "flame off $how, $sizes: the program ends as it would"
        is_int "$(said)" 1 "... a line says why there is no result"
        is_int "$(wc -l <err)" 1 '... and no other is there'
        file_lacks err 'the tracer was ended' '... the tracer lives'
        clean
        # shellcheck disable=SC2086
        run timeout 60 "$FLAME" run -q $how -o x.html -- bash ./shorten $sizes
        is_str "$status $(cat out)" '9 survived' "flame run $how, $sizes: the program ends as it would"
        is_int "$(said)" 1 '... a line says what is missing'
        is_int "$(wc -l <err)" 1 '... and no other is there'
        file_has x.html keep_block '... and all else is drawn'
        rm -f x.html
        clean
    done
done

# Page faults have a trace for each program, which flame itself writes.
if "$FLAME" mem -q --view fault -o x.folded -- ./keeper keep:100 2>/dev/null && [ -s x.folded ]; then
    cat >faults <<'END_FAULTS'
for i in 1 2 3 4 5 6 7 8; do ./keeper keep:100; done
for file in "$TMPDIR"/flame-*.*/faults-*.flame; do : >"$file"; done
for i in 1 2 3 4 5 6 7 8; do ./keeper keep:100; done
echo survived
exit 9
END_FAULTS
    run timeout 60 "$FLAME" mem --view fault -o x.folded -- bash ./faults
    is_str "$status $(cat out)" '9 survived' 'traces of page faults: flame and the program end as they would'
    clean
else
    skip perf 'page faults cannot be recorded here'
fi

# A signal of that number that the program sends to its group is not for the tracer.
run timeout 60 setsid -w "$FLAME" off -q -o x.folded -- bash -c 'trap "" BUS; kill -BUS 0; sleep 0.01; echo survived'
is_str "$status $(cat out)" '0 survived' 'SIGBUS to the process group'
ok 'ends no recording' test -s x.folded

done_testing
