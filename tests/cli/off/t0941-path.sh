#!/bin/bash
# flame path: its figures are those of --view critical, its pictures are those of fold and render; ranges,
# threads and regions; rules of --what-if; hostile names; wrong options and wrong input.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim waypoints -pthread
compile_victim markedregions -pthread

# us TEXT: a time as flame prints it, in microseconds
us() { awk '{ unit["ns"] = 0.001; unit["ms"] = 1000; unit["s"] = 1000000; unit["\302\265s"] = 1
    printf "%.0f\n", $1 * unit[$2] }' <<<"$1"; }
# of KEY: a field of the path in the comments of a fold; bound RULE: of a line of --what-if
of() { sed -nE "s/^# critical: path(.*)? $1=([0-9]+).*/\\2/p" folded; }
bound() { us "$(grep -F "  $1: at most -" "${2:-out}" | sed -E 's/.*: at most -([0-9.]+ [^ ]+) .*/\1/')"; }
# rounded GOT WANT: in us; printed times have three digits or more
rounded() { [ $((($1 > $2 ? $1 - $2 : $2 - $1) * 100)) -le $(($2 + 100)) ]; }

off ./waypoints lock
"$FLAME" fold --view critical t.flame >folded
run_expect_status 0 'flame path succeeds' "$FLAME" path t.flame
is_str "$(cat err)" '' 'flame path prints nothing on standard error'
like "$(head -n 1 out)" '^Critical path: [0-9.]+ ms to the end of waypoints, through 3 threads$' \
    'flame path begins with the length'
ok 'flame path has the length of the view critical' \
    rounded "$(us "$(sed -nE '1s/^Critical path: ([0-9.]+ [^ ]+).*/\1/p' out)")" $(($(of length) / 1000))
ok 'flame path has the waited time of the view critical' \
    rounded "$(us "$(awk '/waited for time/ { print $1, $2 }' out)")" $(($(of waited) / 1000))
file_has out '^ +[0-9.]+ ms +[0-9.]+%  first \([0-9]+\)$' 'flame path lists the threads'
file_has out '^ +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+% +[0-9]+  nanosleep$' 'flame path lists what was waited for'
file_has out '^ +- +.* 1  \[end of a thread\]$' 'flame path gives no bound for the end of threads'
cp out whole
run_expect_status 0 'flame path of standard input succeeds' sh -c "'$FLAME' path - <t.flame"
is_str "$(cat out)" "$(cat whole)" 'flame path of standard input is the same'

# ---- pictures ----

"$FLAME" path -o a.folded t.flame
is_str "$(cat a.folded)" "$(cat folded)" 'flame path -o x.folded is flame fold --view critical'
is_str "$("$FLAME" path --folded t.flame)" "$(cat folded)" 'flame path --folded is flame fold --view critical'
"$FLAME" path --from 0.02 --to 100.5ms --folded t.flame >got
"$FLAME" fold --view critical --from 0.02 --to 100.5ms t.flame >want
is_str "$(cat got)" "$(cat want)" 'flame path --folded of a range is that of flame fold'
for ending in svg html; do
    "$FLAME" path --ends-in first -o "a.$ending" t.flame
    "$FLAME" render --view critical --ends-in first -o "b.$ending" t.flame
    ok "flame path -o x.$ending is that of flame render" cmp -s "a.$ending" "b.$ending"
done

# ---- a part of it ----

run_expect_status 0 'flame path of a range succeeds' "$FLAME" path --from 20ms --to 140ms t.flame
# A slow machine's recording begins later than its first 20 ms.
like "$(head -n 1 out)" '^Critical path: [0-9.]+ ms in waypoints, from [0-9.]+ ms to 140.0 ms, through [0-9]' \
    'flame path of a range says which'
run_expect_status 0 'flame path --ends-in succeeds' "$FLAME" path --ends-in first t.flame
like "$(head -n 1 out)" '^Critical path: .* to the end of first, ' 'flame path --ends-in says in which thread'
file_lacks out '  later ' 'flame path --ends-in has no later thread'

# ---- rules ----

run_expect_status 0 'flame path --what-if succeeds' "$FLAME" path --what-if nanosleep=0 --what-if hold_it=0.5 \
    --what-if way_lock=0 --what-if way_lock=1 t.flame
is_str "$(cat err)" '' 'flame path --what-if prints nothing on standard error'
ok 'flame path prints the same path with --what-if' cmp -s whole <(head -n "$(wc -l <whole)" out)
table=$(us "$(awk '$NF == "nanosleep" { print $1, $2 }' whole)")
ok 'the bound of a rule is not above that of its thing' test "$(bound nanosleep=0)" -le $((table + 100))
ok 'without its sleeps the program would be much shorter' test "$(bound nanosleep=0)" -ge 150000
# hold_it sleeps for 150 ms.
ok 'half a sleep is half its time' test "$(bound hold_it=0.5)" -ge 74000
ok 'half a sleep is no more than half the path' test "$(bound hold_it=0.5)" -le $(($(of length) / 2000))
is_int "$(bound way_lock=1)" 0 'waits that keep their time gain nothing'
file_has out '^  way_lock=1: .*; 1 wait on the path, ended by its threads$' 'waits that keep their time are counted'
file_has out '^  all together: at most -[0-9.]+ ms ' 'several rules are tried together, too'
ok 'all rules together gain no less than each' test "$(bound 'all together')" -ge "$(bound nanosleep=0)"

