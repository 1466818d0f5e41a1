#!/bin/bash
# Signals a program ignores reach it only because it is traced: no call ends for them.
. "${0%/*}/../lib.sh"

compile_victim ignorant

want='ready
epoll_wait ok
epoll_pwait2 ok
semtimedop ok
sigtimedwait ok
semop ok'

: >go
"$FLAME" off -q --no-inside -o filter.folded -- ./ignorant >filter.out 2>filter.err </dev/null &
filter=$!
"$FLAME" off -q --no-filter -o all.folded -- ./ignorant >all.out 2>all.err </dev/null &
all=$!
"$FLAME" off -q --inside -o inside.folded -- ./ignorant >inside.out 2>inside.err </dev/null &
inside=$!
mkdir attached
(cd attached && exec ../ignorant >out 2>err </dev/null) &
attached=$!
until_true test -s attached/out
"$FLAME" off -q -o attached.flame -p $attached 2>err </dev/null &
flame=$!
until_traced $attached
: >attached/go
wait $filter
is_int $? 0 'launched'
is_str "$(cat filter.out)" "$want" 'no call was cut short or went on too long'
wait $all
is_int $? 0 'without a filter'
is_str "$(cat all.out)" "$want" 'likewise'
wait $inside
is_int $? 0 'with calls noted from inside'
is_str "$(cat inside.out)" "$want" 'likewise'
wait $attached
is_int $? 0 'attached to'
is_str "$(cat attached/out)" "$want" 'likewise'
wait $flame
# Three signals in each of the calls; what a call slept before and after them is in one stack. On a
# loaded machine its thread also waits for a CPU and stands, each time it is woken.
slept=$("$FLAME" fold --no-header attached.flame | awk '/;in_epoll;/ {n += $NF} END {print n + 0}')
awake=$("$FLAME" dump attached.flame | pid=$attached awk '
    { for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
    $1 == "thread" && v["tid"] == ENVIRON["pid"] { id = v["id"]; us += v["runq_ns"] / 1000 }
    $1 == "row" && v["thread"] == id && v["kind"] == "tracer" { us += v["blocked_ns"] / 1000 }
    END { printf "%d", us }')
ok "all of the sleep is counted: $slept us, and $awake us on the way" \
    test "$slept" -ge $((870000 - awake))
done_testing
