#!/bin/bash
# A trace truncated while it is written ends the recording, but neither the tracer nor the program
# with it; flame prints one line.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir

# shorten SIZE...: sets the trace to each size in turn, sleeps, and ends with 9.
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
other_lines() { grep -v 'was cut short while it was written' err; }

# To nothing; to the header and a part; and twice.
for sizes in 0 4096 '0 4096' '8192 0'; do
    for how in '' --no-in-process --no-filter; do
        # shellcheck disable=SC2086 # an option, or none; words
        run timeout 60 "$FLAME" off $how -o x.html -- bash ./shorten $sizes
        is_str "$status $(cat out)" '9 survived' \
            "flame off $how, truncated to $sizes: the program ends as untraced"
        is_int "$(said)" 1 "flame off $how, truncated to $sizes: one line says why there is no result"
        is_str "$(other_lines)" '' "flame off $how, truncated to $sizes: no other line is printed"
        file_lacks err 'the tracer was ended' "flame off $how, truncated to $sizes: the tracer lives"
        clean
        # shellcheck disable=SC2086
        run timeout 60 "$FLAME" run -q $how -o x.html -- bash ./shorten $sizes
        is_str "$status $(cat out)" '9 survived' \
            "flame run $how, truncated to $sizes: the program ends as untraced"
        is_int "$(said)" 1 "flame run $how, truncated to $sizes: one line says what is missing"
        is_str "$(other_lines)" '' "flame run $how, truncated to $sizes: no other line is printed"
        file_has x.html keep_block "flame run $how, truncated to $sizes: the memory views are drawn"
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
    is_str "$status $(cat out)" '9 survived' \
        'truncated traces of page faults: flame and the program end as untraced'
    clean
else
    skip perf 'page faults cannot be recorded here'
fi

# A signal of that number that the program sends to its group is not for the tracer.
run timeout 60 setsid -w "$FLAME" off -q -o x.folded -- bash -c 'trap "" BUS; kill -BUS 0; sleep 0.01; echo survived'
is_str "$status $(cat out)" '0 survived' \
    'flame off of a command that sends SIGBUS to its group ends with status 0'
ok 'SIGBUS to the process group does not end the recording' test -s x.folded

done_testing
