#!/bin/bash
# flame top: rows, order, units, and a terminal.
. "${0%/*}/../lib.sh"

printf '# flame: view=live unit=bytes\nmain;a;b;a 3145728\nmain;b 1024\nmain;c 100\n' >in

run_expect_status 0 'top succeeds' "$FLAME" top in
is_str "$(cat err)" '' 'top prints nothing on standard error'
is_str "$(cat out)" 'Memory live at the end: 3.00 MiB, 3,146,852 bytes; 4 symbols
      self    self%       total   total%  symbol
  3.00 MiB   99.96%    3.00 MiB   99.96%  a
  1.00 KiB    0.03%    3.00 MiB  100.00%  b
   100   B    0.00%     100   B    0.00%  c
     0   B    0.00%    3.00 MiB  100.00%  main' 'top sorts by self and counts recursion once'
run "$FLAME" top -s total in
is_str "$(awk 'NR > 2 { print $NF }' out | tr '\n' ' ')" 'main b a c ' 'top -s total sorts by total'
run "$FLAME" top --sort=name in
is_str "$(awk 'NR > 2 { print $NF }' out | tr '\n' ' ')" 'a b c main ' 'top --sort=name sorts by name'
run "$FLAME" top -n 2 in
is_int "$(wc -l <out)" 4 'top -n 2 lists two rows'
run "$FLAME" top -e in
file_has out '^ *3,145,728 +99\.96% +3,145,728 +99\.96%  a$' 'top -e prints exact counts'
for i in $(seq 40); do echo "f$i $i"; done >many
run "$FLAME" top many
is_int "$(wc -l <out)" 32 'top lists thirty rows by default'
run "$FLAME" top -n 0 many
is_int "$(wc -l <out)" 42 'top -n 0 lists all rows'
file_has out '^All: 820 samples; 40 symbols$' 'top prints samples without a unit'
run "$FLAME" top - <in
ok 'top reads standard input' grep -q 'MiB' out

# Memory that malloc's wrappers allocated counts for their callers.
printf 'main;parse;xmalloc 10\nmain;parse;pool;operator new(long);malloc 5\nmain;emit;pool 3\n' >wraps
{ echo '# flame: view=alloc unit=bytes'; cat wraps; } >bytes
selves() {
    run "$FLAME" top -e "$@"
    awk 'NR > 2 && $1 != "0" { printf "%s%s %s", sep, $1, $NF; sep = ", " }' out
}
is_str "$(selves bytes)" '10 parse, 8 pool' "top of memory: self counts for the wrapper's caller"
is_str "$(selves --wrapper 'po*l' bytes)" '15 parse, 3 emit' '--wrapper names another wrapper'
is_str "$(selves --no-wrappers bytes)" '10 xmalloc, 5 malloc, 3 pool' \
    '--no-wrappers: self counts for the wrapper'
is_str "$(selves wraps)" '10 xmalloc, 5 malloc, 3 pool' 'top of samples has no wrappers'
is_str "$(selves --wrapper pool --wrapper xmalloc wraps)" '10 parse, 5 malloc, 3 emit' \
    'top of samples has the named wrappers'
run_expect_status 2 'top --wrapper with an empty name ends with status 2' "$FLAME" top --wrapper '' wraps
file_has err '^flame: .*--wrapper.*function' 'top --wrapper with an empty name says why'

printf 'main;run;a;x 10\nmain;run;a;y 20\nmain;run;b 30\nmain;tiny 1\n' >stacks
run_expect_status 0 'top --tree succeeds' "$FLAME" top --tree stacks
is_str "$(cat out)" 'All: 61 samples; 7 symbols
      self    self%       total   total%  symbol
         0    0.00%          61  100.00%  main
         0    0.00%          60   98.36%  ├ run
         0    0.00%          30   49.18%  │ ├ a
        20   32.79%          20   32.79%  │ │ ├ y
        10   16.39%          10   16.39%  │ │ └ x
        30   49.18%          30   49.18%  │ └ b
         1    1.64%           1    1.64%  └ tiny' 'top --tree prints callees below callers, the largest first'
run "$FLAME" top -t -n 3 stacks
is_str "$(sed 1,2d out | cut -c43-)" 'main
run
a' 'top --tree -n 3 prints the largest frames, a line of calls without indentation'
python3 -c 'print("f;" * 50000 + "leaf 5")' >deep
run "$FLAME" top -t -n 0 deep
is_int "$(wc -l <out)" 50003 'top --tree of a deep stack prints each frame'

# On a terminal of 60 columns, which script(1) makes.
if command -v script >/dev/null; then
    printf 'main;%s 5\n' "$(printf 'x%.0s' $(seq 200))" >wide
    on_terminal() {
        script -qec "stty cols 60; $1" /dev/null </dev/null | tr -d '\r'
    }
    on_terminal "TERM=xterm '$FLAME' top wide" >screen
    file_has screen $'\033\\[' 'top has colours on a terminal'
    on_terminal "NO_COLOR=1 TERM=xterm '$FLAME' top wide" >screen
    file_lacks screen $'\033' 'top with NO_COLOR has no colours on a terminal'
    is_int "$(LC_ALL=C.UTF-8 wc -L <screen)" 60 \
        'top truncates names to the width of a terminal'
    file_has screen 'xxx…$' 'top marks a truncated name'
    on_terminal "TERM=dumb '$FLAME' top wide" >screen
    file_lacks screen $'\033' 'top has no colours on a dumb terminal'
else
    skip script 'script(1) is not installed'
fi
run "$FLAME" top wide
file_lacks out $'\033' 'top has no colours on a pipe'
file_has out 'x{200}$' 'top prints complete names on a pipe'

done_testing
