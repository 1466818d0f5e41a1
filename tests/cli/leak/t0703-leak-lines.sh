#!/bin/bash
# flame leak: what standard error says of leaks and of the processes that were looked at.
. "${0%/*}/../lib.sh"

compile_victim leakers -O0 -pthread
line() { sed -n "$1p" <<<"$(grep -E '^flame:   [0-9a]' err)"; }

run_expect_status 23 'a program with a thread' "$FLAME" leak -- ./leakers
like "$(line 1)" '5,000 bytes in 1 block, definite: worker_leaks .*leakers\.c:[0-9]+ \(thread worker of leakers [0-9]+\)$' \
    'the largest first, with place, thread and process'
like "$(line 2)" '104 bytes in 1 block, definite: chain_leaks .*\(thread leakers of leakers [0-9]+\)$' \
    'then the list, whose first block nothing leads to'
like "$(line 3)" '104 bytes in 1 block, indirect: chain_leaks ' 'and whose second only that does'
like "$(line 4)" ' 0 bytes in 1 block, definite: leak_deeper ' 'a block without bytes is one'
is_str "$(line 5)" '' 'that is all'
file_has err '5,104 bytes in 3 blocks leaked, and 104 bytes in 1 block that only those lead to, 0 allowed; the largest:$' \
    'the sum stands before them'
like "$(tail -1 err)" 'leak: all of them in leak\.svg$' 'where the picture is comes last'
file_has err 'heap scanned at the end of 1 process: leakers [0-9]+$' 'the process is named'

cp "$ROOT/tests/victims/leak/leakers.c" here.c
ok 'a source in the present directory' "${CC:-gcc}" -O0 -g -pthread -o here "$PWD/here.c"
run_expect_status 23 'is' "$FLAME" leak -- ./here
like "$(line 1)" ': worker_leaks here\.c:[0-9]+ \(' 'named as seen from there'
ok 'without debug information' "${CC:-gcc}" -O0 -pthread -o plain here.c
run_expect_status 23 'there are leaks, too' "$FLAME" leak -- ./plain
like "$(line 1)" ', definite: worker_leaks \(thread worker of' 'the function is named alone'

run_expect_status 23 'more than are shown' "$FLAME" leak -- ./leakers many:13
is_str "$(grep -cE ', definite: ' err)" 10 'ten are shown'
like "$(line 1)" ' 13 bytes in 1 block' 'the largest'
like "$(line 11)" '  and 3 more$' 'and how many are not'

run_expect_status 23 'children' "$FLAME" leak -- ./leakers fork:3
like "$(line 1)" '900 bytes in 3 blocks, definite: child_leaks .*\(3 processes\)$' 'one stack is one line'
is_str "$(line 2)" '' 'and no more'
like "$(grep -oE 'heap scanned at the end of .*' err)" \
    '^heap scanned at the end of 4 processes: leakers [0-9]+, leakers [0-9]+, leakers [0-9]+, leakers [0-9]+$' \
    'each process is named'
run_expect_status 23 'more than are named' "$FLAME" leak -- ./leakers fork:9
like "$(grep -oE 'heap scanned at the end of .*' err)" '^heap scanned at the end of 10 processes: (leakers [0-9]+, ){7}leakers [0-9]+\.\.\.$' \
    'eight are'

# ---- those that were not looked at ----

run_expect_status 24 'a cleared environment' "$FLAME" leak -- env -i ./leakers
file_has err 'not recorded: leakers \(started with an environment without the recorder\)' 'is named'
file_has err 'heap not scanned in 1 process.*: env [0-9]+$' 'and so is who cleared it'
run_expect_status 24 'a child that is killed' "$FLAME" leak -- sh -c './leakers killed; true'
file_has err 'heap not scanned in 1 process.*: leakers [0-9]+$' 'is named'
printf 'int main(void) { return 0; }\n' >static.c
if "${CC:-gcc}" -static -o static static.c 2>/dev/null; then
    run_expect_status 24 'a static child' "$FLAME" leak -- sh -c './static; true'
    file_has err 'not recorded: static \(statically linked\)|not recorded: static' 'is named'
else
    skip static 'no static C library here'
fi
# A program that executed another is one process.
run_expect_status 0 'an executed program' "$FLAME" leak -- sh -c 'exec env true'
file_has err 'heap scanned at the end of 1 process: true [0-9]+$' 'is the one that was looked at'
file_lacks err 'not looked for' 'and nothing is said of what it was before'

run_expect_status 5 'a failure of its own' "$FLAME" leak -- ./leakers fail
file_has err ' 10 bytes in 1 block, definite' 'comes with its leaks'
run_expect_status 7 'a status of choice' "$FLAME" leak --exit-code 7 -- ./leakers
run_expect_status 0 'as much as is allowed' "$FLAME" leak --max-bytes 5208 -- ./leakers
run_expect_status 23 'a byte more' "$FLAME" leak --max-bytes 5207 -- ./leakers
run_expect_status 23 'a block more' "$FLAME" leak --max-blocks 3 -- ./leakers

done_testing
