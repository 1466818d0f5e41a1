#!/bin/bash
# flame run: memory as flame mem alone has it, waits as flame off alone has them, and nothing of
# what the recorder does itself among the latter.
# shellcheck disable=SC2086 # an option, or none
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
use_own_tmpdir

compile_victim bothways -pthread

# Folded stacks of a view, of memory and of waiting. Time outside of calls is nobody's stack; who
# writes may lose its CPU to whom it wakes, and the loader wait for a disk, or not: for a page of its
# own, or for the head of a library that it reads.
memory() { # VIEW FILE...
    local view=$1
    shift
    "$FLAME" fold --no-header --view "$view" "$@"
}
stacks() { # VIEW FILE
    "$FLAME" fold --no-header --view "$1" "$2" | sed 's/ [0-9.]*$//' |
        grep -v ';\[\(page fault\|outside calls\|stopped by the tracer\)\]\|;write pipe:\|;_dl_start' |
        grep -v ';\[ld-linux[^;]*;read [^;]*\.so[0-9.]*$' | sort
}
# How often threads slept in nanosleep: 19 times, whoever records.
naps() { # FILE
    "$FLAME" dump -j "$1" | python3 -c '
import json, sys
trace = json.load(sys.stdin)
nodes = {n["id"]: n for n in trace["node"]}
def call(node):
    while nodes[node]["kind"] == "waker":
        node = nodes[node]["parent"]
    return nodes[node].get("name")
print(sum(r.get("sleeps", 0) for r in trace["row"] if call(r["node"]) == "nanosleep"))'
}

run_expect_status 5 'flame mem alone' "$FLAME" mem -q -o mem.flame -- ./bothways
# A tracer that gets no CPU meanwhile may take a nap for the stop behind it, here and below.
all_naps() {
    run_expect_status 5 'flame off alone' "$FLAME" off -q -o off.flame -- ./bothways
    [ "$(naps off.flame)" = 19 ]
}
again 5 all_naps
stacks off off.flame >want.off
ok 'there are waits to compare' test "$(wc -l <want.off)" -ge 7
is_int "$(naps off.flame)" 19 'and sleeps to count'
both() {
    rm -f run.*flame
    run_expect_status 5 "both ${option:-with a filter}" "$FLAME" run -q $option -o run.flame -- ./bothways
    [ "$(naps run.off.flame)" = 19 ] && stacks off run.off.flame | cmp -s - want.off
}
for option in '' --no-filter --no-in-process; do
    again 5 both
    is_str "$(cat err)" '' "$option: nothing is said"
    files='run.flame run.2.flame'
    for view in alloc count live peak mmap unmapped; do
        # A thread's table of thread-local data has a slot for libflamewait.so, too.
        mask=
        [ -n "$option" ] || mask='s/\(_dl_allocate_tls;.*\) [0-9]*$/\1/'
        is_str "$(memory $view $files | sed "$mask")" "$(memory $view mem.flame mem.2.flame |
            sed "$mask")" "$option: the view $view is that of flame mem"
    done
    stacks off run.off.flame >got.off
    is_str "$(cat got.off)" "$(cat want.off)" "$option: what waits is what waits under flame off"
    unlike "$(for view in off wakeup offwake chain io; do stacks $view run.off.flame; done)" \
        'flame(mem|wait|gate)|\[recorder\]' "$option: and nothing of flame's is among it"
    is_int "$(naps run.off.flame)" 19 "$option: as often"
    unlike "$(for view in alloc mmap unmapped; do memory $view $files; done)" \
        'flame(mem|wait|gate)' "$option: nor is there any in memory's"
done

# One page shows waits and allocations under the lock, and each view is of one run.
run_expect_status 5 'several outputs of one run' "$FLAME" run -o all.html -o mem.folded --view count \
    -o x.svg -o all.flame -- ./bothways
is_int "$(grep -c '^flame: bothways: ' err)" 2 'the summary has both'
file_has err '^flame: bothways: allocated .* in 2,[0-9]* calls$' 'memory'
file_has err '^flame: bothways: traced for .* of 2 processes slept [0-9]* times$' 'waiting'
file_has err '^flame: all views in all.html$' 'and says where the page is'
file_has err '^flame: the trace of waiting is in all.off.flame;' 'and the traces'
is_str "$(sort mem.folded | grep -v '^#')" "$(memory count all.flame all.2.flame | sort)" \
    'the folded text is of the same run'
for view in alloc live peak off wakeup chain; do
    file_has all.html "\"$view\"" "the page has the view $view"
done
file_has x.svg '<svg' 'a picture of one view'

