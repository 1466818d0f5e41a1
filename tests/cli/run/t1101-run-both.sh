#!/bin/bash
# flame run: memory as flame mem alone has it, waits as flame off alone has them, and no wait of
# the recorder itself.
# shellcheck disable=SC2086 # an option, or none
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
use_own_tmpdir

compile_victim bothways -pthread

# Folded stacks of a view, of memory and of waiting. Time outside of calls has no stack; a thread that
# writes may lose its CPU to the one it wakes, and the loader may wait for a disk: for a page of its
# own, or for the head of a library that it reads.
memory() { # VIEW FILE...
    local view=$1
    shift
    "$FLAME" fold --no-header --view "$view" "$@"
}
stacks() { # VIEW FILE
    "$FLAME" fold --no-header --view "$1" "$2" | sed 's/ [0-9.]*$//' |
        grep -v ';\[\(page fault\|outside calls\|stopped by the tracer\)\]\|;write pipe:\|;_dl_start' |
        grep -v ';\[ld-linux[^;]*;p\?read [^;]*\.so[0-9.]*$' | sort
}
# The trace of waiting, which is the last one in the file.
waits_in() { # FILE
    echo "$1/$("$FLAME" dump -s header "$1" 2>/dev/null | sed -n 's/.* traces=\([0-9]*\).*/\1/p')"
}
# How often threads slept in nanosleep: 19 times, with each recorder.
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

run_expect_status 5 "flame mem alone ends with the command's status" "$FLAME" mem -q -o mem.flame -- ./bothways
# A tracer that gets no CPU meanwhile may mistake a nap for the stop after it, here and below.
all_naps() {
    run_expect_status 5 "flame off alone ends with the command's status" \
        "$FLAME" off -q -o off.flame -- ./bothways
    [ "$(naps off.flame)" = 19 ]
}
again 5 all_naps
stacks off off.flame >want.off
ok 'flame off alone has waits to compare' test "$(wc -l <want.off)" -ge 7
is_int "$(naps off.flame)" 19 'flame off alone has 19 sleeps'
both() {
    rm -f run.*flame
    run_expect_status 5 "flame run ${option:-with the filter} ends with the command's status" \
        "$FLAME" run -q $option -o run.flame -- ./bothways
    [ "$(naps "$(waits_in run.flame)")" = 19 ] && stacks off run.flame | cmp -s - want.off
}
for option in '' --no-filter --no-in-process; do
    again 5 both
    is_str "$(cat err)" '' "flame run $option prints nothing"
    files='run.flame run.flame/2'
    for view in alloc count live peak mmap unmapped; do
        # A thread's table of thread-local data has a slot for libflamewait.so, too.
        mask=
        [ -n "$option" ] || mask='s/\(_dl_allocate_tls;.*\) [0-9]*$/\1/'
        is_str "$(memory $view $files | sed "$mask")" "$(memory $view mem.flame mem.flame/2 |
            sed "$mask")" "flame run $option: the view $view is that of flame mem"
    done
    stacks off run.flame >got.off
    is_str "$(cat got.off)" "$(cat want.off)" "flame run $option: the waits are those of flame off"
    unlike "$(for view in off wakeup offwake chain io; do stacks $view run.flame; done)" \
        'flame(mem|wait|gate)|\[recorder\]' "flame run $option: no view of waits has a frame of flame"
    is_int "$(naps "$(waits_in run.flame)")" 19 "flame run $option: 19 sleeps"
    unlike "$(for view in alloc mmap unmapped; do memory $view $files; done)" \
        'flame(mem|wait|gate)' "flame run $option: no view of memory has a frame of flame"
done

# One page shows waits and allocations under the lock, and each view is of one run.
run_expect_status 5 "flame run with four outputs ends with the command's status" \
    "$FLAME" run -o all.html -o mem.folded --view count \
    -o x.svg -o all.flame -- ./bothways
is_int "$(grep -c '^flame: bothways: ' err)" 2 'the summary of flame run has two parts'
file_has err '^flame: bothways: allocated .* in 2,[0-9]* calls$' 'the summary of flame run has memory'
file_has err '^flame: bothways: traced for .* of 2 processes slept [0-9]* times$' \
    'the summary of flame run has waits'
