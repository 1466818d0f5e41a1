#!/bin/bash
# flame top: rows, order, units, and what it does on a terminal.
. "${0%/*}/../lib.sh"

printf '# flame: view=live unit=bytes\nmain;a;b;a 3145728\nmain;b 1024\nmain;c 100\n' >in

run_expect_status 0 'top' "$FLAME" top in
is_str "$(cat err)" '' 'says nothing'
is_str "$(cat out)" 'Memory live at the end: 3.00 MiB, 3,146,852 bytes; 4 symbols
      self    self%       total   total%  symbol
  3.00 MiB   99.96%    3.00 MiB   99.96%  a
  1.00 KiB    0.03%    3.00 MiB  100.00%  b
   100   B    0.00%     100   B    0.00%  c
     0   B    0.00%    3.00 MiB  100.00%  main' 'by self; recursion counts once'
run "$FLAME" top -s total in
is_str "$(awk 'NR > 2 { print $NF }' out | tr '\n' ' ')" 'main b a c ' 'by total'
run "$FLAME" top --sort=name in
is_str "$(awk 'NR > 2 { print $NF }' out | tr '\n' ' ')" 'a b c main ' 'by name'
run "$FLAME" top -n 2 in
is_int "$(wc -l <out)" 4 '-n 2 lists two'
run "$FLAME" top -e in
file_has out '^ *3,145,728 +99\.96% +3,145,728 +99\.96%  a$' 'exact digits'
for i in $(seq 40); do echo "f$i $i"; done >many
run "$FLAME" top many
is_int "$(wc -l <out)" 32 'thirty rows unless asked for more'
run "$FLAME" top -n 0 many
is_int "$(wc -l <out)" 42 '-n 0 lists all'
file_has out '^All: 820 samples; 40 symbols$' 'samples have no other unit'
run "$FLAME" top - <in
ok 'standard input' grep -q 'MiB' out

# Memory that malloc's wrappers allocated counts for their callers.
printf 'main;parse;xmalloc 10\nmain;parse;pool;operator new(long);malloc 5\nmain;emit;pool 3\n' >wraps
{ echo '# flame: view=alloc unit=bytes'; cat wraps; } >bytes
selves() {
    run "$FLAME" top -e "$@"
    awk 'NR > 2 && $1 != "0" { printf "%s%s %s", sep, $1, $NF; sep = ", " }' out
}
is_str "$(selves bytes)" '10 parse, 8 pool' "self is the wrapper's caller's"
is_str "$(selves --wrapper 'po*l' bytes)" '15 parse, 3 emit' '--wrapper names another'
is_str "$(selves --no-wrappers bytes)" '10 xmalloc, 5 malloc, 3 pool' '--no-wrappers: there is none'
is_str "$(selves wraps)" '10 xmalloc, 5 malloc, 3 pool' 'of samples there is none either'
is_str "$(selves --wrapper pool --wrapper xmalloc wraps)" '10 parse, 5 malloc, 3 emit' \
    'but those named'
run_expect_status 2 'a wrapper without a name' "$FLAME" top --wrapper '' wraps
file_has err '^flame: .*--wrapper.*function' 'says what is wrong'

printf 'main;run;a;x 10\nmain;run;a;y 20\nmain;run;b 30\nmain;tiny 1\n' >stacks
run_expect_status 0 'a tree' "$FLAME" top --tree stacks
is_str "$(cat out)" 'All: 61 samples; 7 symbols
      self    self%       total   total%  symbol
         0    0.00%          61  100.00%  main
         0    0.00%          60   98.36%  ├ run
         0    0.00%          30   49.18%  │ ├ a
        20   32.79%          20   32.79%  │ │ ├ y
        10   16.39%          10   16.39%  │ │ └ x
        30   49.18%          30   49.18%  │ └ b
         1    1.64%           1    1.64%  └ tiny' 'callees below callers, the largest first'
run "$FLAME" top -t -n 3 stacks
is_str "$(sed 1,2d out | cut -c43-)" 'main
run
a' '-n: the largest frames; a line of calls is not indented'
python3 -c 'print("f;" * 50000 + "leaf 5")' >deep
run "$FLAME" top -t -n 0 deep
is_int "$(wc -l <out)" 50003 'a deep stack'

# On a terminal of 60 columns, which script(1) makes.
if command -v script >/dev/null; then
    printf 'main;%s 5\n' "$(printf 'x%.0s' $(seq 200))" >wide
    on_terminal() {
        script -qec "stty cols 60; $1" /dev/null </dev/null | tr -d '\r'
    }
    on_terminal "TERM=xterm '$FLAME' top wide" >screen
    file_has screen $'\033\\[' 'colours on a terminal'
    on_terminal "NO_COLOR=1 TERM=xterm '$FLAME' top wide" >screen
    file_lacks screen $'\033' 'none with NO_COLOR'
    is_int "$(LC_ALL=C.UTF-8 wc -L <screen)" 60 \
        'names are cut to the width'
    file_has screen 'xxx…$' 'and say so'
    on_terminal "TERM=dumb '$FLAME' top wide" >screen
    file_lacks screen $'\033' 'none on a dumb terminal'
else
    skip script 'script(1) is not installed'
fi
run "$FLAME" top wide
file_lacks out $'\033' 'no colours on a pipe'
file_has out 'x{200}$' 'where names are whole'

done_testing
