#!/bin/bash
# flame top --by: modules, files, threads and processes of a recording with known answers, the columns of
# comparisons, and places that are only in names.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/placed.sh"

is_str "$(rows='lib(one|two|three|<)' places --by module)" "3200/3200 libtwo.so
51000/51000 libone.so
700/700 libthree.so
80/80 lib<script>alert(1):a b \"'\`.so" "top --by module has the modules' counts"
is_str "$(rows='^[0-9]+/[0-9]+ placed$' places --by module)" "0/$("$FLAME" fold --modules placed.flame \
    placed.flame/2 | awk '/;placed`/ { n += $NF } END { print n }') placed" \
    'top --by module counts a stack once for each module'
is_str "$(rows='placed_lib' places --by file)" "$("$FLAME" fold --lines placed.flame placed.flame/2 |
    awk '/placed_lib/ { n += $NF } END { print n "/" n }') placed_lib.c" "top --by file has the files' counts"
is_str "$(rows='libthree' places --by file)" '700/700 [libthree.so]' \
    'top --by file has the module of code without a file'
is_str "$(rows='helper' places --by function)" '54280/54280 helper' \
    'top --by function sums functions of one name'
is_str "$(rows='helper' places)" '54280/54280 helper' 'top sums functions of one name by default'

threads=$(places --by thread)
like "$threads" '^3000/3000 placed-[0-9]+$' 'top --by thread has a thread of the parent'
like "$threads" '^50000/50000 placed-[0-9]+$' "top --by thread has the child's thread"
is_int "$(wc -l <<<"$threads")" 3 'top --by thread has three threads'
processes=$(places --by process)
is_int "$(wc -l <<<"$processes")" 2 'top --by process has two processes'
like "$processes" '50000/50000 placed-[0-9]+' 'top --by process has the child'
is_int "$(awk '{ n += $1 } END { print n }' <<<"$processes")" \
    "$("$FLAME" fold placed.flame placed.flame/2 | awk '!/^#/ { n += $NF } END { print n }')" \
    'top --by process sums to the whole'

# Self is what is left when malloc's wrappers are taken away, as for functions.
printf '# flame: view=alloc unit=bytes\n# flame: modules=prefix\napp;app`main;libx.so`get;%s 7\napp;app`main 2\napp 1\n' \
    'libc++.so`operator new(unsigned long);libc.so`malloc' >wraps
self() {
    "$FLAME" top -e "$@" | awk 'NR > 2 { printf "%s%s/%s %s", sep, $1, $3, $NF; sep = ", " }'
}
is_str "$(self --by module wraps)" '7/7 libx.so, 2/9 app, 1/1 [unknown], 0/7 libc++.so, 0/7 libc.so' \
    'top --by module: self counts for the module outside of wrappers'
is_str "$(self --by module --no-wrappers wraps)" \
    '7/7 libc.so, 2/9 app, 1/1 [unknown], 0/7 libc++.so, 0/7 libx.so' \
    'top --by module --no-wrappers: self counts where stacks end'
is_str "$(self --by module -s total wraps)" \
    '2/9 app, 0/7 libc++.so, 0/7 libc.so, 7/7 libx.so, 1/1 [unknown]' 'top --by module -s total sorts by total'
is_str "$(self --by module --focus '^get$' wraps)" '7/7 libx.so, 0/7 app, 0/7 libc++.so, 0/7 libc.so' \
    'top --by module --focus matches names of functions'
file_has <("$FLAME" top --by module -t wraps) 'libc\+\+\.so' 'top --by module --tree is a tree of modules'

# Recursion through modules, and frames of the recorder's own.
printf '# flame: modules=prefix\nr;a`f;b`g;a`f;b`g 3\nr;a`f;[anonymous memory] 4\nr;[unknown+0x12] 5\nr;x_[j] 6\n' >odd
is_str "$(self --by module odd)" '6/6 [jit], 5/5 [unknown], 4/7 a, 3/3 b' \
    'top --by module counts recursion once, and frames without a module for their caller'

# Names alone.
printf 'a;f (/usr/lib/libq.so.1) 3\na;libr`g 4\na;h 5\n' >names
is_str "$(self --by module names)" '5/12 [unknown], 4/4 libr, 3/3 libq.so.1' \
    'top --by module finds modules in names'
printf 'a;b 3\n' >plain
run_expect_status 2 'top --by module without modules ends with status 2' "$FLAME" top --by module plain
is_str "$(cat err)" 'flame: top: --by: no frame here says where its code lies' \
    'top --by module without modules says why'
run_expect_status 2 'top --by thread without threads ends with status 2' "$FLAME" top --by thread plain
file_has err 'no stack here says which thread it is of; give the trace' \
    'top --by thread without threads says why'
printf 'app-11/11;a 3\napp-11/12;a 4\nweb-13/13;b 5\nnamed-11/14;b 1\n' >perf
is_str "$(self --by thread perf)" '5/5 web-13/13, 4/4 app-11/12, 3/3 app-11/11, 1/1 named-11/14' \
    'top --by thread finds the threads of perf'
is_str "$(self --by process perf)" '8/8 app-11/12, 5/5 web-13/13' \
    'top --by process names a process by most of its stacks'
run_expect_status 2 'top --by process --ancestors ends with status 2' \
    "$FLAME" top --by process --ancestors placed.flame
file_has err 'choose one' 'top --by process --ancestors says why'

# Comparisons.
printf 'm;a;b 10 30\nm;a 5 1\nm;c 20 0\n' >two
is_str "$("$FLAME" top two)" 'All: 35 samples before, 31 samples after; 4 symbols
  self before   self after  self change of before total before  total after       change of before  symbol
           10           30          +20   +57.14%           10           30          +20   +57.14%  b
            5            1           -4   -11.43%           15           31          +16   +45.71%  a
            0            0            0     0.00%           35           31           -4   -11.43%  m
           20            0          -20   -57.14%           20            0          -20   -57.14%  c' \
    'top of a comparison has before, after and change'
printf '# flame: view=alloc unit=bytes\nm;much 4000000 3\n' >less
is_str "$("$FLAME" top -e less | awk 'NR > 1 { print length($0) - length($NF) }' | uniq | wc -l)" 1 \
    'top of a comparison has columns wide enough for the counts before'
printf 'm;gone 4 0\n' >gone
is_str "$("$FLAME" top gone | awk '$NF == "gone" { print $1, $2, $3, $4 }')" '4 0 -4 -100.00%' \
    'top of a comparison has a symbol only before'
names() {
    "$FLAME" top "$@" | awk 'NR > 2 { printf "%s%s", sep, $NF; sep = " " }'
}
is_str "$(names -s self-change two)" 'b c a m' 'top -s self-change sorts by the change of self, then by total'
is_str "$(names -s change two)" 'b c a m' 'top -s change sorts by the change of total'
run_expect_status 2 'top -s change of one profile ends with status 2' "$FLAME" top -s change plain
file_has err "of comparisons, which 'flame diff' writes" 'top -s change of one profile says why'
printf '# flame: modules=prefix\nm;x`a;y`b 10 30\nm;x`a 5 1\n' >two
is_str "$("$FLAME" top --by module two | awk 'NR > 2 { print $2, $6, $3, $7, $9 }')" '30 30 +20 +20 y
1 31 -4 +16 x' 'top --by module of a comparison has before, after and change'

done_testing
