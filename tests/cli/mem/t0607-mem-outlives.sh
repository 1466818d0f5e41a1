#!/bin/bash
# Processes that outlive the command: flame writes nothing to their standard error, and reports them.
. "${0%/*}/../lib.sh"

compile_victim outlives
compile_victim executes -ldl
mkdir tmp
export TMPDIR=$SCRATCH/tmp
mkfifo go

start() { # its standard error goes to its own file, like a service's log
    rm -f ended ended.show
    run "$FLAME" "$@" -- sh -c './outlives go ended ./executes 2>log'
}

let_it_work() {
    echo x >go
    comes_true test -e ended || test_fail 'the worker came to its end' "$(cat log)"
}

start mem -o x.folded
is_int "$status" 0 'flame mem of a command that leaves a worker ends with status 0'
file_has err '1 process still runs \(outlives [0-9]+\): what it does from now on is not in the recording' \
    'the summary names the worker that still runs'
file_has err ', 3 processes, ' 'the summary counts the worker that still runs'
is_str "$(ls tmp)" '' 'the run directory is removed while the worker runs'
let_it_work
is_str "$(cat log)" '' "the worker's log has no line of flame"
file_has ended.show '^LD_PRELOAD: -$' 'programs that the worker starts later lack the recorder'
is_str "$(ls tmp)" '' 'the worker leaves no trace in TMPDIR'
file_has x.folded 'left' "the worker's blocks up to the end of the command are in the result"

start leak -o x.folded
file_has err '1 process still runs' 'flame leak names the worker that still runs'
let_it_work
start mem -q -o x.folded
is_str "$(cat err)" '' 'flame mem -q does not name the worker that still runs'
let_it_work

# Recorded with LD_PRELOAD alone, the recording continues in the given file.
mkdir traces
rm -f ended
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/traces/%e.%p.%n.flame" \
    sh -c './outlives go ended ./executes 2>log'
let_it_work
is_str "$(cat log)" '' 'a worker under LD_PRELOAD alone prints no error'
ok 'a worker under LD_PRELOAD alone is recorded to its end' test "$("$FLAME" fold --view count traces/*.flame |
    awk '/right|left/ { n += $NF } END { print n }')" -ge 66536
done_testing
