#!/bin/bash
# flame leak --check misuse: status 23, a line a misuse with its places, and suppressions.
. "${0%/*}/../lib.sh"

compile_victim misuses -O1 -pthread -ldl
compile_victim misnews -O1 -std=c++17 -pthread

line_in() { F="$2(" W=$3 awk 'index($0, ENVIRON["F"]) { on = 1 } on && index($0, ENVIRON["W"]) { print NR; exit }' \
    "$ROOT/tests/victims/leak/$1"; }
free_block=$(line_in misuses.c 'void drop_block' 'free(held)')
free_again=$(line_in misuses.c 'void drop_again' 'free(held)')
made=$(line_in misuses.c 'make_block' 'malloc(size)')
like "$free_block $free_again $made" '^[0-9]+ [0-9]+ [0-9]+$' 'the lines of misuses.c are found'

leak() { run "$FLAME" leak --check misuse -o l.folded "$@"; }

leak ./misuses twice
is_int "$status" 134 "the command's own signal precedes status 23"
file_has err '^flame: leak: 1 misuse of the allocator:$' 'twice: one misuse is reported'
file_has err "^flame:   double free of 40 bytes: drop_again .*misuses\.c:$free_again \(thread misuses of misuses [0-9]+\)$" \
    'twice: the place of the second free'
file_has err "^flame:     allocated at make_block .*misuses\.c:$made$" 'twice: the place of the allocation'
file_has err "^flame:     freed at drop_block .*misuses\.c:$free_block$" 'twice: the place of the first free'
is_str "$(grep -v '^flame: ' err)" 'free(): double free detected in tcache 2' \
    'twice: glibc prints its own message'
not_ok 'twice: no picture is drawn' test -e l.folded

leak ./misuses threads
file_has err '^flame:   double free of 40 bytes: drop_again .* \(thread dropper of misuses [0-9]+\)$' \
    'threads: the thread of the second free'
file_has err '^flame:     freed at drop_block .* \(thread misuses\)$' 'threads: the thread of the first free'
leak ./misuses handler
file_has err '^flame:   double free of 40 bytes: drop_again ' 'handler: a double free in a signal handler'
leak ./misuses inside
file_has err '^flame:   free of a pointer that was never handed out: drop_again ' \
    'inside: a free of a pointer that was never allocated'
file_has err '^flame:     it is 16 bytes into a block of 40 bytes$' 'inside: the block that the pointer is in'
file_has err "^flame:     allocated at make_block .*:$made$" 'inside: the place of the allocation'
leak ./misuses local
file_has err '^flame:     it is on the stack$' 'local: the pointer is on the stack'
leak ./misuses global
file_has err "^flame:     it is a variable or text of the program's$" 'global: the pointer is to a variable'
leak ./misuses wild
is_int "$status" 139 "wild: flame ends with the command's signal"
file_has err '^flame:     it is where there is no memory$' 'wild: the pointer is to unmapped memory'
leak ./misuses old
file_has err 'never handed out, or was freed long ago: drop_again ' \
    'old: a free of a block that was freed long ago'
file_has err '^flame:     what was freed more than 262,144 frees ago is not known$' \
    'old: the message gives the number of remembered frees'
leak ./misuses regrow
file_has err '^flame:   realloc of freed memory of 40 bytes: grow_block ' 'regrow: a realloc of freed memory'
leak ./misuses array
file_has err '^flame:   reallocarray of freed memory of 40 bytes: grow_array ' \
    'array: a reallocarray of freed memory'
leak ./misuses astray
file_has err '^flame:   realloc of a pointer that was never handed out: grow_block ' \
    'astray: a realloc of a pointer that was never allocated'
leak ./misuses strdup
file_has err '^flame:   double free of 6 bytes: drop_again ' 'strdup: a double free'
leak ./misuses child
is_int "$status" 23 'child: the misuse of a forked child gives status 23'
file_has err '^flame:     freed before the process was forked$' 'child: the block was freed before the fork'
leak ./misuses often
is_int "$status" 23 'often: five misuses give status 23'
file_has err '^flame: leak: 5 misuses of the allocator:$' 'often: each misuse counts'
file_has err 'never handed out, 5 times: drop_again .* \(5 processes\)$' \
    'often: five misuses in five processes are one line'

