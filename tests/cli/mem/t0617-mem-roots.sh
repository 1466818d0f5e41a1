#!/bin/bash
# --pid and --tid of what records: processes and threads apart, by the words of flame fold.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim clan -pthread

# The sum of a text's stacks whose first frames, up to main or a thread's start, match.
sum() { # FILE REGEX
    grep -E "$2" "$1" | grep -F ';keep_block' | awk '{ sum += $NF } END { print sum + 0 }'
}

three='./clan thread:alpha:1000 keep:1; ./clan thread:alpha:2000 thread:beta:30 keep:2 fork keep:4; true'

run_expect_status 0 'together' "$FLAME" mem -q -o t.folded -- sh -c "$three"
is_int "$(sum t.folded '^clan;')" 3037 'all of one name are one'
unlike "$(cut -d';' -f1,2 t.folded)" '-[0-9]' 'and no id is to be seen'

run_expect_status 0 'mem --pid' "$FLAME" mem -q --pid -o p.folded -- sh -c "$three"
is_str "$(grep -o '^clan-[0-9]*' p.folded | sort -u | while read -r root; do
    sum p.folded "^$root;"
done | sort -n | tr '\n' ' ')" '4 1001 2032 ' 'each process has its own tower'
is_int "$(sum p.folded .)" 3037 'and no byte counts twice'

run_expect_status 0 'mem --tid' "$FLAME" mem -q --tid -o h.folded -- sh -c "$three"
is_int "$(sum h.folded '^clan;alpha-[0-9]+;')" 3000 'threads by name'
is_int "$(grep -oE '^clan;alpha-[0-9]+' h.folded | sort -u | wc -l)" 2 'and id'
is_int "$(sum h.folded '^clan;beta-[0-9]+;')" 30 'another one'
is_int "$(sum h.folded '^clan;clan-[0-9]+;')" 7 'the first ones of three processes'

run_expect_status 0 'both' "$FLAME" mem -q --tid --pid -o b.folded -- sh -c "$three"
is_int "$(sum b.folded '^clan-([0-9]+);clan-\1;')" 7 'the first thread has the id of its process'
run_expect_status 0 'the traces' "$FLAME" mem -q --tid --pid -o t.flame -- sh -c "$three"
"$FLAME" fold --no-header --pid --tid t.flame t.*.flame >again
is_str "$(sed 's/-[0-9]*;/;/g' again | grep keep_block | sort)" \
    "$(sed 's/-[0-9]*;/;/g' b.folded | grep keep_block | sort)" 'say the same, folded later'
for view in peak live; do
    run_expect_status 0 "--view $view" "$FLAME" mem -q --pid --view $view -o v.folded -- sh -c "$three"
    is_int "$(sum v.folded '^clan-[0-9]+;')" 3037 'holds all that was kept, once'
done

# The pages, and both recorders at once.
run_expect_status 0 'a page' "$FLAME" mem -q --tid -o x.html -- sh -c "$three"
file_has x.html 'alpha-[0-9]+' 'has the threads'
run_expect_status 0 'flame run' "$FLAME" run -q --pid --tid -o r.folded -o r.html --view live -- \
    sh -c "$three"
is_int "$(sum r.folded '^clan-[0-9]+;(alpha|beta)-[0-9]+;')" 3030 'has them in views of memory'
run_expect_status 0 'flame run' "$FLAME" run -q --pid --tid -o w.folded --view off -- sh -c "$three"
file_has w.folded '^sh-([0-9]+);sh-\1;.*wait4' 'and of waiting'
run_expect_status 23 'flame leak' "$FLAME" leak --live --pid --tid -o l.folded -- sh -c "$three"
is_int "$(sum l.folded '^clan-[0-9]+;(alpha|beta)-[0-9]+;')" 3030 'in its picture, too'

# A thread's own name does no harm.
evil=$'a;b\nc\e[31m<&"'
run_expect_status 0 'a hostile name' "$FLAME" mem -q --tid -o e.folded -- ./clan "thread:$evil:50"
is_int "$(sum e.folded '^clan;a:b c \[31m<&"-[0-9]+;')" 50 'is one frame'
is_str "$(tr -d '\n\040-\176' <e.folded)" '' 'without what a terminal obeys'
for ending in svg html; do
    run_expect_status 0 "$ending" "$FLAME" mem -q --tid -o e.$ending -- ./clan "thread:$evil:50"
    unlike "$(tr -d '\n\t\040-\176' <e.$ending | tr -d '\200-\377' | od -c)" '033' 'has none either'
done
ok 'a picture is XML' python3 -c 'import sys, xml.dom.minidom as m; m.parse("e.svg")'

done_testing
