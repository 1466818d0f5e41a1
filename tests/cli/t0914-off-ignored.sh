#!/bin/bash
# Signals a program ignores reach it only because it is traced: no call ends for them.
. "${0%/*}/lib.sh"

compile_victim ignorant

until_true() {
    for _ in $(seq 500); do
        "$@" && return
        sleep 0.02
    done
}

want='ready
epoll_wait ok
epoll_pwait2 ok
semtimedop ok
sigtimedwait ok
semop ok'

: >go
"$FLAME" off -q -o filter.folded -- ./ignorant >filter.out 2>filter.err </dev/null &
filter=$!
"$FLAME" off -q --no-filter -o all.folded -- ./ignorant >all.out 2>all.err </dev/null &
all=$!
mkdir attached
(cd attached && exec ../ignorant >out 2>err </dev/null) &
attached=$!
until_true test -s attached/out
"$FLAME" off -q -o attached.folded -p $attached 2>err </dev/null &
flame=$!
until_true grep -q '^TracerPid:.[1-9]' /proc/$attached/status
: >attached/go
wait $filter
is_int $? 0 'launched'
is_str "$(cat filter.out)" "$want" 'no call was cut short or went on too long'
wait $all
is_int $? 0 'without a filter'
is_str "$(cat all.out)" "$want" 'likewise'
wait $attached
is_int $? 0 'attached to'
is_str "$(cat attached/out)" "$want" 'likewise'
wait $flame
# Three signals in each of the calls; what a call slept before and after them is in one stack.
is_int "$(awk '/;in_epoll;/ {n += $NF} END {print (n >= 870000)}' attached.folded)" 1 \
    'all of the sleep is counted'
done_testing