run_expect_status 0 'flame path --what-if that matches nothing succeeds' "$FLAME" path --what-if 'no such=0' t.flame
is_str "$(cat err)" "flame: path: --what-if no such=0: no wait of the recording matches; 'flame fold --view off' has the names" \
    'flame path --what-if that matches nothing says so'
file_has out '^  no such=0: at most -0 ns \(0.00%\) with the same work done; no wait matches$' \
    'flame path --what-if that matches nothing gains nothing'
run_expect_status 0 'flame path --what-if of a wait off the path succeeds' \
    "$FLAME" path --ends-in first --what-if way_lock=0 t.flame
is_str "$(cat err)" '' 'flame path --what-if of a wait off the path warns of nothing'
file_has out '^  way_lock=0: at most -0 ns \(0.00%\) .*; no wait on the path matches, only 1 other, [0-9.]+ ms$' \
    'flame path --what-if of a wait off the path says so'
run_expect_status 0 'flame path --cpus succeeds' "$FLAME" path --cpus 1 --what-if nanosleep=0 t.flame

off --region request ./markedregions lock
run_expect_status 0 'flame path --region succeeds' "$FLAME" path --region request --what-if 'futex lock=0' t.flame
like "$(head -n 1 out)" '^Critical path: [0-9.]+ ms of 2 regions, through [0-9]+ threads$' \
    'flame path --region says of how many'
"$FLAME" fold --view critical --region request t.flame >folded
ok 'the bound of a rule is not above the regions' test "$(bound 'futex lock=0')" -le $(($(of length) / 1000 + 1000))
ok 'regions that wait for a lock have a bound' test "$(bound 'futex lock=0')" -gt 0

# A name that would turn the terminal's text red; and one of an object.
run timeout 60 "$FLAME" off -q -o named.flame -- \
    bash -c 'printf "\033[31m" >/proc/self/comm; mkfifo "$1"; (sleep 0.1; echo >"$1") & read -r _ <"$1"' x $'red\033[0m'
is_int "$status" 0 'flame off of hostile names succeeds'
run_expect_status 0 'flame path of hostile names succeeds' "$FLAME" path --what-if $'red\033=0' named.flame
ok 'flame path prints no control of a name' sh -c '! grep -q "$(printf "\033")" out err'

# ---- wrong input ----

refused() {
    local name=$1 words=$2
    shift 2
    run_expect_status 2 "flame path refuses $name" "$FLAME" path "$@"
    is_str "$(wc -l <err) $(wc -c <out)" '1 0' "flame path refuses $name with one line, and prints nothing"
    file_has err "^flame: $words" "flame path says what is wrong with $name"
}

off ./waypoints joins
refused 'no file' 'path: takes one trace; got 0; '
refused 'two files' 'path: takes one trace; got 2; ' t.flame t.flame
refused 'a file that is not there' 'nosuch.flame: cannot read: ' nosuch.flame
refused 'folded text' 'path: folded: is folded text, which has no times; give it the trace' folded
echo 'no trace' >other
refused 'another file' 'other: ' other
refused 'a rule without a part' 'path: --what-if futex: expected REGEX=PART, ' --what-if futex t.flame
refused 'a part above 1' 'path: --what-if futex=2: expected REGEX=PART, .* from 0 to 1' --what-if futex=2 t.flame
refused 'a negative part' 'path: --what-if futex=-1: expected' --what-if futex=-1 t.flame
refused 'a rule that is no expression' 'path: --what-if \(=0: no regular expression: .*, at its end' \
    --what-if '(=0' t.flame
refused 'rules for a picture' 'path: --what-if is of the words, ' --what-if futex=0 -o x.svg t.flame
refused 'rules for folded stacks' 'path: --what-if is of the words, ' --what-if futex=0 --folded t.flame
refused 'processors without a rule' 'path: --cpus is of --what-if; ' --cpus 2 t.flame
refused 'no processors' 'path: --cpus 0: ' --cpus 0 --what-if futex=0 t.flame
refused 'processors for regions' 'path: --cpus is of one path, ' --cpus 2 --what-if futex=0 --region r t.flame
refused 'a range that is none' 'path: --from is not before --to; ' --from 2 --to 1 t.flame
refused 'a range behind the end' 't.flame: --from: nothing was recorded then; ' --from 1000 t.flame
refused 'a time that is none' 'path: --from x: expected a time ' --from x t.flame
refused 'an unknown thread' '--ends-in nosuch: no thread has that number or name, ' --ends-in nosuch t.flame
refused 'a range of regions' 'path: --region says when; ' --region r --from 1 t.flame
refused 'a recording without regions' 't.flame: ' --region nosuch t.flame
refused 'an unknown suffix' 'render: -o x.pdf: its suffix names no format; ' -o x.pdf t.flame
refused 'a picture of a wrong range' 'path: --from is not before --to; ' --from 2 --to 1 -o x.svg t.flame
ok 'flame path leaves no file where it refuses' sh -c '! ls x.*'

"$FLAME" off -q --lanes off -o without.flame -- ./waypoints joins >out
refused 'a trace without lanes' 'without.flame: recorded without when threads waited' without.flame
run timeout 60 "$FLAME" mem -q -o memory.flame -- true
refused 'a trace of memory' "memory.flame: a trace of memory; there is no view 'critical' of it" memory.flame

run_expect_status 1 'flame path to a full disk ends with status 1' sh -c "'$FLAME' path t.flame >/dev/full"
file_has err '^flame: standard output: cannot write: ' 'flame path to a full disk says so'

done_testing
