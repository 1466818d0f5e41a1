#!/usr/bin/env bash
# Forked children have traces of their own that start with what they inherited.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

sum() { # VIEW FUNCTION FILE
    fview "$1" "$3" 2>/dev/null | grep -E ";$2(;| )" | awk '{ n += $NF } END { print n + 0 }'
}

compile_victim forks -pthread
for how in fork raw threads; do
    record "" ./forks "$how"
    is_int "$status" 9 "$how: status"
    is_str "$(cat err)" "" "$how: nothing is said"
    ok "$how: two traces" test -f t.flame -a -f t.flame.1
    is_int "$(sum alloc inherited t.flame)" 1000 "$how: the parent allocated 1000"
    is_int "$(sum live inherited t.flame)" 1000 "$how: and has them still"
    is_int "$(sum alloc child_work t.flame)" 0 "$how: the child's work is not the parent's"
    is_int "$(sum alloc inherited t.flame.1)" 0 "$how: the child did not allocate what it inherited"
    is_int "$(sum live inherited t.flame.1)" 700 "$how: but has what it has not freed of it"
    is_int "$(sum alloc child_work t.flame.1)" 7000 "$how: the child's own bytes"
    is_int "$(sum live child_work t.flame.1)" 5000 "$how: and what is left of them"
done

# Page faults are most of what a fork costs, and copying what the child has no use for.
compile_victim childpages
read -r plain _ < <(./childpages)
record inherit=0 ./childpages
is_int "$status" 0 "a parent of many stacks: status"
read -r faults less <out
ok "a child that allocates has at most 50 page faults more ($plain, $faults)" \
    test "$((faults - plain))" -le 50
ok "and not the table of its parent's stacks ($less KiB less)" test "$less" -ge 2048

record "" ./forks vfork
is_int "$status" 9 "vfork: status"
not_ok "vfork: no second trace" test -e t.flame.1
ok "vfork: the child's block is in the memory they share" test "$(total live)" -ge 1154

record follow=0 ./forks fork
is_int "$status" 9 "follow=0: status"
not_ok "follow=0: no trace of the child" test -e t.flame.1
record follow=0 sh -c 'cat /proc/self/environ | tr "\0" "\n" | grep -c ^LD_PRELOAD=; true'
is_str "$(cat out)" 0 "follow=0: programs it starts do not load us"
BENEATH=libc.so.6 record follow=0 sh -c 'cat /proc/self/environ | tr "\0" "\n" | grep ^LD_PRELOAD='
is_str "$(cat out)" LD_PRELOAD=libc.so.6 "follow=0: other libraries stay in LD_PRELOAD"
done_testing
