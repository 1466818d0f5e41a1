#!/bin/bash
# flame leak: leaks that suppressions name, and those that a baseline knows, do not count; what
# is wrong with such files is said before the command runs.
. "${0%/*}/../lib.sh"

compile_victim sheds -O0

# ---- suppressions as LeakSanitizer has them ----

run_expect_status 23 'there are leaks' "$FLAME" leak -o l.folded ./sheds plain:100 list:3
file_has err '116 bytes in 2 blocks leaked, and 24 bytes in 3 blocks that only' 'of both kinds'

echo 'leak:^shed_plain' >plain.txt
run_expect_status 23 'one of them is suppressed' "$FLAME" leak --suppressions plain.txt -o l.folded \
    ./sheds plain:100 list:3
file_has err '^flame: leak: 16 bytes in 1 block leaked, and 24 bytes in 3 blocks that only' \
    'the other one counts'
file_has err '100 bytes in 1 block suppressed: plain.txt:1: leak:\^shed_plain \(100 bytes in 1 block\)' \
    'what was hidden by what'
file_lacks l.folded shed_plain 'the result is without it'
file_has l.folded 'shed_list\(unsigned long\) 16$' 'and has the rest'
file_lacks err 'matches? nothing' 'every rule was of use'

cat >both.txt <<'END'
# two rules, and one that is of no use

leak:shed_list
   leak:shed_nothing
leak:shed_plain
END
rm -f leak.svg
run_expect_status 0 'all suppressed' "$FLAME" leak --suppressions both.txt ./sheds plain:100 list:3
file_has err 'leak: 0 bytes in 0 blocks leaked, 0 allowed' 'nothing is left'
file_has err '140 bytes in 5 blocks suppressed: both.txt:3: leak:shed_list \(40 bytes in 4 blocks\); both.txt:5: leak:shed_plain' \
    'with what only the suppressed ones lead to'
file_has err '1 suppression matches nothing: both.txt:4: leak:shed_nothing$' 'the one of no use is named'
not_ok 'there is no picture' test -e leak.svg
run_expect_status 0 'quietly' "$FLAME" leak -q --suppressions both.txt ./sheds plain:100 list:3
is_str "$(cat err)" '' 'nothing is said'

# Blocks that only a suppressed leak leads to do not count either, whatever code allocated them.
printf '{\nhead\nMemcheck:Leak\nfun:calloc\nfun:_Z9shed_listm\n}\n' >head.supp
run_expect_status 0 'the head alone is named' "$FLAME" leak --suppressions head.supp ./sheds list:3
file_has err '40 bytes in 4 blocks suppressed: head.supp:2: head ' 'its nodes go with it'
run_expect_status 23 'another leak' "$FLAME" leak --suppressions head.supp ./sheds list:3 plain:1
file_has err '1 bytes? in 1 block leaked, and 24 bytes in 3 blocks' 'may be what leads to them'

run_expect_status 23 'two processes' "$FLAME" leak --suppressions head.supp -o l.folded \
    sh -c './sheds list:3; ./sheds list:2 plain:1; true'
file_has err '^flame: leak: 1 bytes? in 1 block leaked, and 16 bytes in 2 blocks' 'are told apart'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 17 'in the result as well'
is_int "$(grep -c ' block.*: \(shed_plain\|make_node\)' err)" 2 'and in the list'

echo 'leak:sheds.cc' >file.txt
echo "leak:^$SCRATCH/sheds\$" >module.txt
for by in file module; do
    run_expect_status 0 "by the $by" "$FLAME" leak --suppressions $by.txt ./sheds plain:9 text:9
done
run_expect_status 0 'several files' "$FLAME" leak --suppressions plain.txt --suppressions file.txt \
    ./sheds plain:9 text:8
file_has err 'plain.txt:1: .* \(9 bytes in 1 block\); file.txt:1: leak:sheds.cc \(8 bytes in 1 block\)' \
    'the first that matches has the leak'
