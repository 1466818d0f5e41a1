#!/bin/bash
# pprof's profiles: Go's, read as pprof reads them; those that flame writes, complete;
# damage is an error with its place.
. "${0%/*}/../lib.sh"
samples=$ROOT/tests/corpus/pprof

# Output of pprof itself, by the reader of its text: the same stacks and counts, of all kinds.
if command -v go >/dev/null; then
    export HOME=$SCRATCH GOFLAGS=-mod=mod GO111MODULE=off
    for file in "$samples"/go-*.pb.gz; do
        go tool pprof -raw "$file" >raw 2>err
        read -ra types < <(sed -n '/^Samples/{n;p;}' raw)
        for type in "${types[@]}"; do
            # The reader of pprof's text takes the first value of each sample.
            kinds=$(sed -n '/^Samples/{n;p;}' raw | tr ' ' '\n' | grep -nx "$type" | cut -d: -f1)
            KIND=$kinds awk '/^Samples/ { on = 1 } /^Locations/ { on = 0 }
                on && /^ *[0-9]+ .*: |^ *[0-9]+: / { split($0, part, ":"); split(part[1], v, " ")
                    $0 = v[ENVIRON["KIND"] + 0] ":" part[2] } { print }' raw >one
            "$FLAME" collapse --from go --inline one | grep -v ' 0$' >want
            run "$FLAME" collapse --type "${type%/*}" "$file"
            sed 's/_\[i\]//g' out >got
            ok "${file##*/}: $type as by pprof" cmp got want
            ok "${file##*/}: $type has stacks" test -s got
            is_str "$(cat err)" '' "${file##*/}: $type prints nothing on standard error"
        done
    done
else
    skip go 'no go'
fi

cpu=$samples/go-cpu.pb.gz
run_expect_status 0 'collapse of a profile of two kinds succeeds' "$FLAME" collapse "$cpu"
cp out cpu
is_str "$(cat err)" "flame: $cpu: holds several kinds of values; cpu is counted, --type picks \
another (samples)" 'collapse of a profile of two kinds says which it counts'
"$FLAME" collapse "$samples/go-cpu" >out 2>err
ok 'an unpacked profile gives the same stacks' cmp out cpu
file_has cpu ';main.spin;main.leaf_\[i\] [0-9]+$' 'pprof: inlined functions are annotated'
"$FLAME" collapse --type samples --label request,user "$cpu" >out
file_has out '^request=index;user=a:b;runtime.main;' \
    'pprof: --label puts labels at the root, the first outermost'
file_has out '^request=search;runtime.main;' 'pprof: --label of a stack without one label has the other'
"$FLAME" collapse --type cpu --srcline "$cpu" >out
file_has out ';main.spin [^;]*main.go:[0-9]+;main.leaf [^;]*main.go:16_\[i\] ' 'pprof: --srcline has lines'
"$FLAME" collapse --type cpu --modules "$cpu" >out
file_has out ';gp`main.spin[; ]' 'pprof: --modules has modules'
"$FLAME" collapse --type cpu --by file "$cpu" >out
file_has out 'main.go[; ]' 'pprof: --by file has files'

# Profiles that flame writes, with several views, inlined functions and places.
printf 'a;b src/f.c:3;c src/g.h:7_[i] 12\na;b src/f.c:4 5\nd 18446744073709551\n' >plain
"$FLAME" render -o x.pb.gz plain
run_expect_status 0 "collapse of flame's own pprof succeeds" "$FLAME" collapse --srcline x.pb.gz
ok "collapse of flame's own pprof gives the same text" cmp out plain
is_str "$(cat err)" '' "collapse of flame's own pprof prints nothing on standard error"
"$FLAME" render -o y.pb.gz x.pb.gz 2>err
is_int "$?" 2 'render of pprof ends with status 2'

refused() { # REGEX NAME: x.bin is an error
    run_expect_status 2 "pprof error, $2: status 2" "$FLAME" collapse --from pprof x.bin
    like "$(cat err)" "$1" "pprof error, $2: the message"
    is_int "$(wc -l <err)" 1 "pprof error, $2: one line"
    ok "pprof error, $2: no output" test ! -s out
}
run_expect_status 2 'pprof: --type with an unknown kind ends with status 2' "$FLAME" collapse --type wall "$cpu"
file_has err "it has no values 'wall'; it has samples, cpu$" \
    'pprof: --type with an unknown kind lists the kinds'
head -c 700 "$samples/go-cpu" >x.bin
refused 'x.bin: cannot read: byte [0-9]+: a field (is longer than|has no length)' 'cut short'
head -c 500 "$cpu" >x.bin
refused 'x.bin: cannot read: its compressed data is cut short' 'cut short when packed'
# sample_type {1, 1}, string_table "", and a sample or what it needs, each with one thing wrong.
wrong() { # BYTES: behind a kind of values and two strings, into x.bin
    printf '%b' "\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01n$1" >x.bin
}
wrong '\x12\x04\x08\x07\x10\x01'
refused 'byte 13: a sample is at a location that is not in the profile' 'a location'
wrong '\x22\x02\x08\x01\x12\x06\x08\x01\x10\x01\x10\x02'
refused 'byte 15: a sample has not as many values' 'a value too many'
wrong '\x22\x02\x08\x01\x22\x02\x08\x01'
refused 'byte 15: a second location of the same id' 'one id twice'
wrong '\x22\x06\x08\x01\x22\x02\x08\x05'
refused 'byte 11: a location is in a function that is not in the profile' 'a function'
wrong '\x2a\x04\x08\x01\x10\x09\x22\x06\x08\x01\x22\x02\x08\x01'
refused 'byte 11: names a string that is not in the profile' 'a string'
wrong '\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f'
refused 'byte 12: a number has more than 64 bits' 'a number'
wrong '\x13'
refused 'byte 11: a field is of a kind' 'a group'
printf '\x32\x00' >x.bin
refused 'does not say what its values are' 'no kinds of values'
# Negative counts of a difference have no place.
wrong '\x22\x02\x08\x01\x22\x04\x08\x02\x18\x10\x12\x04\x08\x01\x10\x03\x12\x0d\x08\x02\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01'
run_expect_status 0 'pprof with a count below 0 succeeds' "$FLAME" collapse x.bin
is_str "$(cat out)" '[unknown] 3' 'pprof with a count below 0 leaves it out'
file_has err '1 sample of less than 0 was left out' 'pprof with a count below 0 reports it'

# A location of 4000 inlined functions, and 3000 samples that have it; two samples are not too many.
profile_of() { # SAMPLES
    {
        printf '\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01n\x2a\x04\x08\x01\x10\x01\x22\x82\x7d\x08\x01'
        for _ in $(seq 40); do printf '\x22\x02\x08\x01%.0s' {1..100}; done
        for _ in $(seq "$1"); do printf '\x12\x04\x08\x01\x10\x01'; done
    } >x.bin
}
profile_of 3000
refused 'stacks of more frames in all than a profile of this size has' 'samples that fill a memory'
profile_of 2
is_str "$("$FLAME" collapse x.bin | awk '{ n = split($1, f, ";"); print n, $NF }')" '4000 2' \
    'pprof with deep stacks has all frames'

done_testing
