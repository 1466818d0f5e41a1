#!/usr/bin/env bash
# Hostile names and numbers: nothing crashes, and no result is
# silently wrong.
. "${0%/*}/../lib.sh"

sample() {
    printf 'app 1/2 1.0: %s cycles:\n\t1 %s (/opt/app)\n\n' "${2:-1}" "$1"
}
is_str "$(sample 'a;b' | "$FLAME" collapse)" 'app;a:b 1' 'a semicolon in a name becomes a colon'
is_str "$(sample $'a\tb' | "$FLAME" collapse)" 'app;a b 1' 'a tab in a name becomes a blank'
is_str "$(sample $'a\rb' | "$FLAME" collapse)" 'app;a b 1' 'a carriage return in a name becomes a blank'
is_str "$(sample $'a\x01\x1b[31m' | "$FLAME" collapse)" 'app;a  [31m 1' \
    'control characters in a name become blanks'
is_str "$(sample 'read 4096' | "$FLAME" collapse)" 'app;read_4096 1' 'a name that ends like a count is joined'
is_str "$(sample $'h\xc3\xa9' | "$FLAME" collapse)" $'app;h\xc3\xa9 1' 'UTF-8 in a name stays'
is_str "$(sample $'h\xff\xc3' | "$FLAME" collapse)" $'app;h\xef\xbf\xbd\xef\xbf\xbd 1' \
    'invalid UTF-8 in a name is replaced'
printf 'a;b 1/2 1.0: 1 cycles:\n\t1 f (m)\n\n' >semicolon
is_str "$("$FLAME" collapse semicolon)" 'a:b;f 1' 'a semicolon in the command becomes a colon'
printf 'app 1/2 1.0: 1 cycles:\n\t1 f\0g (m)\n\n' >nul
is_str "$("$FLAME" collapse nul)" 'app;f g 1' 'a NUL in a name becomes a blank'

long=$(head -c 1000000 /dev/zero | tr '\0' x)
sample "$long" >long.txt
"$FLAME" collapse long.txt >out
is_int "$(wc -c <out)" 1000007 'a name of a million bytes is complete'

awk 'BEGIN { print "app 1/2 1.0: 1 cycles:"; for (i = 0; i < 200000; i++) printf "\t%x f%d (m)\n", i, i % 7; print "" }' >deep.txt
run_expect_status 0 'collapse of a stack of 200,000 frames succeeds' "$FLAME" collapse deep.txt
is_int "$(tr ';' '\n' <out | wc -l)" 200001 'a stack of 200,000 frames is complete'
run_expect_status 0 'fold of a stack of a million frames succeeds' sh -c \
    'awk "BEGIN { printf \"a\"; for (i = 0; i < 1000000; i++) printf \";b\"; print \" 1\" }" | "$FLAME" fold -'

is_str "$(sample f 18446744073709551615 | "$FLAME" collapse)" 'app;f 18446744073709551615' \
    'a count of 2^64 - 1 is exact'
is_str "$(sample f 18446744073709551616 | "$FLAME" collapse)" 'app;f 18446744073709551615' \
    'a count of 2^64 becomes 2^64 - 1'
run "$FLAME" collapse --from folded - < <(printf 'a 18446744073709551616\nb 18446744073709551614\nc 18446744073709551610\nc 5\nd 1\n')
like "$(cat err)" '^flame: 2 counts are 2\^64 and more' 'counts that do not fit are reported'
is_str "$( (sample f 9007199254740993; sample f 0) | "$FLAME" collapse)" 'app;f 9007199254740994' \
    'counts beyond 2^53 are exact, and a period of 0 counts one'
printf 'a -3\nb 1e3\nc 0x10\nd 1.5\nd .5\ne nan\nf 1\nf 1\nf 1\nf 1\n' >counts
run "$FLAME" collapse --from folded counts
is_str "$(cat out)" $'d 1.5\nf 4' 'invalid counts are left out'
like "$(cat err)" '5 lines were not understood, the first is line 1: a -3' 'invalid counts are reported'

# Any input for each format: no crash, and an answer.
head -c 100000 /dev/urandom >noise
sed 's/[0-9]/9/g' "$ROOT/tests/corpus/collapse/perf" >nines
for kind in $("$FLAME" collapse --help | sed -n '/^Kinds:/,$s/^  \([a-z-]*\) .*/\1/p'); do
    for file in noise nines /dev/null "$ROOT/LICENSE"; do
        run "$FLAME" collapse --from "$kind" "$file"
        case $status in
        0 | 2) ;;
        *) test_fail "$kind reads ${file##*/}" "status $status" ;;
        esac
    done
    test_ok "$kind reads anything"
done

# shellcheck disable=SC2317 # called by run_expect_status
limited() { # MIB COMMAND...
    local kib=$(($1 * 1024))
    shift
    [ -z "${SAN-}" ] || kib=unlimited # sanitizers map terabytes
    (ulimit -v "$kib" && exec "$@")
}

# Memory does not grow with samples.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "app 1/2 %d.0: 1 cycles:\n\t%x f+0x%x (m)\n\t2 main (m)\n\n", i, i, i }' >many.txt
run_expect_status 0 'collapse of many samples runs in 64 MiB' \
    limited 64 "$FLAME" collapse many.txt
is_str "$(cat out)" 'app;main;f 300000' 'collapse of many samples counts all'

# Memory does not grow with the size of a line or a stack.
head -c 100000000 /dev/zero | tr '\0' a | gzip >bomb.gz
(printf '{"traceEvents":['; head -c 130000000 /dev/zero | tr '\0' ' ') | gzip >trace.json.gz
head -c 20000000 /dev/zero | tr '\0' ';' >deep.folded
echo 'f 1' >>deep.folded
echo 'a;b 1' >small
too_much() { # NAME WORDS ARGUMENT...
    local name=$1 words=$2
    shift 2
    run_expect_status 2 "$name: status 2" limited 200 "$FLAME" "$@"
    like "$(cat err)" "cannot read: $words" "$name: the error says why"
    is_str "$(wc -l <err) $(wc -c <out)" '1 0' "$name: one line, and no output"
}
for command in 'collapse --from perf' 'collapse --from folded' fold render top 'diff small'; do
    # shellcheck disable=SC2086 # words
    too_much "a long line, $command" 'line 1 is longer than 64 MiB' $command bomb.gz
done
for command in 'collapse --from folded' fold render top 'diff small'; do
    # shellcheck disable=SC2086 # words
    too_much "a deep stack, $command" 'line 1 has more than 4194304 frames' $command deep.folded
done
too_much 'a line without an end' 'line 1 is longer than 64 MiB' fold - </dev/zero
too_much 'what unpacks a thousandfold' 'it unpacks to more than 256 times its size' \
    collapse trace.json.gz
too_much 'a stack without an end' 'line [0-9]* makes a stack of more than 4194304 frames' \
    collapse --from gdb - < <(yes '#1  0x1 in f ()')

done_testing
