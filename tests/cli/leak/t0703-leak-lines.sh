#!/bin/bash
# flame leak: the messages on leaks and on the processes that were checked.
. "${0%/*}/../lib.sh"

compile_victim leakers -O0 -pthread
line() { sed -n "$1p" <<<"$(grep -E '^flame:   [0-9a]' err)"; }

run_expect_status 23 'flame leak of leakers ends with status 23' "$FLAME" leak -- ./leakers
like "$(line 1)" '5,000 bytes in 1 block, definite: worker_leaks .*leakers\.c:[0-9]+ \(thread worker of leakers [0-9]+\)$' \
    'the largest leak is first, with place, thread and process'
like "$(line 2)" '104 bytes in 1 block, definite: chain_leaks .*\(thread leakers of leakers [0-9]+\)$' \
    'a leaked list: its head is definite'
like "$(line 3)" '104 bytes in 1 block, indirect: chain_leaks ' 'a leaked list: its second block is indirect'
like "$(line 4)" ' 0 bytes in 1 block, definite: leak_deeper ' 'a leak of 0 bytes is listed'
is_str "$(line 5)" '' 'the list has no further leaks'
file_has err '5,104 bytes in 3 blocks leaked, and 104 bytes in 1 block that only those lead to, 0 allowed; the largest:$' \
    'the sum of leaks precedes the list'
like "$(tail -1 err)" 'leak: all of them in leak\.svg$' 'the last line names the picture'
file_has err 'heap scanned at the end of 1 process: leakers [0-9]+$' 'flame leak names the checked process'

cp "$ROOT/tests/victims/leak/leakers.c" here.c
ok 'a program with its source in the current directory is built' \
    "${CC:-gcc}" -O0 -g -pthread -o here "$PWD/here.c"
run_expect_status 23 'flame leak of a source in the current directory ends with status 23' \
    "$FLAME" leak -- ./here
like "$(line 1)" ': worker_leaks here\.c:[0-9]+ \(' 'a source in the current directory has its relative name'
ok 'a program without debug information is built' "${CC:-gcc}" -O0 -pthread -o plain here.c
run_expect_status 23 'flame leak without debug information ends with status 23' "$FLAME" leak -- ./plain
like "$(line 1)" ', definite: worker_leaks \(thread worker of' \
    'a leak without debug information has its function'

run_expect_status 23 'flame leak of thirteen stacks ends with status 23' "$FLAME" leak -- ./leakers many:13
is_str "$(grep -cE ', definite: ' err)" 10 'flame leak lists ten of thirteen stacks'
like "$(line 1)" ' 13 bytes in 1 block' 'flame leak lists the largest of thirteen stacks first'
like "$(line 11)" '  and 3 more$' 'flame leak counts the stacks that it does not list'

run_expect_status 23 'flame leak of three forked children ends with status 23' "$FLAME" leak -- ./leakers fork:3
like "$(line 1)" '900 bytes in 3 blocks, definite: child_leaks .*\(3 processes\)$' \
    'one stack of three children is one line'
is_str "$(line 2)" '' 'three children with one stack have no second line'
like "$(grep -oE 'heap scanned at the end of .*' err)" \
    '^heap scanned at the end of 4 processes: leakers [0-9]+, leakers [0-9]+, leakers [0-9]+, leakers [0-9]+$' \
    'flame leak names each of four checked processes'
run_expect_status 23 'flame leak of nine forked children ends with status 23' "$FLAME" leak -- ./leakers fork:9
like "$(grep -oE 'heap scanned at the end of .*' err)" '^heap scanned at the end of 10 processes: (leakers [0-9]+, ){7}leakers [0-9]+\.\.\.$' \
    'flame leak names eight of ten checked processes'

# ---- processes that were not checked ----

run_expect_status 24 'flame leak of a cleared environment ends with status 24' "$FLAME" leak -- env -i ./leakers
file_has err 'not recorded: leakers \(started with an environment without the recorder\)' \
    'flame leak names a program with a cleared environment'
file_has err 'heap not scanned in 1 process.*: env [0-9]+$' \
    'flame leak names the program that cleared the environment'
run_expect_status 24 'flame leak with a killed child ends with status 24' \
    "$FLAME" leak -- sh -c './leakers killed; true'
file_has err 'heap not scanned in 1 process.*: leakers [0-9]+$' 'flame leak names a killed child'
printf 'int main(void) { return 0; }\n' >static.c
if "${CC:-gcc}" -static -o static static.c 2>/dev/null; then
    run_expect_status 24 'flame leak with a static child ends with status 24' \
        "$FLAME" leak -- sh -c './static; true'
    file_has err 'not recorded: static \(statically linked\)|not recorded: static' \
        'flame leak names a static child'
else
    skip static 'no static C library here'
fi
# A program that executed another is one process.
run_expect_status 0 'flame leak of a shell that executes another program ends with status 0' \
    "$FLAME" leak -- sh -c 'exec env true'
file_has err 'heap scanned at the end of 1 process: true [0-9]+$' 'flame leak checks the executed program'
file_lacks err 'not looked for' 'flame leak does not report the program before an exec'

run_expect_status 5 'flame leak of a command that fails ends with its status' "$FLAME" leak -- ./leakers fail
file_has err ' 10 bytes in 1 block, definite' 'flame leak of a command that fails lists its leaks'
run_expect_status 7 'flame leak --exit-code 7 ends with status 7' "$FLAME" leak --exit-code 7 -- ./leakers
run_expect_status 0 'flame leak --max-bytes equal to the leaks ends with status 0' \
    "$FLAME" leak --max-bytes 5208 -- ./leakers
run_expect_status 23 'flame leak --max-bytes one byte less ends with status 23' \
    "$FLAME" leak --max-bytes 5207 -- ./leakers
run_expect_status 23 'flame leak --max-blocks one block less ends with status 23' \
    "$FLAME" leak --max-blocks 3 -- ./leakers

done_testing
