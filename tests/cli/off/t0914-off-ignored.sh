#!/bin/bash
# Signals a program ignores reach it only because it is traced: no call ends for them.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim ignorant

want='ready
epoll_wait ok
epoll_pwait2 ok
semtimedop ok
sigtimedwait ok
semop ok'

: >go
"$FLAME" off -q --no-in-process -o filter.folded -- ./ignorant >filter.out 2>filter.err </dev/null &
filter=$!
"$FLAME" off -q --no-filter -o all.folded -- ./ignorant >all.out 2>all.err </dev/null &
all=$!
"$FLAME" off -q --in-process -o inside.folded -- ./ignorant >inside.out 2>inside.err </dev/null &
inside=$!
mkdir attached
(cd attached && exec ../ignorant >out 2>err </dev/null) &
attached=$!
until_true test -s attached/out
"$FLAME" off -q -o t.flame -p $attached 2>err </dev/null &
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
slept=$(oview off | sum ';in_epoll;')
awake=$(besides tid="^$attached\$")
ok "all of the sleep is counted: $slept us, and $awake us on the way" \
    test "$slept" -gt 0 -a $((slept + awake)) -ge 897000

# Nor is a call made again that no signal has ended.
compile_victim halfwritten -pthread
want='closed: a part
late: a part in time
reset: a part, then Connection reset by peer'
as_untraced() {
    run "$FLAME" off -q "$1" -o half.folded -- ./halfwritten
    [ "$status" = 0 ] && [ "$(cat out)" = "$want" ]
}
for how in --no-in-process --no-filter --in-process; do
    # (A loaded machine may need a second more by itself.)
    again 5 as_untraced $how
    is_int "$status" 0 "$how: writes to sockets that end with a part are whole"
    is_str "$(cat out)" "$want" 'and what comes of them is the same'
done
done_testing