run_expect_status 23 'limits are for what is left' "$FLAME" leak -q --max-bytes 7 \
    --suppressions plain.txt ./sheds plain:100 text:8
run_expect_status 0 'and keep it' "$FLAME" leak -q --max-bytes 8 --suppressions plain.txt \
    ./sheds plain:100 text:8
run_expect_status 0 'with --live, what is live' "$FLAME" leak --live --suppressions file.txt \
    --suppressions <(printf 'leak:libc\nleak:libstdc++\nleak:ld-linux') ./sheds plain:9 list:2
file_has err ' 0 bytes live at the end in 0 blocks' 'is suppressed as well'
run_expect_status 3 "the command's own failure" "$FLAME" leak --suppressions file.txt \
    sh -c './sheds plain:9; exit 3'

# ---- from the environment ----

FLAME_LEAK_SUPPRESSIONS=plain.txt:file.txt run_expect_status 0 'FLAME_LEAK_SUPPRESSIONS' \
    "$FLAME" leak ./sheds plain:9 text:8
file_has err 'plain.txt:1: .*file.txt:1: ' 'names files'
LSAN_OPTIONS="verbosity=0:suppressions='file.txt',x=1" run_expect_status 0 'LSAN_OPTIONS' \
    "$FLAME" leak ./sheds plain:9
LSAN_OPTIONS=suppressions=file.txt FLAME_LEAK_SUPPRESSIONS='' \
    run_expect_status 23 'an empty FLAME_LEAK_SUPPRESSIONS' "$FLAME" leak -q ./sheds plain:9
LSAN_OPTIONS=suppressions=none.txt run_expect_status 2 'a file that is not there' \
    "$FLAME" leak touch ran
file_has err '^flame: none.txt: cannot read: No such file' 'is an error'

# ---- suppressions as memcheck has them ----

cat >c.supp <<'END'
{
   passed over
   Helgrind:Race
   whatever it has
}
{
   a list
   Memcheck:Leak
   match-leak-kinds: definite,indirect
   fun:*alloc
   ...
   fun:_Z9shed_listm
   fun:main
}
{
   only what is reachable
   Memcheck:Leak
   match-leak-kinds: reachable
   ...
}
END
run_expect_status 0 'fun, ... and wildcards' "$FLAME" leak --suppressions c.supp ./sheds list:4
file_has err '48 bytes in 5 blocks suppressed: c.supp:7: a list \(48 bytes in 5 blocks\)' 'by name'
file_lacks err 'nothing' 'entries for other things are not missed'
run_expect_status 23 'and no more' "$FLAME" leak -q --suppressions c.supp ./sheds plain:4

# memcheck's own entries for the same leaks.
if command -v valgrind >/dev/null; then
    timeout 250 valgrind -q --leak-check=full --show-leak-kinds=definite,indirect \
        --gen-suppressions=all --log-file=vg.log ./sheds plain:9 text:8 list:2 >/dev/null
    sed -n '/^{/,/^}/p' vg.log >made.supp
    ok 'memcheck made some' test "$(grep -c Memcheck:Leak made.supp)" -ge 3
    run_expect_status 0 'they suppress the same here' "$FLAME" leak --suppressions made.supp \
        ./sheds plain:9 text:8 list:2
    file_has err '49 bytes in 5 blocks suppressed' 'all of it'
    run_expect_status 23 'and nothing else' "$FLAME" leak -q --suppressions made.supp ./sheds empty:1
else
    skip valgrind 'no valgrind here'
fi

# ---- files that are wrong ----

