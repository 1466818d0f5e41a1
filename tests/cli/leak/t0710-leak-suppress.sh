#!/bin/bash
# flame leak: leaks that suppressions or a baseline name do not count; errors
# in such files are reported before the command runs.
. "${0%/*}/../lib.sh"

compile_victim sheds -O0

# ---- suppressions as LeakSanitizer has them ----

run_expect_status 23 'flame leak of sheds ends with status 23' \
    "$FLAME" leak -o l.folded ./sheds plain:100 list:3
file_has err '116 bytes in 2 blocks leaked, and 24 bytes in 3 blocks that only' \
    'flame leak of sheds has definite and indirect leaks'

echo 'leak:^shed_plain' >plain.txt
run_expect_status 23 'flame leak with one of two leaks suppressed ends with status 23' \
    "$FLAME" leak --suppressions plain.txt -o l.folded \
    ./sheds plain:100 list:3
file_has err '^flame: leak: 16 bytes in 1 block leaked, and 24 bytes in 3 blocks that only' \
    'a leak that is not suppressed counts'
file_has err '100 bytes in 1 block suppressed: plain.txt:1: leak:\^shed_plain \(100 bytes in 1 block\)' \
    'a suppressed leak is reported with its rule'
file_lacks l.folded shed_plain 'the result lacks the suppressed leak'
file_has l.folded 'shed_list\(unsigned long\) 16$' 'the result has the other leak'
file_lacks err 'matches? nothing' 'no rule is reported as unused'

cat >both.txt <<'END'
# two rules, and one that is of no use

leak:shed_list
   leak:shed_nothing
leak:shed_plain
END
rm -f leak.svg
run_expect_status 0 'flame leak with all leaks suppressed ends with status 0' \
    "$FLAME" leak --suppressions both.txt ./sheds plain:100 list:3
file_has err 'leak: 0 bytes in 0 blocks leaked, 0 allowed' 'suppressed leaks: no leak is left'
file_has err '140 bytes in 5 blocks suppressed: both.txt:3: leak:shed_list \(40 bytes in 4 blocks\); both.txt:5: leak:shed_plain' \
    'suppressed leaks include blocks that only they lead to'
file_has err '1 suppression matches nothing: both.txt:4: leak:shed_nothing$' 'an unused rule is reported'
not_ok 'flame leak with all leaks suppressed writes no picture' test -e leak.svg
run_expect_status 0 'flame leak -q with all leaks suppressed ends with status 0' \
    "$FLAME" leak -q --suppressions both.txt ./sheds plain:100 list:3
is_str "$(cat err)" '' 'flame leak -q with all leaks suppressed prints nothing'

# Blocks that only a suppressed leak leads to do not count either, whatever code allocated them.
printf '{\nhead\nMemcheck:Leak\nfun:calloc\nfun:_Z9shed_listm\n}\n' >head.supp
run_expect_status 0 'flame leak with a suppressed list head ends with status 0' \
    "$FLAME" leak --suppressions head.supp ./sheds list:3
file_has err '40 bytes in 4 blocks suppressed: head.supp:2: head ' \
    'a suppressed list head: its nodes are suppressed'
run_expect_status 23 'a suppressed list head beside another leak: status 23' \
    "$FLAME" leak --suppressions head.supp ./sheds list:3 plain:1
file_has err '1 bytes? in 1 block leaked, and 24 bytes in 3 blocks' \
    'a suppressed list head beside another leak: the nodes count, as that may lead to them'

run_expect_status 23 'suppressions in two processes: status 23' \
    "$FLAME" leak --suppressions head.supp -o l.folded \
    sh -c './sheds list:3; ./sheds list:2 plain:1; true'
file_has err '^flame: leak: 1 bytes? in 1 block leaked, and 16 bytes in 2 blocks' \
    'suppressions count each process alone'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 17 \
    'suppressions count each process alone in the result'
is_int "$(grep -c ' block.*: \(shed_plain\|make_node\)' err)" 2 \
    'suppressions count each process alone in the list'

echo 'leak:sheds.cc' >file.txt
echo "leak:^$SCRATCH/sheds\$" >module.txt
for by in file module; do
    run_expect_status 0 "suppressions by $by end with status 0" \
        "$FLAME" leak --suppressions $by.txt ./sheds plain:9 text:9
