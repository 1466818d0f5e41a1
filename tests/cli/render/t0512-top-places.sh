#!/bin/bash
# flame top --by: modules, files, threads and processes of a recording whose answer is known, what
# comparisons add to the table, and places that only names tell.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/placed.sh"

is_str "$(rows='lib(one|two|three|<)' places --by module)" "3200/3200 libtwo.so
51000/51000 libone.so
700/700 libthree.so
80/80 lib<script>alert(1):a b \"'\`.so" 'modules, and what they took'
is_str "$(rows='^[0-9]+/[0-9]+ placed$' places --by module)" "0/$("$FLAME" fold --modules placed.flame \
    placed.2.flame | awk '/;placed`/ { n += $NF } END { print n }') placed" 'a stack counts once for each'
is_str "$(rows='placed_lib' places --by file)" "$("$FLAME" fold --lines placed.flame placed.2.flame |
    awk '/placed_lib/ { n += $NF } END { print n "/" n }') placed_lib.c" 'files'
is_str "$(rows='libthree' places --by file)" '700/700 [libthree.so]' 'where there is none the module'
is_str "$(rows='helper' places --by function)" '54280/54280 helper' 'functions go by their name'
is_str "$(rows='helper' places)" '54280/54280 helper' 'as without it'

threads=$(places --by thread)
like "$threads" '^3000/3000 placed-[0-9]+$' 'a thread'
like "$threads" '^50000/50000 placed-[0-9]+$' 'and that of the child'
is_int "$(wc -l <<<"$threads")" 3 'which are all'
processes=$(places --by process)
is_int "$(wc -l <<<"$processes")" 2 'two processes'
like "$processes" '50000/50000 placed-[0-9]+' 'one of which is the child'
is_int "$(awk '{ n += $1 } END { print n }' <<<"$processes")" \
    "$("$FLAME" fold placed.flame placed.2.flame | awk '!/^#/ { n += $NF } END { print n }')" \
    'and both are all there is'

# Self is what is left when malloc's wrappers are taken away, as for functions.
printf '# flame: view=alloc unit=bytes\n# flame: modules=prefix\napp;app`main;libx.so`get;%s 7\napp;app`main 2\napp 1\n' \
    'libc++.so`operator new(unsigned long);libc.so`malloc' >wraps
self() {
    "$FLAME" top -e "$@" | awk 'NR > 2 { printf "%s%s/%s %s", sep, $1, $3, $NF; sep = ", " }'
}
is_str "$(self --by module wraps)" '7/7 libx.so, 2/9 app, 1/1 [unknown], 0/7 libc++.so, 0/7 libc.so' \
    'self is outside wrappers'
is_str "$(self --by module --no-wrappers wraps)" \
    '7/7 libc.so, 2/9 app, 1/1 [unknown], 0/7 libc++.so, 0/7 libx.so' 'or where stacks end'
is_str "$(self --by module -s total wraps)" \
    '2/9 app, 0/7 libc++.so, 0/7 libc.so, 7/7 libx.so, 1/1 [unknown]' 'sorted by total'
is_str "$(self --by module --focus '^get$' wraps)" '7/7 libx.so, 0/7 app, 0/7 libc++.so, 0/7 libc.so' \
    'filters know functions by their names'
file_has <("$FLAME" top --by module -t wraps) 'libc\+\+\.so' 'a tree is of modules'

# Recursion through modules, and frames of the recorder's own.
printf '# flame: modules=prefix\nr;a`f;b`g;a`f;b`g 3\nr;a`f;[anonymous memory] 4\nr;[unknown+0x12] 5\nr;x_[j] 6\n' >odd
is_str "$(self --by module odd)" '6/6 [jit], 5/5 [unknown], 4/7 a, 3/3 b' \
    'each stack once, what has no module with its caller'

# Names alone.
printf 'a;f (/usr/lib/libq.so.1) 3\na;libr`g 4\na;h 5\n' >names
is_str "$(self --by module names)" '5/12 [unknown], 4/4 libr, 3/3 libq.so.1' 'modules that names tell'
printf 'a;b 3\n' >plain
run_expect_status 2 'no module' "$FLAME" top --by module plain
is_str "$(cat err)" 'flame: top: --by: no frame here says where its code lies' 'is said'
run_expect_status 2 'no thread' "$FLAME" top --by thread plain
file_has err 'no stack here says which thread it is of; give the trace' 'is said, too'
printf 'app-11/11;a 3\napp-11/12;a 4\nweb-13/13;b 5\nnamed-11/14;b 1\n' >perf
is_str "$(self --by thread perf)" '5/5 web-13/13, 4/4 app-11/12, 3/3 app-11/11, 1/1 named-11/14' \
    'threads of perf'
is_str "$(self --by process perf)" '8/8 app-11/12, 5/5 web-13/13' 'a process goes by most of it'
run_expect_status 2 'ancestors' "$FLAME" top --by process --ancestors placed.flame
file_has err 'choose one' 'and roots of its own do not go together'

# Comparisons.
printf 'm;a;b 10 30\nm;a 5 1\nm;c 20 0\n' >two
is_str "$("$FLAME" top two)" 'All: 35 samples before, 31 samples after; 4 symbols
  self before   self after  self change of before total before  total after       change of before  symbol
           10           30          +20   +57.14%           10           30          +20   +57.14%  b
            5            1           -4   -11.43%           15           31          +16   +45.71%  a
            0            0            0     0.00%           35           31           -4   -11.43%  m
           20            0          -20   -57.14%           20            0          -20   -57.14%  c' \
    'before, after, and the change'
printf '# flame: view=alloc unit=bytes\nm;much 4000000 3\n' >less
is_str "$("$FLAME" top -e less | awk 'NR > 1 { print length($0) - length($NF) }' | uniq | wc -l)" 1 \
    'columns are as wide as what was before'
printf 'm;gone 4 0\n' >gone
is_str "$("$FLAME" top gone | awk '$NF == "gone" { print $1, $2, $3, $4 }')" '4 0 -4 -100.00%' 'where nothing is left'
names() {
    "$FLAME" top "$@" | awk 'NR > 2 { printf "%s%s", sep, $NF; sep = " " }'
}
is_str "$(names -s self-change two)" 'b c a m' 'by the change of self, the larger total first'
is_str "$(names -s change two)" 'b c a m' 'and by that of all'
run_expect_status 2 'one profile' "$FLAME" top -s change plain
file_has err "of comparisons, which 'flame diff' writes" 'has no change'
printf '# flame: modules=prefix\nm;x`a;y`b 10 30\nm;x`a 5 1\n' >two
is_str "$("$FLAME" top --by module two | awk 'NR > 2 { print $2, $6, $3, $7, $9 }')" '30 30 +20 +20 y
1 31 -4 +16 x' 'of modules, too'

done_testing
