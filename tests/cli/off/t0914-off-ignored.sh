#!/bin/bash
# Only tracing makes ignored signals stop a program: no call may end because of them.
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
is_int $? 0 'ignorant launched under the filter ends with status 0'
is_str "$(cat filter.out)" "$want" 'under the filter, ignored signals neither end nor prolong a call'
wait $all
is_int $? 0 'ignorant under --no-filter ends with status 0'
is_str "$(cat all.out)" "$want" '--no-filter: ignored signals neither end nor prolong a call'
wait $inside
is_int $? 0 'ignorant under --in-process ends with status 0'
is_str "$(cat inside.out)" "$want" '--in-process: ignored signals neither end nor prolong a call'
wait $attached
is_int $? 0 'ignorant under flame off -p ends with status 0'
is_str "$(cat attached/out)" "$want" 'flame off -p: ignored signals neither end nor prolong a call'
wait $flame
# Three signals in each of the calls; the sleeps before and after them have one stack. On a
# loaded machine its thread also waits for a CPU and is stopped, each time it is woken.
slept=$(oview off | sum ';in_epoll;')
awake=$(besides tid="^$attached\$")
ok "flame off -p counts all of an interrupted sleep: $slept us, and $awake us on the way" \
    test "$slept" -gt 0 -a $((slept + awake)) -ge 897000

# A call that no signal has ended is not made again.
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
    is_int "$status" 0 "$how: partial writes to sockets are completed"
    is_str "$(cat out)" "$want" "$how: partial writes to sockets have the results as untraced"
done
done_testing