file_has err '^flame: all views in all.html$' 'the summary of flame run names the page'
file_has err "^flame: memory and waiting in all.flame; see them with 'flame render -o x.html all.flame'$" \
    'the summary of flame run names the traces'
is_str "$(ls ./*all*flame*)" ./all.flame 'the traces of flame run are one file'
"$FLAME" fold all.flame >of.all
"$FLAME" fold all.flame/1 all.flame/2 >of.memory
ok 'flame fold of the file has the memory' cmp of.all of.memory
run_expect_status 0 'flame render -o x.html of the file succeeds' "$FLAME" render -o again.html all.flame
is_str "$(grep -o '^{"name":"[a-z]*"' again.html | head -1)" '{"name":"alloc"' 'the page of the file begins with memory'
for view in alloc live peak off wakeup chain; do
    file_has again.html "\"$view\"" "the page of the file has the view $view"
done
"$FLAME" render --view off -o - all.flame >off.svg
file_has off.svg 'hold_lock' 'flame render --view off of the file draws waits'
is_str "$("$FLAME" top --view off all.flame | head -5)" "$("$FLAME" top --view off "$(waits_in all.flame)" | head -5)" \
    'flame top --view off of the file has the waits'
is_str "$("$FLAME" path all.flame)" "$("$FLAME" path "$(waits_in all.flame)")" 'flame path of the file has the waits'
is_str "$("$FLAME" diff --view off all.flame all.flame)" "$("$FLAME" diff --view off "$(waits_in all.flame)" "$(waits_in all.flame)")" \
    'flame diff --view off of the file has the waits'
is_str "$("$FLAME" fold --idle all.flame)" "$("$FLAME" fold --idle "$(waits_in all.flame)")" \
    'flame fold --idle of the file has the waits'
is_str "$("$FLAME" fold --view off all.flame "$(waits_in all.flame)")" "$("$FLAME" fold --view off all.flame)" \
    'flame fold --view off of the file and its trace of waiting has it once'
run_expect_status 0 'flame fold --ancestors of the file succeeds' "$FLAME" fold --ancestors all.flame
run_expect_status 0 'flame render --ancestors -o x.html of the file succeeds' "$FLAME" render --ancestors -o anc.html all.flame
run_expect_status 0 'flame render --series --view off of files with both succeeds' \
    "$FLAME" render --series --view off -o series.html all.flame all.flame
is_str "$(cat err)" '' 'flame render --series --view off shows the one trace of waiting'
is_str "$(sort mem.folded | grep -v '^#')" "$(memory count all.flame all.flame/2 | sort)" \
    'the folded text of flame run is of the same run'
for view in alloc live peak off wakeup chain; do
    file_has all.html "\"$view\"" "the page has the view $view"
done
file_has x.svg '<svg' 'flame run -o x.svg draws one view'