done
run_expect_status 0 'suppressions of two files end with status 0' \
    "$FLAME" leak --suppressions plain.txt --suppressions file.txt \
    ./sheds plain:9 text:8
file_has err 'plain.txt:1: .* \(9 bytes in 1 block\); file.txt:1: leak:sheds.cc \(8 bytes in 1 block\)' \
    'the first rule that matches suppresses a leak'
run_expect_status 23 '--max-bytes counts leaks that are not suppressed: status 23' \
    "$FLAME" leak -q --max-bytes 7 \
    --suppressions plain.txt ./sheds plain:100 text:8
run_expect_status 0 '--max-bytes allows leaks that are not suppressed: status 0' \
    "$FLAME" leak -q --max-bytes 8 --suppressions plain.txt \
    ./sheds plain:100 text:8
run_expect_status 0 'flame leak --live with suppressions ends with status 0' \
    "$FLAME" leak --live --suppressions file.txt \
    --suppressions <(printf 'leak:libc\nleak:libstdc++\nleak:ld-linux') ./sheds plain:9 list:2
file_has err ' 0 bytes live at the end in 0 blocks' 'suppressions apply to live blocks'
run_expect_status 3 "suppressions keep the command's own failure" "$FLAME" leak --suppressions file.txt \
    sh -c './sheds plain:9; exit 3'

# ---- from the environment ----

FLAME_LEAK_SUPPRESSIONS=plain.txt:file.txt run_expect_status 0 'FLAME_LEAK_SUPPRESSIONS suppresses the leaks' \
    "$FLAME" leak ./sheds plain:9 text:8
file_has err 'plain.txt:1: .*file.txt:1: ' 'FLAME_LEAK_SUPPRESSIONS names files'
LSAN_OPTIONS="verbosity=0:suppressions='file.txt',x=1" run_expect_status 0 'LSAN_OPTIONS=suppressions= suppresses the leaks' \
    "$FLAME" leak ./sheds plain:9
LSAN_OPTIONS=suppressions=file.txt FLAME_LEAK_SUPPRESSIONS='' \
    run_expect_status 23 'an empty FLAME_LEAK_SUPPRESSIONS overrides LSAN_OPTIONS' \
        "$FLAME" leak -q ./sheds plain:9
LSAN_OPTIONS=suppressions=none.txt run_expect_status 2 'LSAN_OPTIONS with a missing file ends with status 2' \
    "$FLAME" leak touch ran
file_has err '^flame: none.txt: cannot read: No such file' 'LSAN_OPTIONS with a missing file says so'

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
run_expect_status 0 "memcheck's fun:, ... and wildcards suppress the leaks" \
    "$FLAME" leak --suppressions c.supp ./sheds list:4
file_has err '48 bytes in 5 blocks suppressed: c.supp:7: a list \(48 bytes in 5 blocks\)' \
    "memcheck's suppression is reported by its name"
file_lacks err 'nothing' "memcheck's entries of other tools are not reported as unused"
run_expect_status 23 "memcheck's suppressions do not suppress another leak" \
    "$FLAME" leak -q --suppressions c.supp ./sheds plain:4

# memcheck's own entries for the same leaks.
if command -v valgrind >/dev/null; then
    timeout 250 valgrind -q --leak-check=full --show-leak-kinds=definite,indirect \
        --gen-suppressions=all --log-file=vg.log ./sheds plain:9 text:8 list:2 >/dev/null
    sed -n '/^{/,/^}/p' vg.log >made.supp
    ok 'memcheck generates three suppressions' test "$(grep -c Memcheck:Leak made.supp)" -ge 3
    run_expect_status 0 "memcheck's generated suppressions end with status 0" \
        "$FLAME" leak --suppressions made.supp \
        ./sheds plain:9 text:8 list:2
    file_has err '49 bytes in 5 blocks suppressed' "memcheck's generated suppressions cover all leaks"
    run_expect_status 23 "memcheck's generated suppressions do not suppress another leak" \
        "$FLAME" leak -q --suppressions made.supp ./sheds empty:1
else
    skip valgrind 'no valgrind here'
fi

