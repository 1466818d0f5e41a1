#!/bin/bash
# Tables of samples that Xcode's xctrace exports. The sample is made by the schema of such exports
# (the program runs on macOS only): values under ids, later uses that refer to them.
. "${0%/*}/../lib.sh"
sample=$ROOT/tests/corpus/xctrace/made.xml

run_expect_status 0 'xctrace: collapse succeeds' "$FLAME" collapse "$sample"
is_str "$(cat out)" "$(printf '%s\n' 'main;0x18d3df0f1 3500' 'main;ns::f(int, char const&) 2000')" \
    'xctrace: microseconds, by values and by references'
is_str "$(cat err)" '' 'xctrace: nothing on standard error'
is_str "$("$FLAME" collapse --type samples --srcline "$sample")" \
    "$(printf '%s\n' 'main /src/main.cc:25;0x18d3df0f1 2' 'main /src/main.cc:25;ns::f(int, char const&) /src/main.cc:7 2')" \
    'xctrace: --type samples --srcline'
"$FLAME" collapse --modules "$sample" >out
ok 'xctrace: --modules' grep -qF 'app`main;' out

sed 's/frame ref="13"/frame ref="12"/' "$sample" >x
run_expect_status 2 'xctrace: a reference to another kind ends with status 2' "$FLAME" collapse x
like "$(cat err)" 'line 5 .* refers to id 12, which is none of its kind' \
    'xctrace: a reference to another kind says so'
is_str "$(wc -l <err) $(cat out)" '1 ' 'xctrace: a reference to another kind: one line, no output'
sed 's/backtrace ref="10"/backtrace ref="99"/' "$sample" >x
run_expect_status 2 'xctrace: a missing reference ends with status 2' "$FLAME" collapse x
like "$(cat err)" 'line 4 .* refers to id 99' 'xctrace: a missing reference says so'
head -c 1500 "$sample" >x
run_expect_status 2 'xctrace: a truncated export ends with status 2' "$FLAME" collapse x
is_int "$(wc -l <err)" 1 'xctrace: a truncated export prints one line'
{
    echo '<trace-query-result><schema name="time-profile"/><row><weight id="1">1000</weight><backtrace id="2">'
    printf '<frame name="f"/>%.0s' {1..3000}
    echo '</backtrace></row>'
    printf '<row><weight ref="1"/><backtrace ref="2"/></row>%.0s' {1..3000}
    echo '</trace-query-result>'
} >x
run_expect_status 2 'xctrace: rows that fill the memory end with status 2' "$FLAME" collapse x
like "$(cat err)" 'unless it was made to fill a memory' 'xctrace: rows that fill the memory are refused'
sed '/ 2500000\|sentinel/d' "$sample" | "$FLAME" collapse --from xctrace --type bytes >out 2>err
like "$(cat err)" "no values 'bytes'; it has time, samples" 'xctrace: --type bytes lists the types'

done_testing