wrong() {
    rm -f ran
    run_expect_status 2 "$2" "$FLAME" leak --suppressions "$1" touch ran
    is_str "$(cat err)" "flame: $3" 'is said in one line'
    not_ok 'and nothing was run' test -e ran
}
printf 'leak:a\nrace:b\n' >bad.txt
wrong bad.txt 'another kind of line' "leak: bad.txt:2: 'race:b' suppresses no leak; a line is leak:PATTERN or \
misuse:PATTERN, or the file is one of valgrind's and begins with '{'"
printf '{\n  a\n  Memcheck:Leak\n  fun:a\n' >bad.supp
wrong bad.supp 'an entry that does not end' 'leak: bad.supp:4: the file ends within an entry; a '\''}'\'' is missing'
printf 'leak:\033[31m\nleak' >bad.txt
wrong bad.txt 'a line that is none' "leak: bad.txt:2: 'leak' suppresses no leak; a line is leak:PATTERN or \
misuse:PATTERN, or the file is one of valgrind's and begins with '{'"
wrong . 'a directory' '.: cannot read: Is a directory; name a file in it'
wrong none 'no file' 'none: cannot read: No such file or directory; check the name'

# ---- what flame knows ----

# A program is known by where it lies: this is one that loses what sort does.
mkdir bin
cp sheds bin/sort
run_expect_status 0 'a known leak' "$FLAME" leak bin/sort plain:9
file_has err '^flame: leak: 0 bytes in 0 blocks leaked, 0 allowed' 'does not count'
file_has err '9 bytes in 1 block suppressed as known \(--no-builtin-suppressions counts them\): sort: lists made by main \(9 bytes in 1 block\)' \
    'and is named'
run_expect_status 23 'if it is to count' "$FLAME" leak -q --no-builtin-suppressions bin/sort plain:9
file_has err '^flame: leak: 9 bytes in 1 block leaked, 0 allowed' 'it does'
run_expect_status 23 'and of another program' "$FLAME" leak -q -- sh -c 'bin/sort plain:9; ./sheds plain:8; true'
file_has err '^flame: leak: 8 bytes in 1 block leaked, 0 allowed' 'is the only one that counts'

# The real ones, where they are those that known.supp was written for.
if grep -qs '^VERSION_ID="12"$' /etc/os-release; then
    echo 'b a' >words
    run_expect_status 0 'sort' "$FLAME" leak sort words
    file_has err 'suppressed as known .*: sort: ' 'loses something'
    run_expect_status 0 'tar' "$FLAME" leak tar cf words.tar words
    file_has err 'suppressed as known .*: tar: ' 'too'
    # shellcheck disable=SC2016 # for perl
    run_expect_status 0 'perl' "$FLAME" leak perl -MPOSIX -e 'my @a = map { "x$_" =~ /(\d)/; $1 } 1 .. 99'
    file_has err 'suppressed as known .*: perl: ' 'too'
    for words in 'expr 1 + 1' 'tr a b' 'tail -n 1 words' 'pr words' 'split words' 'shuf words' 'stat words' \
        'tsort words' 'df .' 'locale -a' 'iconv -f latin1 words'; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "$words" "$FLAME" leak $words
        file_has err "suppressed as known .*: ${words%% *}: " 'loses something, too'
    done
else
    skip debian12 'known.supp was written for Debian 12'
fi

# ---- baselines ----

run_expect_status 0 'what leaks now is written' "$FLAME" leak --write-baseline base ./sheds plain:100 list:3
file_has err 'leak: 0 bytes in 0 blocks leaked, 0 allowed' 'and counts as known'
file_has err '140 bytes in 5 blocks written to base as known' 'which is said'
is_str "$(head -1 base)" '# flame: view=leak unit=bytes' 'it is folded text'
is_int "$(grep -cE '^sheds;.*;main;shed_(plain|list)\(unsigned long\)(;make_node\(node\*\))? [0-9]+$' base)" 3 'with the stacks'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' base)" 140 'and their bytes'
"$FLAME" top base >top.out 2>&1
file_has top.out shed_plain 'that other commands read'

