#!/bin/bash
# Processes that outlive the command: nothing on their standard error, and it is said.
. "${0%/*}/../lib.sh"

compile_victim outlives
compile_victim executes -ldl
mkdir tmp
export TMPDIR=$SCRATCH/tmp
mkfifo go

start() { # its standard error goes to a file of its own, as a service's log
    rm -f ended ended.show
    run "$FLAME" "$@" -- sh -c './outlives go ended ./executes 2>log'
}

let_it_work() {
    echo x >go
    comes_true test -e ended || test_fail 'the worker came to its end' "$(cat log)"
}

start mem -o x.folded
is_int "$status" 0 'a service starts'
file_has err '1 process still runs \(outlives [0-9]+\): what it does from now on is not in the recording' \
    'its worker is named'
file_has err ', 3 processes, ' 'and counted'
is_str "$(ls tmp)" '' 'the recording is taken'
let_it_work
is_str "$(cat log)" '' 'its log has nothing of ours'
file_has ended.show '^LD_PRELOAD: -$' 'what it starts is not given the recorder any more'
is_str "$(ls tmp)" '' 'and no trace appears'
file_has x.folded 'left' 'what it did before is in the result'

start leak -o x.folded
file_has err '1 process still runs' 'the leak gate says it, too'
let_it_work
start mem -q -o x.folded
is_str "$(cat err)" '' 'and nobody under -q'
let_it_work

# Recorded by hand, the recording goes on where it was asked to go.
mkdir traces
rm -f ended
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/traces/%e.%p.%n.flame" \
    sh -c './outlives go ended ./executes 2>log'
let_it_work
is_str "$(cat log)" '' 'by hand: nothing is said'
ok 'by hand: the worker is recorded to its end' test "$("$FLAME" fold --view count traces/*.flame |
    awk '/right|left/ { n += $NF } END { print n }')" -ge 66536
done_testing