# A page first shows the view of --view, of either recorder.
for view in chain count; do
    run_expect_status 5 "flame run --view $view -o first.html ends with the command's status" \
        "$FLAME" run -q --view $view \
        -o first.html -- ./bothways
    is_str "$(sed -n 's/^"view":"\([^"]*\)",$/\1/p' first.html)" $view \
        "flame run --view $view: the page first shows that view"
    file_has first.html '^{"name":"alloc",' "flame run --view $view: the page has the views of memory"
    file_has first.html '^{"name":"off",' "flame run --view $view: the page has the views of waits"
done

# A child that cannot have the memory recorder has its waits in the trace.
run_expect_status 0 'flame run with an unrecorded child succeeds' "$FLAME" run -o x.folded --view off -- \
    sh -c 'env -i /bin/sleep 0.05; exit 0'
file_has err 'not recorded: .*sleep' 'flame run names the unrecorded child'
file_has x.folded '^sleep;.*nanosleep' 'flame run has the waits of the unrecorded child'

# A program executed at the end is recorded, too.
run_expect_status 3 'flame run of a program that executes another ends with its status' \
    "$FLAME" run -q -o x.flame -- ./bothways sh -c 'exit 3'
like "$(memory alloc x.flame)" '^sh;' 'flame run has the memory of the executed program'
like "$(stacks off x.flame)" ';hold_lock;' 'flame run has the waits of the program before the exec'

# comes_late NAME FIFO: a process of that name waits in open (2, 257, 56), and some time later this function
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

# The recorder opens a fifo, and waits until it has a writer.
mkfifo late
comes_late bothways late &
run_expect_status 5 "flame run with a recorder that waits ends with the command's status" \
    env FLAMEMEM_OPTIONS="sites=$SCRATCH/late" \
    "$FLAME" run -q -o late.flame -- ./bothways
wait
stacks off late.flame >got.off
is_str "$(cat got.off)" "$(cat want.off)" "a wait of the recorder is not among the program's waits"
like "$("$FLAME" dump "$(waits_in late.flame)")" 'left-out' 'a wait of the recorder has the kind left-out'
like "$("$FLAME" dump "$(waits_in late.flame)")" '\[recorder\]' 'a wait of the recorder has the frame [recorder]'

# So does the loader, when it opens what is preloaded. Any file of that name will do.
mkfifo libflamegate.so
# Nothing is preloaded by flame off --no-in-process.
for how in 'off --no-in-process' run; do
    comes_late cat libflamegate.so &
    run_expect_status 0 "flame $how with a late library succeeds" "$FLAME" $how -q --view off \
        -o "${how%% *}.folded" -- cat "$SCRATCH/libflamegate.so"
    wait
done
file_has off.folded ';open .*libflamegate.so' 'flame off shows a late open of the program'
file_lacks run.folded ';open .*libflamegate.so' 'flame run does not show a late open of the loader'

# The recorder waits in the loader, too, when it needs libunwind; this file is truncated.
mkdir libraries
mkfifo libraries/libunwind.so.8
left_out() {
    "$FLAME" dump -s row "$(waits_in late.flame)" | sed -n 's/.*kind=left-out blocked_ns=\([0-9]*\).*/\1/p' |
        sort -n | tail -n 1
}
comes_late bothways libraries/libunwind.so.8 &
run_expect_status 5 "flame run with a late libunwind ends with the command's status" \
    "$FLAME" run -o late.flame -- \
    env LD_LIBRARY_PATH="$SCRATCH/libraries" ./bothways
wait
file_lacks err 'libunwind.so.8 cannot be loaded|could not start' \
    'a truncated libunwind that no stack needs is not reported'
stacks off late.flame | grep '^bothways;' >got.off
is_str "$(cat got.off)" "$(cat want.off)" "a wait for libunwind is not among the program's waits"
ok 'a wait for libunwind has the kind left-out' test "$(left_out)" -gt 100000000

# Samples on a CPU.
run_expect_status 5 "flame run --hz 1000 ends with the command's status" \
    "$FLAME" run -q --hz 1000 --view oncpu -o cpu.folded -- \
    ./bothways
file_lacks cpu.folded 'flame(mem|wait|gate)' 'samples of flame run have no frame of flame'
ok 'flame run --hz 1000 has samples' test -s cpu.folded

# Waits are recorded even if the memory recorder cannot start.
touch none.flame
run_expect_status 5 "flame run without the memory recorder ends with the command's status" \
    env FLAMEMEM_OPTIONS=record=0 "$FLAME" run \
    -o none.html -o none.flame -- ./bothways
file_has err '^flame: ./bothways: left no recording of memory: ' 'flame run without the memory recorder says so'
file_has none.html '"chain"' 'flame run without the memory recorder: the page has the views of waits'
file_lacks none.html '"alloc"' 'flame run without the memory recorder: the page has no view of memory'
like "$("$FLAME" fold --view off none.flame)" ';hold_lock;' 'flame run without the memory recorder writes the waits'
run_expect_status 5 "flame run -o none.svg without the memory recorder ends with the command's status" \
    env FLAMEMEM_OPTIONS=record=0 "$FLAME" run -o none.svg -- \
    ./bothways
not_ok 'flame run -o none.svg without the memory recorder draws nothing' test -e none.svg

# The stack limit of the command applies to flame, too.
run_expect_status 5 "flame run with a stack of 64 KiB ends with the command's status" \
    sh -c 'ulimit -s 64 && exec "$@"' - "$FLAME" run -q --moments=10ms \
    -o small.html -o small.flame -- ./bothways
file_has small.html '"chain"' 'flame run with a stack of 64 KiB writes its page'

done_testing
