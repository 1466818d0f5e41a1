#!/bin/bash
# Findings on recordings of memory with known answers: each rule where it applies,
# and the other programs, where it does not.
. "${0%/*}/../lib.sh"

compile_victim telling

# found KIND [OPTION...]: the findings of a run, in $kind.findings.
found() {
    kind=$1
    shift
    run "$FLAME" "${command:-mem}" "$@" -o "$kind.findings" ./telling "$kind"
}

# first KIND SENTENCE STACK: the first finding, and its stack.
first() {
    like "$(sed -n 1p "$1.findings")" "^$2\$" "$1: the first finding"
    like "$(sed -n 2p "$1.findings")" "^    $3 telling.*;main telling.c:[0-9]+;$4 telling.c:[0-9]+\$" \
        "$1: the stack of the first finding"
}

found owner
is_int "$status" 0 'flame mem -o owner.findings ends with status 0'
first owner 'hold_most \(telling.c:[0-9]+\) holds most at the peak: 6.00 MiB of 8.00 MiB \(7[45].[0-9]+%\)' peak hold_most
found churn
first churn 'keep_one \(telling.c:[0-9]+\) holds most at the peak: 39.06 KiB of [^ ]* KiB .*' peak keep_one
file_has churn.findings '^5,0[0-9][0-9] of 5,4[0-9][0-9] calls \(9[23].[0-9]+%\) for blocks freed before their thread.s next call, (9[0-9].[0-9]+% of them )?in make_and_drop \(telling.c:[0-9]+\)$' \
    'churn: a finding has the short-lived blocks'
found untouched --rss
first untouched 'reserve \(telling.c:[0-9]+\) holds most at the peak: 8.00 MiB of 10.0[0-9] MiB .*' peak reserve
file_has untouched.findings '^(7.9[0-9]|8.00) MiB of 10.0[0-9] MiB \([0-9.]+%\) live at the end were asked for and are not resident, (99.[0-9]+% of it )?by reserve \(' \
    'untouched: a finding has the memory never written to'
command=leak found lost
first lost 'Leaked: 300.0 KiB that nothing leads to, by lose \(telling.c:[0-9]+\), 2.00 KiB that only leaks lead to(, .* still reachable)?' definite lose
# A machine that stalls makes a step of it, which is no steady growth.
grows_steadily() {
    found grows --moments=20ms
    grep -q 'grows steadily' grows.findings
}
again 6 grows_steadily
first grows 'append \(telling.c:[0-9]+\) grows steadily: from [0-9.]+ KiB at [0-9.]+ m?s to 240.0 KiB at [0-9.]+ s' live append

for rule in 'Leaked:=lost' 'grows steadily=grows' 'are not resident=untouched' 'next call=churn'; do
    for other in owner churn untouched lost grows; do
        [ "$other" = "${rule#*=}" ] ||
            file_lacks "$other.findings" "${rule%=*}" "$other: no finding '${rule%=*}'"
    done
done

# The picture and the page of one recording have the same findings.
run "$FLAME" mem -o owner.html ./telling owner
file_has owner.html '"findings":\[' 'a page has findings'
file_has owner.html '^\{"text":"hold_most \(telling.c:[0-9]+\) holds most at the peak: 6.00 MiB of 8.00 MiB' \
    'a page has the same finding'
run "$FLAME" mem -o owner.svg ./telling owner
file_has owner.svg '<a href="#p=telling%3B[^"]*%3Bmain%3Bhold_most"><title>hold_most asks for most memory: 6.00 MiB of 8.00 MiB \(7[45].[0-9]+%\)</title>' \
    'a picture has the findings of its view'

done_testing
