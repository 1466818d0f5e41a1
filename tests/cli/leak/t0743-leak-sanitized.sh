#!/bin/bash
# flame leak: a child with a sanitizer in it has its blocks kept from being looked at. It runs
# without the recorder, and is named.
. "${0%/*}/../lib.sh"

printf 'int main(void) { return 0; }\n' >nothing.c
for sanitizer in leak address; do
    ok "a program with -fsanitize=$sanitizer" gcc -fsanitize=$sanitizer -o with_$sanitizer nothing.c
    run_expect_status 24 "$sanitizer: as a child" "$FLAME" leak -- sh -c "./with_$sanitizer; true"
    file_has err "not recorded: with_$sanitizer \\(built with a sanitizer\\)" "$sanitizer: is named"
done

# Its run time allocates before the C library knows the environment, which has our options.
printf '#include <stdlib.h>\nvoid *p;\nint main(void) { p = malloc(7777); return 0; }\n' >keeps.c
ok 'a program with -fsanitize=leak' gcc -fsanitize=leak -o keeps_leak keeps.c
export LSAN_OPTIONS=detect_leaks=0
run_expect_status 0 'where no leaks are looked for' \
    "$FLAME" mem --view alloc -o x.folded -- sh -c './keeps_leak; true'
file_lacks err 'not recorded' 'LeakSanitizer alone is no reason'
file_has x.folded ';main 7777$' 'and the child is recorded'
run_expect_status 0 'the same alone' "$FLAME" mem --view alloc -o x.folded -- ./keeps_leak
file_has x.folded ';main 7777$' 'it is recorded'
is_str "$(find . -name '*.flame')" '' 'and leaves no trace behind'

done_testing
