#!/bin/bash
# --pid and --tid of commands that record: separate processes and threads, as flame fold names them.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim clan -pthread

# The sum of a text's stacks whose first frames, up to main or a thread's start, match.
sum() { # FILE REGEX
    grep -E "$2" "$1" | grep -F ';keep_block' | awk '{ sum += $NF } END { print sum + 0 }'
}

three='./clan thread:alpha:1000 keep:1; ./clan thread:alpha:2000 thread:beta:30 keep:2 fork keep:4; true'

run_expect_status 0 'flame mem without --pid and --tid succeeds' "$FLAME" mem -q -o t.folded -- sh -c "$three"
is_int "$(sum t.folded '^clan;')" 3037 'processes of one name count together without --pid'
unlike "$(cut -d';' -f1,2 t.folded)" '-[0-9]' 'no id is shown without --pid and --tid'

run_expect_status 0 'flame mem --pid succeeds' "$FLAME" mem -q --pid -o p.folded -- sh -c "$three"
is_str "$(grep -o '^clan-[0-9]*' p.folded | sort -u | while read -r root; do
    sum p.folded "^$root;"
done | sort -n | tr '\n' ' ')" '4 1001 2032 ' '--pid: each process has its own root'
is_int "$(sum p.folded .)" 3037 '--pid: no byte counts twice'

run_expect_status 0 'flame mem --tid succeeds' "$FLAME" mem -q --tid -o h.folded -- sh -c "$three"
is_int "$(sum h.folded '^clan;alpha-[0-9]+;')" 3000 '--tid: threads by name'
is_int "$(grep -oE '^clan;alpha-[0-9]+' h.folded | sort -u | wc -l)" 2 \
    '--tid: threads of one name have their ids'
is_int "$(sum h.folded '^clan;beta-[0-9]+;')" 30 "--tid: another thread's name"
is_int "$(sum h.folded '^clan;clan-[0-9]+;')" 7 '--tid: first threads of three processes'

run_expect_status 0 'flame mem --tid --pid succeeds' "$FLAME" mem -q --tid --pid -o b.folded -- sh -c "$three"
is_int "$(sum b.folded '^clan-([0-9]+);clan-\1;')" 7 '--tid --pid: the first thread has the id of its process'
run_expect_status 0 'flame mem --tid --pid -o t.flame succeeds' \
    "$FLAME" mem -q --tid --pid -o t.flame -- sh -c "$three"
"$FLAME" fold --no-header --pid --tid t.flame >again
is_str "$(sed 's/-[0-9]*;/;/g' again | grep keep_block | sort)" \
    "$(sed 's/-[0-9]*;/;/g' b.folded | grep keep_block | sort)" \
    '--tid --pid: traces folded later give the same stacks'
for view in peak live; do
    run_expect_status 0 "flame mem --pid --view $view succeeds" \
        "$FLAME" mem -q --pid --view $view -o v.folded -- sh -c "$three"
    is_int "$(sum v.folded '^clan-[0-9]+;')" 3037 "--pid --view $view has each kept byte once"
done

# The pages, and both recorders at once.
run_expect_status 0 'flame mem --tid -o x.html succeeds' "$FLAME" mem -q --tid -o x.html -- sh -c "$three"
file_has x.html 'alpha-[0-9]+' 'the page of flame mem --tid has the threads'
run_expect_status 0 'flame run --pid --tid --view live succeeds' \
    "$FLAME" run -q --pid --tid -o r.folded -o r.html --view live -- \
    sh -c "$three"
is_int "$(sum r.folded '^clan-[0-9]+;(alpha|beta)-[0-9]+;')" 3030 \
    'flame run --pid --tid: views of memory have the threads'
run_expect_status 0 'flame run --pid --tid --view off succeeds' \
    "$FLAME" run -q --pid --tid -o w.folded --view off -- sh -c "$three"
file_has w.folded '^sh-([0-9]+);sh-\1;.*wait4' 'flame run --pid --tid: views of waiting have process and thread'
run_expect_status 23 'flame leak --live --pid --tid ends with status 23' \
    "$FLAME" leak --live --pid --tid -o l.folded -- sh -c "$three"
is_int "$(sum l.folded '^clan-[0-9]+;(alpha|beta)-[0-9]+;')" 3030 \
    'flame leak --pid --tid has the threads in its picture'

# A thread's name may have any characters.
evil=$'a;b\nc\e[31m<&"'
run_expect_status 0 'flame mem --tid with a hostile thread name succeeds' \
    "$FLAME" mem -q --tid -o e.folded -- ./clan "thread:$evil:50"
is_int "$(sum e.folded '^clan;a:b c \[31m<&"-[0-9]+;')" 50 'a hostile thread name is one frame'
is_str "$(tr -d '\n\040-\176' <e.folded)" '' 'a hostile thread name has no control characters in folded text'
for ending in svg html; do
    run_expect_status 0 "flame mem --tid -o e.$ending with a hostile thread name succeeds" \
        "$FLAME" mem -q --tid -o e.$ending -- ./clan "thread:$evil:50"
    unlike "$(tr -d '\n\t\040-\176' <e.$ending | tr -d '\200-\377' | od -c)" '033' \
        "e.$ending with a hostile thread name has no escape sequence"
done
ok 'the picture with a hostile thread name is well-formed XML' \
    python3 -c 'import sys, xml.dom.minidom as m; m.parse("e.svg")'

done_testing
