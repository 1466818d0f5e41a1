#!/bin/bash
# flame leak: the blocks of a child with a sanitizer cannot be scanned. It runs
# without the recorder, and is named.
. "${0%/*}/../lib.sh"

printf 'int main(void) { return 0; }\n' >nothing.c
for sanitizer in leak address; do
    ok "a program with -fsanitize=$sanitizer is built" gcc -fsanitize=$sanitizer -o with_$sanitizer nothing.c
    run_expect_status 24 "flame leak with a child of -fsanitize=$sanitizer ends with status 24" \
        "$FLAME" leak -- sh -c "./with_$sanitizer; true"
    file_has err "not recorded: with_$sanitizer \\(built with a sanitizer\\)" \
        "flame leak names a child of -fsanitize=$sanitizer"
done

# Its runtime allocates before the C library knows the environment with flame's options.
printf '#include <stdlib.h>\nvoid *p;\nint main(void) { p = malloc(7777); return 0; }\n' >keeps.c
ok 'keeps_leak is built' gcc -fsanitize=leak -o keeps_leak keeps.c
export LSAN_OPTIONS=detect_leaks=0
run_expect_status 0 'flame mem with a child of -fsanitize=leak succeeds' \
    "$FLAME" mem --view alloc -o x.folded -- sh -c './keeps_leak; true'
file_lacks err 'not recorded' 'flame mem records a child of -fsanitize=leak'
file_has x.folded ';main 7777$' 'flame mem has the blocks of a child of -fsanitize=leak'
run_expect_status 0 'flame mem of a program of -fsanitize=leak succeeds' \
    "$FLAME" mem --view alloc -o x.folded -- ./keeps_leak
file_has x.folded ';main 7777$' 'flame mem has the blocks of a program of -fsanitize=leak'
is_str "$(find . -name '*.flame')" '' 'a program of -fsanitize=leak leaves no trace in the current directory'

done_testing
