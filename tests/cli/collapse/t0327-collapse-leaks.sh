#!/bin/bash
# Leak reports: LeakSanitizer's, AddressSanitizer's, and memcheck's in text and in XML, of one and
# the same program: all agree with each other and with the sums that each report ends in.
. "${0%/*}/../lib.sh"
corpus=$ROOT/tests/corpus

of_kind() { kind="[$1];" awk 'index($0, ENVIRON["kind"]) == 1 { n += $NF } END { print n + 0 }' out; }

for sample in lsan/cxx lsan/asan-unnamed; do
    run_expect_status 0 "$sample: collapse succeeds" "$FLAME" collapse "$corpus/$sample"
    is_str "$(cat err)" '' "$sample: nothing on standard error"
    all=$(sed -n 's/^SUMMARY: .*: \([0-9]*\) byte(s) leaked in \([0-9]*\) .*/\1 \2/p' "$corpus/$sample")
    is_str "$(($(of_kind 'direct leak') + $(of_kind 'indirect leak')))" "${all% *}" \
        "$sample: the bytes of its summary"
    is_str "$(of_kind 'indirect leak')" 224 "$sample: the bytes of indirect leaks"
    "$FLAME" collapse --type objects "$corpus/$sample" >out
    is_str "$(($(of_kind 'direct leak') + $(of_kind 'indirect leak')))" "${all#* }" \
        "$sample: --type objects has the objects of its summary"
done
"$FLAME" collapse "$corpus/lsan/cxx" >out
ok 'LeakSanitizer: names are complete' \
    grep -qxF '[indirect leak];__libc_start_call_main;main;leave();lists::make_list(int, char const*);node* make_node<node>(node*);operator new(unsigned long) 224' out
"$FLAME" collapse --srcline "$corpus/lsan/cxx" >out
ok 'leak reports: --srcline' grep -qF ';leave() /tmp/leaky/leak2.cc:11;' out
"$FLAME" collapse "$corpus/lsan/asan-unnamed" >out
file_has out '^\[direct leak\];\[libc.so.6\];\[asan\];\[asan\];\[asan\];\[libasan.so.8\] 81$' \
    'AddressSanitizer: frames without names have modules'

for sample in memcheck/cxx memcheckxml/cxx.xml; do
    run_expect_status 0 "$sample: collapse succeeds" "$FLAME" collapse "$corpus/$sample"
    is_str "$(cat err)" '' "$sample: nothing on standard error"
    is_str "$(of_kind 'definitely lost') $(of_kind 'indirectly lost')" '137 224' \
        "$sample: the bytes of its summary, indirect bytes once"
    "$FLAME" collapse --type objects "$corpus/$sample" >out
    is_str "$(of_kind 'definitely lost') $(of_kind 'indirectly lost')" '4 4' 'leak reports: --type objects'
done
for options in '' '--type objects' --srcline; do
    # shellcheck disable=SC2086
    "$FLAME" collapse $options "$corpus/memcheck/cxx" >text
    # shellcheck disable=SC2086
    "$FLAME" collapse $options "$corpus/memcheckxml/cxx.xml" >xml
    ok "memcheck's text and XML give the same stacks $options" cmp text xml
done
"$FLAME" collapse "$corpus/lsan/cxx" | sed -n 's/^\[indirect leak\];__libc_start_call_main;//p' >lsan
sed -n 's/^\[indirectly lost\];//p' text | sed 's/ leak2.cc:[0-9]*//g' >memcheck
ok 'memcheck and LeakSanitizer give the same stacks' cmp lsan memcheck

printf '%s\n' 'the program says so' 'Direct leak of 1,024 byte(s) in 2 object(s) allocated from:' '    #0 0x1 in f;g (/a b/c.so+0x12) (BuildId: 12ab)' \
    '    #1 0x2 in main /home/a b/x.c:12:3' '    #2 0x3' 'what is this' '    #3 0x4 in <null> (/x+0x3)' '' '    #0 0x1 in no_leak /x.c:1' \
    'Indirect leak of x byte(s)' 'Direct leak of 5 byte(s) in 1 object(s) allocated from:' '    <empty stack>' >x
