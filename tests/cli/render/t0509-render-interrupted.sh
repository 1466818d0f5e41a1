#!/bin/bash
# Commands that a signal ends leave no unfinished output, and die of the signal.
. "${0%/*}/../lib.sh"

# The file of colours is open while the input is read.
mkfifo input
for signal in INT TERM HUP; do
    # A background job of a script ignores SIGINT; env gives it the default action again.
    env --default-signal=INT "$FLAME" render --cp=colours -o x.svg input 2>err &
    pid=$!
    exec 3>input
    echo 'a;b 1' >&3
    until_true compgen -G 'colours.tmp*' >/dev/null
    kill -s "$signal" "$pid"
    status=0
    wait "$pid" 2>/dev/null || status=$?
    exec 3>&-
    is_int "$status" $((128 + $(kill -l "$signal"))) "flame render dies of SIG$signal"
    is_str "$(echo colours* x.svg*)" 'colours* x.svg*' "SIG$signal leaves no unfinished file"
done

done_testing
