#!/usr/bin/env bash
# Forked children have traces of their own that start with the inherited blocks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

sum() { # VIEW FUNCTION FILE
    fview "$1" "$3" 2>/dev/null | grep -E ";$2(;| )" | awk '{ n += $NF } END { print n + 0 }'
}

compile_victim forks -pthread
for how in fork raw threads; do
    record "" ./forks "$how"
    is_int "$status" 9 "forks $how ends with its status"
    is_str "$(cat err)" "" "forks $how prints no error"
    ok "forks $how leaves two traces" test -f t.flame -a -f t.flame.1
    is_int "$(sum alloc inherited t.flame)" 1000 "forks $how: the parent allocated 1000 bytes"
    is_int "$(sum live inherited t.flame)" 1000 "forks $how: the parent's 1000 bytes are live"
    is_int "$(sum alloc child_work t.flame)" 0 "forks $how: the parent's trace lacks the child's blocks"
    is_int "$(sum alloc inherited t.flame.1)" 0 "forks $how: inherited blocks are no allocations of the child"
    is_int "$(sum live inherited t.flame.1)" 700 \
        "forks $how: the child's live bytes have the inherited blocks not yet freed"
    is_int "$(sum alloc child_work t.flame.1)" 7000 "forks $how: the child's own allocated bytes"
    is_int "$(sum live child_work t.flame.1)" 5000 "forks $how: the child's own live bytes"
done

# The cost of a fork is mostly page faults, and copies of what the child does not need.
compile_victim childpages
read -r plain _ < <(./childpages)
record inherit=0 ./childpages
is_int "$status" 0 'a parent of many stacks ends with status 0'
read -r faults less <out
ok "a child that allocates has at most 50 page faults more ($plain, $faults)" \
    test "$((faults - plain))" -le 50
ok "a child does not have the table of its parent's stacks ($less KiB less)" test "$less" -ge 2048

record "" ./forks vfork
is_int "$status" 9 'forks vfork ends with its status'
not_ok 'forks vfork leaves one trace' test -e t.flame.1
ok "forks vfork: the child's block is in the shared memory" test "$(total live)" -ge 1154

record follow=0 ./forks fork
is_int "$status" 9 'follow=0: forks fork ends with its status'
not_ok 'follow=0 leaves no trace of the child' test -e t.flame.1
record follow=0 sh -c 'cat /proc/self/environ | tr "\0" "\n" | grep -c ^LD_PRELOAD=; true'
is_str "$(cat out)" 0 'follow=0 removes libflamemem.so from LD_PRELOAD of started programs'
BENEATH=libc.so.6 record follow=0 sh -c 'cat /proc/self/environ | tr "\0" "\n" | grep ^LD_PRELOAD='
is_str "$(cat out)" LD_PRELOAD=libc.so.6 'follow=0 keeps other libraries in LD_PRELOAD'
done_testing