run_expect_status 0 'the same leaks' "$FLAME" leak --baseline base ./sheds plain:100 list:3
file_has err '140 bytes in 5 blocks known from base' 'are known'
run_expect_status 0 'fewer are' "$FLAME" leak -q --baseline base ./sheds plain:10
run_expect_status 23 'one that has grown' "$FLAME" leak --baseline base -o l.folded ./sheds plain:100 list:5
file_has err '^flame: leak: 0 bytes in 0 blocks leaked, and 16 bytes in 2 blocks that only' 'counts by what it grew'
file_has l.folded 'make_node\(node\*\) 16$' 'in the result as well'
file_lacks l.folded shed_plain 'without those that are known'
run_expect_status 23 'a new one' "$FLAME" leak --baseline base ./sheds plain:100 text:7 list:3
file_has err '^flame: leak: 7 bytes in 1 block leaked, 0 allowed' 'is the one that counts'
run_expect_status 0 'limits are for what is new' "$FLAME" leak -q --max-bytes 7 --baseline base \
    ./sheds plain:100 text:7 list:3

# Another build, other addresses and lines.
sed 's/^static void lose/\n\n\n&/' "$ROOT/tests/victims/leak/sheds.cc" >moved.cc
mkdir other
ok 'the program is built again' "${CXX:-g++}" -O0 -g -o other/sheds moved.cc
run_expect_status 0 'functions are what is known' "$FLAME" leak --baseline base other/sheds plain:100 list:3
run_expect_status 23 'an earlier result' "$FLAME" leak -q -o l.folded ./sheds plain:100 empty:2
run_expect_status 23 'is a baseline' "$FLAME" leak -q --baseline l.folded ./sheds plain:100 text:1
run_expect_status 23 'leak.json' "$FLAME" leak -q -o l.folded --json leak.json ./sheds plain:100 list:2
run_expect_status 0 'is one as well' "$FLAME" leak -q --baseline leak.json ./sheds plain:100 list:2
run_expect_status 23 'with the same eyes' "$FLAME" leak -q --baseline leak.json ./sheds plain:101 list:2
run_expect_status 0 'blocks of no bytes' "$FLAME" leak -q --write-baseline empty.base ./sheds empty:2
run_expect_status 0 'are known, too' "$FLAME" leak -q --baseline empty.base ./sheds empty:2

run_expect_status 23 'compared with one, another is written' "$FLAME" leak -q --baseline base \
    --write-baseline next ./sheds plain:100 text:7
run_expect_status 0 'with all that leaks' "$FLAME" leak -q --baseline next ./sheds plain:100 text:7
run_expect_status 0 'nothing leaks' "$FLAME" leak -q --write-baseline none.base true
is_str "$(cat none.base)" '# flame: view=leak unit=bytes' 'an empty baseline'
run_expect_status 0 'can be read' "$FLAME" leak -q --baseline none.base true

wrong_baseline() {
    rm -f ran
    run_expect_status 2 "$2" "$FLAME" leak --baseline "$1" touch ran
    is_str "$(cat err)" "flame: $3" 'is said in one line'
    not_ok 'and nothing was run' test -e ran
}
printf 'main;f 1\nmain;g\n' >bad.base
wrong_baseline bad.base 'a line without a count' "leak: bad.base:2: no folded stack, which is a line like \
'main;read 42'"
printf '# flame: view=alloc unit=bytes\nmain;f 1\n' >bad.base
wrong_baseline bad.base 'counts of something else' 'leak: bad.base: counts something else than view=leak; --write-baseline makes one'
printf 'main;f 1 2\n' >bad.base
wrong_baseline bad.base 'a comparison' 'leak: bad.base:1: two counts: a comparison is no baseline'
printf '{"format": "flame-leak",\n' >bad.base
wrong_baseline bad.base 'half a leak.json' "leak: bad.base:2: not what 'flame leak --json' writes"
head -c 3000 "$FLAME" >bad.base
run_expect_status 2 'a program' "$FLAME" leak --baseline bad.base touch ran
is_int "$(wc -l <err)" 1 'is one line, too'
wrong_baseline gone 'no file' 'gone: cannot read: No such file or directory; check the name'
run_expect_status 2 'a baseline that cannot be written' "$FLAME" leak --write-baseline gone/base touch ran
file_has err '^flame: gone/base: cannot write: No such file' 'is said'
not_ok 'before anything runs' test -e ran

done_testing