for case in 'malloc-delete|operator delete of 40 bytes from malloc: by_delete' \
    'new-free|free of 24 bytes from operator new: by_free' \
    'new-delete[]|operator delete\[\] of 24 bytes from operator new: by_delete_array' \
    'new[]-delete|operator delete of 40 bytes from operator new\[\]: by_delete' \
    'aligned-delete|operator delete of 128 bytes from operator new with an alignment: by_delete' \
    'sized|operator delete with a size of 20 for 24 bytes: by_delete_sized' \
    'new-realloc|realloc of 24 bytes from operator new: main' \
    'array-free|free of 40 bytes from operator new\[\]: by_free'; do
    leak ./misnews "${case%%|*}"
    is_int "$status" 23 "${case%%|*}: status 23"
    file_has err '^flame: leak: 1 misuse of the allocator:$' "${case%%|*}: one misuse is reported"
    file_has err "^flame:   ${case#*|}" "${case%%|*}: kind and place"
    file_has err '^flame:     allocated at by_' "${case%%|*}: the place of the allocation"
done

for victim in misuses misnews; do
    leak ./$victim clean
    is_int "$status" 0 "$victim clean: status 0"
    file_has err '^flame: leak: 0 misuses of the allocator$' "$victim clean: no misuse is reported"
done
leak -q ./misnews clean
is_str "$(cat err)" '' 'flame leak -q --check misuse without misuse prints nothing'
run_expect_status 0 'flame leak without --check ignores misuse' "$FLAME" leak -o l.folded ./misnews new-free
file_lacks err misuse 'flame leak without --check does not mention misuse'
run_expect_status 9 'flame leak --check misuse --exit-code 9 ends with status 9' \
    "$FLAME" leak --check misuse --exit-code 9 ./misnews new-free
run_expect_status 2 'flame leak --check misuses ends with status 2' \
    "$FLAME" leak --check misuses ./misnews clean
file_has err 'leak: --check misuses: expected misuse' 'flame leak --check misuses says what it expects'

# An operator new of the program's own calls malloc; its delete is the library's.
cat >own.cc <<'EOF'
#include <cstdlib>
#include <new>
void *operator new(std::size_t n) { return std::malloc(n); }
int *volatile held;
int main() { held = new int(3); delete held; }
EOF
ok 'own is built' "${CXX:-g++}" -g -O0 -w -o own own.cc
leak ./own
is_int "$status" 0 "a program's own operator new is no misuse"
sed 's/void \*operator new/__attribute__((visibility("hidden"))) &/' own.cc >hidden.cc
ok 'hidden is built' "${CXX:-g++}" -g -O0 -w -o hidden hidden.cc
leak ./hidden
is_int "$status" 0 "a program's hidden operator new is no misuse"
file_has err '^flame: leak: 0 misuses of the allocator$' \
    "a program's hidden operator new is recognized by its name"

# ---- suppressions ----

echo 'misuse:by_free' >free.supp
leak --suppressions free.supp ./misnews new-free
is_int "$status" 0 'misuse:PATTERN suppresses a misuse'
file_has err "^flame: leak: 1 misuse suppressed: free.supp:1: misuse:by_free \(1\)$" \
    'a suppressed misuse is counted'
leak --suppressions free.supp ./misnews malloc-delete
is_int "$status" 23 "misuse:PATTERN does not suppress another function's misuse"
file_has err 'suppression matches nothing: free.supp:1: misuse:by_free$' 'an unused misuse:PATTERN is reported'
echo 'leak:by_free' >leak.supp
leak --suppressions leak.supp ./misnews new-free
is_int "$status" 23 'leak:PATTERN does not suppress a misuse'
cat >mc.supp <<'EOF'
{
   a known one
   Memcheck:Free
   fun:free
   fun:_ZL7by_freePv
   fun:main
}
{
   of delete
   Memcheck:Free
   fun:_ZdlPv
   fun:_ZL9by_deletePv
}
{
   not this
   Memcheck:Cond
   fun:main
}
EOF
leak --suppressions mc.supp ./misnews new-free malloc-delete new-free
is_int "$status" 0 "memcheck's suppressions apply to misuse"
file_has err '3 misuses suppressed: mc.supp:2: a known one \(2\); mc.supp:9: of delete \(1\)$' \
    "each of memcheck's suppressions of misuse is counted"
echo 'misuse:' >bad.supp
run_expect_status 2 'misuse: without a pattern ends with status 2' \
    "$FLAME" leak --check misuse --suppressions bad.supp ./misnews clean
file_has err "there is no pattern behind 'misuse:'" 'misuse: without a pattern says so'
leak --suppressions free.supp ./misnews new-free sized
is_int "$status" 23 'one of two misuses suppressed: status 23'
file_has err '^flame: leak: 1 misuse of the allocator:$' 'one of two misuses suppressed: the other is reported'

done_testing