# ---- invalid files ----

wrong() {
    rm -f ran
    run_expect_status 2 "suppressions, $2: status 2" "$FLAME" leak --suppressions "$1" touch ran
    is_str "$(cat err)" "flame: $3" "suppressions, $2: one line says why"
    not_ok "suppressions, $2: the command does not run" test -e ran
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

# ---- built-in suppressions ----

# A program is recognized by its path: this one leaks as sort does.
mkdir bin
cp sheds bin/sort
run_expect_status 0 'flame leak of a known leak ends with status 0' "$FLAME" leak bin/sort plain:9
file_has err '^flame: leak: 0 bytes in 0 blocks leaked, 0 allowed' 'a known leak does not count'
file_has err '9 bytes in 1 block suppressed as known \(--no-builtin-suppressions counts them\): sort: lists made by main \(9 bytes in 1 block\)' \
    'a known leak is reported'
run_expect_status 23 '--no-builtin-suppressions with a known leak ends with status 23' \
    "$FLAME" leak -q --no-builtin-suppressions bin/sort plain:9
file_has err '^flame: leak: 9 bytes in 1 block leaked, 0 allowed' \
    '--no-builtin-suppressions counts a known leak'
run_expect_status 23 "a known leak beside another program's leak: status 23" \
    "$FLAME" leak -q -- sh -c 'bin/sort plain:9; ./sheds plain:8; true'
file_has err '^flame: leak: 8 bytes in 1 block leaked, 0 allowed' \
    "a known leak beside another program's leak: the other counts"

# The real ones, where they are those that known.supp was written for.
if grep -qs '^VERSION_ID="12"$' /etc/os-release; then
    echo 'b a' >words
    run_expect_status 0 'flame leak of sort ends with status 0' "$FLAME" leak sort words
    file_has err 'suppressed as known .*: sort: ' 'the known leak of sort is suppressed'
    run_expect_status 0 'flame leak of tar ends with status 0' "$FLAME" leak tar cf words.tar words
    file_has err 'suppressed as known .*: tar: ' 'the known leak of tar is suppressed'
    # shellcheck disable=SC2016 # for perl
    run_expect_status 0 'flame leak of perl ends with status 0' \
        "$FLAME" leak perl -MPOSIX -e 'my @a = map { "x$_" =~ /(\d)/; $1 } 1 .. 99'
    file_has err 'suppressed as known .*: perl: ' 'the known leak of perl is suppressed'
    for words in 'expr 1 + 1' 'tr a b' 'tail -n 1 words' 'pr words' 'split words' 'shuf words' 'stat words' \
        'tsort words' 'df .' 'locale -a' 'iconv -f latin1 words'; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "flame leak of $words ends with status 0" "$FLAME" leak $words
        file_has err "suppressed as known .*: ${words%% *}: " "the known leak of ${words%% *} is suppressed"
    done
else
    skip debian12 'known.supp was written for Debian 12'
fi

# ---- baselines ----

run_expect_status 0 'flame leak --write-baseline ends with status 0' \
    "$FLAME" leak --write-baseline base ./sheds plain:100 list:3
file_has err 'leak: 0 bytes in 0 blocks leaked, 0 allowed' 'leaks written to a baseline do not count'
file_has err '140 bytes in 5 blocks written to base as known' \
    'flame leak --write-baseline reports what it wrote'
is_str "$(head -1 base)" '# flame: view=leak unit=bytes' 'a baseline is folded text'
is_int "$(grep -cE '^sheds;.*;main;shed_(plain|list)\(unsigned long\)(;make_node\(node\*\))? [0-9]+$' base)" 3 \
    'a baseline has the stacks of the leaks'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' base)" 140 'a baseline has the bytes of the leaks'
"$FLAME" top base >top.out 2>&1
file_has top.out shed_plain 'flame top reads a baseline'

run_expect_status 0 'flame leak --baseline with the same leaks ends with status 0' \
    "$FLAME" leak --baseline base ./sheds plain:100 list:3
file_has err '140 bytes in 5 blocks known from base' 'flame leak --baseline reports the known leaks'
run_expect_status 0 'flame leak --baseline with fewer leaks ends with status 0' \
    "$FLAME" leak -q --baseline base ./sheds plain:10
run_expect_status 23 'flame leak --baseline with a grown leak ends with status 23' \
    "$FLAME" leak --baseline base -o l.folded ./sheds plain:100 list:5
file_has err '^flame: leak: 0 bytes in 0 blocks leaked, and 16 bytes in 2 blocks that only' \
    'a grown leak counts by its growth'
file_has l.folded 'make_node\(node\*\) 16$' 'the result has a grown leak by its growth'
file_lacks l.folded shed_plain 'the result lacks known leaks'
run_expect_status 23 'flame leak --baseline with a new leak ends with status 23' \
    "$FLAME" leak --baseline base ./sheds plain:100 text:7 list:3
file_has err '^flame: leak: 7 bytes in 1 block leaked, 0 allowed' 'a new leak counts alone'
run_expect_status 0 '--max-bytes with --baseline counts new leaks' \
    "$FLAME" leak -q --max-bytes 7 --baseline base \
    ./sheds plain:100 text:7 list:3

# Another build, other addresses and lines.
sed 's/^static void lose/\n\n\n&/' "$ROOT/tests/victims/leak/sheds.cc" >moved.cc
mkdir other
ok 'sheds is built again' "${CXX:-g++}" -O0 -g -o other/sheds moved.cc
run_expect_status 0 'a baseline of another build applies: functions are compared' \
    "$FLAME" leak --baseline base other/sheds plain:100 list:3
run_expect_status 23 'flame leak -o l.folded ends with status 23' \
    "$FLAME" leak -q -o l.folded ./sheds plain:100 empty:2
run_expect_status 23 'flame leak --baseline takes an earlier result' \
    "$FLAME" leak -q --baseline l.folded ./sheds plain:100 text:1
run_expect_status 23 'flame leak --json leak.json ends with status 23' \
    "$FLAME" leak -q -o l.folded --json leak.json ./sheds plain:100 list:2
run_expect_status 0 'flame leak --baseline takes leak.json' \
    "$FLAME" leak -q --baseline leak.json ./sheds plain:100 list:2
run_expect_status 23 'flame leak --baseline leak.json with a grown leak ends with status 23' \
    "$FLAME" leak -q --baseline leak.json ./sheds plain:101 list:2
run_expect_status 0 'flame leak --write-baseline with blocks of no bytes ends with status 0' \
    "$FLAME" leak -q --write-baseline empty.base ./sheds empty:2
run_expect_status 0 'a baseline has blocks of no bytes' "$FLAME" leak -q --baseline empty.base ./sheds empty:2

run_expect_status 23 'flame leak --baseline --write-baseline ends with status 23' \
    "$FLAME" leak -q --baseline base \
    --write-baseline next ./sheds plain:100 text:7
run_expect_status 0 'a baseline written beside another has all leaks' \
    "$FLAME" leak -q --baseline next ./sheds plain:100 text:7
run_expect_status 0 'flame leak --write-baseline without leaks ends with status 0' \
    "$FLAME" leak -q --write-baseline none.base true
is_str "$(cat none.base)" '# flame: view=leak unit=bytes' 'a baseline without leaks has only its header'
run_expect_status 0 'flame leak --baseline reads a baseline without leaks' \
    "$FLAME" leak -q --baseline none.base true

wrong_baseline() {
    rm -f ran
    run_expect_status 2 "baseline, $2: status 2" "$FLAME" leak --baseline "$1" touch ran
    is_str "$(cat err)" "flame: $3" "baseline, $2: one line says why"
    not_ok "baseline, $2: the command does not run" test -e ran
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
run_expect_status 2 'baseline that is a program: status 2' "$FLAME" leak --baseline bad.base touch ran
is_int "$(wc -l <err)" 1 'baseline that is a program: one line says why'
wrong_baseline gone 'no file' 'gone: cannot read: No such file or directory; check the name'
run_expect_status 2 'flame leak --write-baseline in a missing directory ends with status 2' \
    "$FLAME" leak --write-baseline gone/base touch ran
file_has err '^flame: gone/base: cannot write: No such file' \
    'flame leak --write-baseline in a missing directory says so'
not_ok 'flame leak --write-baseline in a missing directory does not run the command' test -e ran

done_testing