# A page shows first what was asked for, of either recorder.
for view in chain count; do
    run_expect_status 5 "a page of which the view $view is shown first" "$FLAME" run -q --view $view \
        -o first.html -- ./bothways
    is_str "$(sed -n 's/^"view":"\([^"]*\)",$/\1/p' first.html)" $view 'shows it'
    file_has first.html '^{"name":"alloc",' 'has those of memory'
    file_has first.html '^{"name":"off",' 'and those of waiting'
done

# A child that the recorder cannot be in waits all the same.
run_expect_status 0 'a child without the recorder' "$FLAME" run -o x.folded --view off -- \
    sh -c 'env -i /bin/sleep 0.05; exit 0'
file_has err 'not recorded: .*sleep' 'is named'
file_has x.folded '^sleep;.*nanosleep' 'and its waiting is there'

# A program that is executed in the end is recorded, too.
run_expect_status 3 'a program that is executed' "$FLAME" run -q -o x.flame -- ./bothways sh -c 'exit 3'
like "$(memory alloc x*[0-9].flame)" '^sh;' 'has its memory'
like "$(stacks off x.off.flame)" ';hold_lock;' 'beside the waits of the one before'

# comes_late NAME FIFO: a process of that name waits in open (2, 257, 56), and some time later somebody
# opens FIFO to write to it.
opens() { # NAME
    local pid
    for pid in $(pgrep -x "$1"); do
        [ "$(readlink "/proc/$pid/cwd")" = "$SCRATCH" ] && is_in_call "$pid" 2 257 56 &&
            grep -qs '^State:[[:space:]]*S' "/proc/$pid/status" && return
    done
    return 1
}
comes_late() {
    comes_true opens "$1"
    sleep 0.3
    exec 3>"$2"
    sleep 0.1
}

# The recorder opens a file that is none yet, and waits until somebody writes to it.
mkfifo late
comes_late bothways late &
run_expect_status 5 'a recorder that waits' env FLAMEMEM_OPTIONS="sites=$SCRATCH/late" \
    "$FLAME" run -q -o late.flame -- ./bothways
wait
stacks off late.off.flame >got.off
is_str "$(cat got.off)" "$(cat want.off)" "does not show among the program's waits"
like "$("$FLAME" dump late.off.flame)" 'left-out' 'but in its time'
like "$("$FLAME" dump late.off.flame)" '\[recorder\]' 'with a name'

# So does the loader, when it opens what is preloaded. Any file of that name will do.
mkfifo libflamegate.so
# Nothing is preloaded by flame off --no-in-process.
for how in 'off --no-in-process' run; do
    comes_late cat libflamegate.so &
    run_expect_status 0 "a library that is late, flame $how" "$FLAME" $how -q --view off \
        -o "${how%% *}.folded" -- cat "$SCRATCH/libflamegate.so"
    wait
done
file_has off.folded ';open .*libflamegate.so' 'who alone waits for it'
file_lacks run.folded ';open .*libflamegate.so' 'is not told to wait where it is the loader'

# And so does the recorder, in the loader, when it needs libunwind; this one is cut short.
mkdir libraries
mkfifo libraries/libunwind.so.8
left_out() {
    "$FLAME" dump -s row late.off.flame | sed -n 's/.*kind=left-out blocked_ns=\([0-9]*\).*/\1/p' |
        sort -n | tail -n 1
}
comes_late bothways libraries/libunwind.so.8 &
run_expect_status 5 'a library of the recorder that is late' "$FLAME" run -o late.flame -- \
    env LD_LIBRARY_PATH="$SCRATCH/libraries" ./bothways
wait
file_has err 'libunwind.so.8 cannot be loaded|not recorded: bothways \(the recorder could not start\)' 'is tried'
stacks off late.off.flame | grep '^bothways;' >got.off
is_str "$(cat got.off)" "$(cat want.off)" "does not show among the program's waits"
ok 'but in its time' test "$(left_out)" -gt 100000000

# On a CPU it is seen, by its name.
run_expect_status 5 'samples of running threads' "$FLAME" run -q --hz 1000 --view oncpu -o cpu.folded -- \
    ./bothways
file_lacks cpu.folded 'flame(mem|wait|gate)' "have no frame of flame's"
ok 'but what is recorded' test -s cpu.folded

# Waiting is told even where the recorder could not start.
touch none.flame
run_expect_status 5 'no recording of memory' env FLAMEMEM_OPTIONS=record=0 "$FLAME" run \
    -o none.html -o none.flame -- ./bothways
file_has err '^flame: ./bothways: left no recording of memory: ' 'is said'
file_has none.html '"chain"' 'the page has the views of waiting'
file_lacks none.html '"alloc"' 'and no others'
not_ok 'an older trace is gone' test -e none.flame
ok 'and that of waiting is there' test -s none.off.flame
run_expect_status 5 'a view of memory then' env FLAMEMEM_OPTIONS=record=0 "$FLAME" run -o none.svg -- \
    ./bothways
not_ok 'is not drawn' test -e none.svg

# The command's limit of the stack is flame's, too.
run_expect_status 5 'a stack of 64 KiB' sh -c 'ulimit -s 64 && exec "$@"' - "$FLAME" run -q --moments=10ms \
    -o small.html -o small.flame -- ./bothways
file_has small.html '"chain"' 'is enough'

done_testing