run_expect_status 0 'LeakSanitizer: collapse of a report amid other text succeeds' "$FLAME" collapse x
is_str "$(cat out)" "$(printf '%s\n' '[direct leak] 5' '[direct leak];<null>;0x3;main;f:g 1024')" \
    'LeakSanitizer: a report amid other text is read'
like "$(cat err)" '1 line was not understood, the first is line 6: what is this' \
    'LeakSanitizer: broken lines are reported'
printf '%s\n' '==7== Invalid read of size 4' '==7==    at 0x1: bad (x.c:1)' '==7== ' '==7== 1,000,000 (8 direct, 999,992 indirect) bytes in 1 blocks are possibly lost in loss record 1 of 2' \
    '==7==    at 0x1: ??? (in /lib/a.so)' '==7==    by 0x2: ???' 'not of valgrind' '==7==    by 0x3: f<void (int)>(g) const (x.c:1)' '==7==    what' '==7== ' >x
run_expect_status 0 'memcheck: collapse of errors and leaks succeeds' "$FLAME" collapse x
is_str "$(cat out)" '[possibly lost];f<void (int)>(g) const;[unknown];[a.so] 8' \
    'memcheck: only leaks are counted'
like "$(cat err)" '1 line was not understood, the first is line 9: ==7==    what' \
    'memcheck: broken lines are reported'
run_expect_status 2 'memcheck: --type blocks ends with status 2' "$FLAME" collapse --type blocks x
like "$(cat err)" "no values 'blocks'; it has bytes, objects" 'memcheck: --type blocks lists the types'

xml() { # BODY
    printf '<?xml version="1.0"?>\n%s\n' "$1" >x
}
leak() { # FUNCTION
    printf '%s' "<valgrindoutput><tool>memcheck</tool><error><xwhat><text>1 bytes in 1 blocks are still reachable in</text></xwhat><stack><frame><fn>$1</fn></frame></stack></error></valgrindoutput>"
}
xml "$(leak 'operator&lt;&#60;&#x26;&quot;&apos;&gt;<![CDATA[<&;]]><!-- & --><none/>')"
run_expect_status 0 "memcheck's XML: collapse with references succeeds" "$FLAME" collapse x
is_str "$(cat out)" "[still reachable];operator<<&\"'><&: 1" "memcheck's XML: references are replaced"
for bad in '&nbsp;:a reference' '&#0;:a reference' '&#xd800;:a reference' '&amp:a reference' '<b></fn>:another element ends' '<!DOCTYPE x>:document type' \
    '<b a=1/>:tag is wrong' '< b/>:begins no element' '<!-- :does not end'; do
    xml "$(leak "${bad%%:*}")"
    run_expect_status 2 "memcheck's XML with ${bad%%:*} ends with status 2" \
        "$FLAME" collapse --from memcheck-xml x
    like "$(cat err)" "x: cannot read: line 2 .*${bad#*:}" "memcheck's XML with ${bad%%:*} says why"
    is_str "$(wc -l <err) $(cat out)" '1 ' "memcheck's XML with ${bad%%:*}: one line, no output"
done
xml '<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><valgrindoutput><tool>memcheck</tool></valgrindoutput>'
run_expect_status 2 "memcheck's XML with an entity ends with status 2" "$FLAME" collapse x
like "$(cat err)" 'document type or a declaration, which is not read' "memcheck's XML with an entity says why"
xml "<valgrindoutput><tool>memcheck</tool>$(printf '<a>%.0s' {1..64})"
run_expect_status 2 "memcheck's XML with endless elements ends with status 2" "$FLAME" collapse x
like "$(cat err)" 'more than 64 deep' "memcheck's XML with endless elements says why"
head -c 3000 "$corpus/memcheckxml/cxx.xml" >x
run_expect_status 2 'truncated XML of memcheck ends with status 2' "$FLAME" collapse x
like "$(cat err)" 'x: cannot read: line [0-9]+ .byte [0-9]+.: ' 'truncated XML of memcheck says where'

done_testing
