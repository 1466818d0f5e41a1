#!/bin/bash
# flame leak --check misuse: exit 23, a line a misuse with its places, and what is suppressed.
. "${0%/*}/../lib.sh"

compile_victim misuses -O1 -pthread -ldl
compile_victim misnews -O1 -std=c++17 -pthread

line_in() { F="$2(" W=$3 awk 'index($0, ENVIRON["F"]) { on = 1 } on && index($0, ENVIRON["W"]) { print NR; exit }' \
    "$ROOT/tests/victims/leak/$1"; }
free_block=$(line_in misuses.c 'void drop_block' 'free(held)')
free_again=$(line_in misuses.c 'void drop_again' 'free(held)')
made=$(line_in misuses.c 'make_block' 'malloc(size)')
like "$free_block $free_again $made" '^[0-9]+ [0-9]+ [0-9]+$' 'the lines of the victim are found'

leak() { run "$FLAME" leak --check misuse -o l.folded "$@"; }

leak ./misuses twice
is_int "$status" 134 "the command's own end comes first"
file_has err '^flame: leak: 1 misuse of the allocator:$' 'twice: one'
file_has err "^flame:   double free of 40 bytes: drop_again .*misuses\.c:$free_again \(thread misuses of misuses [0-9]+\)$" \
    'twice: the second free'
file_has err "^flame:     allocated at make_block .*misuses\.c:$made$" 'twice: the allocation'
file_has err "^flame:     freed at drop_block .*misuses\.c:$free_block$" 'twice: the first free'
is_str "$(grep -v '^flame: ' err)" 'free(): double free detected in tcache 2' \
    'the rest of standard error is what glibc says'
not_ok 'no picture is drawn of it' test -e l.folded

leak ./misuses threads
file_has err '^flame:   double free of 40 bytes: drop_again .* \(thread dropper of misuses [0-9]+\)$' 'threads: who'
file_has err '^flame:     freed at drop_block .* \(thread misuses\)$' 'threads: who had freed it'
leak ./misuses handler
file_has err '^flame:   double free of 40 bytes: drop_again ' 'in a signal handler'
leak ./misuses inside
file_has err '^flame:   free of a pointer that was never handed out: drop_again ' 'inside'
file_has err '^flame:     it is 16 bytes into a block of 40 bytes$' 'inside: of what'
file_has err "^flame:     allocated at make_block .*:$made$" 'inside: from where'
leak ./misuses local
file_has err '^flame:     it is on the stack$' 'local'
leak ./misuses global
file_has err "^flame:     it is a variable or text of the program's$" 'global'
leak ./misuses wild
is_int "$status" 139 'wild: the signal is passed on'
file_has err '^flame:     it is where there is no memory$' 'wild'
leak ./misuses old
file_has err 'never handed out, or was freed long ago: drop_again ' 'old'
file_has err '^flame:     what was freed more than 262,144 frees ago is not known$' 'old: as that is not remembered'
leak ./misuses regrow
file_has err '^flame:   realloc of freed memory of 40 bytes: grow_block ' 'regrow'
leak ./misuses array
file_has err '^flame:   reallocarray of freed memory of 40 bytes: grow_array ' 'array'
leak ./misuses astray
file_has err '^flame:   realloc of a pointer that was never handed out: grow_block ' 'astray'
leak ./misuses strdup
file_has err '^flame:   double free of 6 bytes: drop_again ' 'strdup'
leak ./misuses child
is_int "$status" 23 'a forked child that its parent does not ask about'
file_has err '^flame:     freed before the process was forked$' 'child'
leak ./misuses often
is_int "$status" 23 'several'
file_has err '^flame: leak: 5 misuses of the allocator:$' 'often: each is counted'
file_has err 'never handed out, 5 times: drop_again .* \(5 processes\)$' 'often: in one line'

for case in 'malloc-delete|operator delete of 40 bytes from malloc: by_delete' \
    'new-free|free of 24 bytes from operator new: by_free' \
    'new-delete[]|operator delete\[\] of 24 bytes from operator new: by_delete_array' \
    'new[]-delete|operator delete of 40 bytes from operator new\[\]: by_delete' \
    'aligned-delete|operator delete of 128 bytes from operator new with an alignment: by_delete' \
    'sized|operator delete with a size of 20 for 24 bytes: by_delete_sized' \
    'new-realloc|realloc of 24 bytes from operator new: main' \
    'array-free|free of 40 bytes from operator new\[\]: by_free'; do
    leak ./misnews "${case%%|*}"
    is_int "$status" 23 "${case%%|*}: exit status"
    file_has err '^flame: leak: 1 misuse of the allocator:$' "${case%%|*}: one"
    file_has err "^flame:   ${case#*|}" "${case%%|*}: kind and place"
    file_has err '^flame:     allocated at by_' "${case%%|*}: allocated where"
done

for victim in misuses misnews; do
    leak ./$victim clean
    is_int "$status" 0 "$victim clean: exit status"
    file_has err '^flame: leak: 0 misuses of the allocator$' "$victim clean: none"
done
leak -q ./misnews clean
is_str "$(cat err)" '' 'quietly nothing is said'
run_expect_status 0 'without --check nobody looks' "$FLAME" leak -o l.folded ./misnews new-free
file_lacks err misuse 'nor says so'
run_expect_status 9 'with a status of choice' "$FLAME" leak --check misuse --exit-code 9 ./misnews new-free
run_expect_status 2 'no such check' "$FLAME" leak --check misuses ./misnews clean
file_has err 'leak: --check misuses: expected misuse' 'is said'

# An operator new of the program's own calls malloc; its delete is the library's.
cat >own.cc <<'EOF'
#include <cstdlib>
#include <new>
void *operator new(std::size_t n) { return std::malloc(n); }
int *volatile held;
int main() { held = new int(3); delete held; }
EOF
ok 'a program with an operator new of its own is built' "${CXX:-g++}" -g -O0 -w -o own own.cc
leak ./own
is_int "$status" 0 'it is right'
sed 's/void \*operator new/__attribute__((visibility("hidden"))) &/' own.cc >hidden.cc
ok 'and one that keeps it for itself' "${CXX:-g++}" -g -O0 -w -o hidden hidden.cc
leak ./hidden
is_int "$status" 0 'that, too'
file_has err '^flame: leak: 0 misuses of the allocator$' 'as the function that calls malloc is one by its name'

# ---- suppressions ----

echo 'misuse:by_free' >free.supp
leak --suppressions free.supp ./misnews new-free
is_int "$status" 0 'misuse:PATTERN'
file_has err "^flame: leak: 1 misuse suppressed: free.supp:1: misuse:by_free \(1\)$" 'is counted'
leak --suppressions free.supp ./misnews malloc-delete
is_int "$status" 23 'another function'
file_has err 'suppression matches nothing: free.supp:1: misuse:by_free$' 'and the rule is named'
echo 'leak:by_free' >leak.supp
leak --suppressions leak.supp ./misnews new-free
is_int "$status" 23 'leak:PATTERN is for leaks'
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
is_int "$status" 0 "memcheck's file"
file_has err '3 misuses suppressed: mc.supp:2: a known one \(2\); mc.supp:9: of delete \(1\)$' 'each is counted'
echo 'misuse:' >bad.supp
run_expect_status 2 'no pattern' "$FLAME" leak --check misuse --suppressions bad.supp ./misnews clean
file_has err "there is no pattern behind 'misuse:'" 'is said'
leak --suppressions free.supp ./misnews new-free sized
is_int "$status" 23 'one of two'
file_has err '^flame: leak: 1 misuse of the allocator:$' 'is left'

done_testing
