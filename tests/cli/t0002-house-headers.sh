#!/bin/bash
# Every header compiles alone, and every file's name is the only one of its kind.
. "${0%/*}/lib.sh"
cd "$ROOT" || exit 1

headers=$(ls {common,unwind,preload,tracer,fold,render,driver,tests}/*.h 2>/dev/null)
flags=$(pkg-config --cflags libdwarf 2>/dev/null)
alone=true
for header in $headers; do
    echo "#include \"$header\"" >"$SCRATCH/alone.c"
    # shellcheck disable=SC2086 # flags are words
    if ! "${CC:-gcc}" -std=gnu11 -I. $flags -Wall -Wextra -Werror -fsyntax-only \
        "$SCRATCH/alone.c" >"$SCRATCH/cc.out" 2>&1; then
        alone=false
        test_fail "$header compiles alone" "$(head -5 "$SCRATCH/cc.out")"
    fi
done
ok "headers compile alone" $alone

guards=$(for header in $headers; do
    want=FLAME_$(echo "${header%.h}" | tr 'a-z/-' 'A-Z__')_H
    grep -q "^#ifndef $want\$" "$header" || echo "$header: want $want"
done)
is_str "$guards" '' 'include guards follow the path'

is_str "$(find common unwind preload tracer fold render driver tests -name '*.[ch]' 2>/dev/null |
    sed 's|.*/||' | sort | uniq -d)" '' 'no two source files share a name'

# Files of the tree, not what a build left in it.
sources=$(find flame.c common unwind preload tracer fold render driver -name '*.c' 2>/dev/null)
# The children of launch.c and spawn.c end themselves when exec fails, switchcost.c's when
# nobody stops it; tracing.c's is the
# tracing process, whose end is how it lets go.
# shellcheck disable=SC2086 # a list of names without blanks
is_str "$(grep -lE '\b(_exit|exit|quick_exit|abort) *\(' $sources |
    grep -vE '_main\.c$|^common/strbuf\.c$|^driver/launch\.c$|^fold/guarded\.c$|^tracer/(spawn|tracing|switchcost)\.c$|^preload/' | sort)" '' \
    'only a *_main.c, strbuf.c out of memory, and forked children may end'

done_testing
