#!/usr/bin/env bash
# flame run -p: memory and waits of a running process over the same time, in one result. The process
# continues unchanged.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

use_own_tmpdir
compile_victim attached -pthread
compile_victim plugin -shared -fPIC -O0 -DNAME=late -DSIZE=321
mv plugin late.so
compile_victim slowmalloc -shared -fPIC
mv slowmalloc slow.so

# attach_run [OPTION...]: as attach of attach.sh, by flame run; the traces are t.flame/1, of memory, and t.flame/2.
attach_run() {
    rm -f t.flame
    : >err
    "$FLAME" run "$@" -o t.flame -p "$victim" 2>err &
    flame=$!
    until_true records_or_ended err
    ! grep -q 'recording .*process' err || return 0
    status=0
    wait "$flame" || status=$?
    return 1
}

# ends: flame ends by itself; $status is its.
ends() {
    status=0
    wait "$flame" || status=$?
}

# slept FUNCTION: us of its sleeps.
slept() {
    "$FLAME" fold --no-header --view off t.flame |
        name=$1 awk 'index($0, ";" ENVIRON["name"] ";") { us += $NF } END { printf "%.0f\n", us }'
}

# Allocations of "work" and sleeps of "doze", from the victim's source.
worked() {
    is_str "$(sum alloc alpha) $(sum count alpha) $(sum live alpha)" '100000 100 40000' \
        "$1: bytes and calls of malloc and free"
    is_str "$(sum alloc beta) $(sum live beta)" '10500 4200' "$1: memory of another thread"
    is_str "$(sum alloc do_word) $(sum live do_word)" '101952 41952' "$1: no other blocks count"
}
dozed() {
    local us held
    us=$(slept doze)
    # 10 sleeps of 20 ms, which a busy machine may make longer. On such a machine the tracer may not
    # know when a thread stopped; what it takes for its own time then is no part of a sleep.
    held=$("$FLAME" dump -s interval t.flame/2 |
        sed -n 's/.* kind=tracer .* ns=\([0-9]*\) .*/\1/p' | awk '{ ns += $1 } END { printf "%.0f\n", ns / 1000 }')
    ok "$1: sleeps of 200 ms last $us us, and the tracer held threads for $held us" \
        test $((us + held)) -ge 199000 -a "$us" -lt 1000000
    is_int "$(slept alpha)" 0 "$1: a function that only allocates has no sleeps"
}

# unharmed NAME: the process has no tracer, and works as before.
unharmed() {
    is_int "$(awk '/^TracerPid/ { print $2 }' "/proc/$victim/status")" 0 "$1: the process has no tracer"
    ok "$1: the process works" tell work
    ok "$1: the process forgets" tell forget
}

finish() {
    local status=0
    echo quit >&7
    wait "$victim" || status=$?
    is_str "$status $(cat victim.err)" "$1 " "the process ends with status $1, and has printed nothing"
}

# ---- both, over the same time ----

begin ./attached
ok 'the process works before' tell before
ok 'the process works and sleeps before' tell work
tell doze
tell forget
if ! attach_run; then
    if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
        tell quit
        skip_all ptrace "$(head -1 err)"
    fi
    diag "$(cat err)"
fi
ok 'the process has a tracer' is_traced "$victim"
ok 'the process works under flame run -p' tell work
ok 'the process sleeps under flame run -p' tell doze
leave
is_int "$status" 0 'SIGTERM ends flame run -p with status 0'
worked 'flame run -p'
dozed 'flame run -p'
like "$(cat err)" 'allocated .* while it was recorded' 'the summary has memory'
like "$(cat err)" '^flame: attached: traced for .* of 1 process slept [0-9]+ times$' 'the summary has waits'
like "$(cat err)" 'all threads were stopped [2-9] times' 'the summary counts the stops of the recorder of memory'
file_lacks err 'left alone|lost|missing|not recorded' 'the summary reports no loss'
for view in off wakeup offwake chain io; do
    "$FLAME" fold --no-header --view $view t.flame
done >waits
file_lacks waits 'unknown\+|flame(mem|wait)|\[recorder\]|incomplete' 'no view of waits has a frame of flame'
unharmed 'after SIGTERM'

# The page has the views of both.
"$FLAME" run -q -d 0.5 -o x.html -o x.folded -p "$victim" 2>err &
flame=$!
until_attached "$victim"
begun=$(date +%s%N)
sleep 0.1 # the recorder reads its own state every 50 ms
tell work
tell doze
ends
took=$((($(date +%s%N) - begun) / 1000000))
is_str "$status $(cat err)" '0 ' 'flame run -q -d 0.5 -p ends with status 0, and prints nothing'
ok "flame run -d 0.5 -p lasts for $took ms" test "$took" -ge 400
for view in alloc live peak off wakeup chain; do
    file_has x.html "\"$view\"" "the page of flame run -p has the view $view"
done
file_has x.folded ';alpha 100000$' 'flame run -p -o x.folded has the view alloc'
tell forget
mkdir named
(cd named && "$FLAME" run -q -d 0.1 --view off -p "$victim")
ok 'the result of flame run -p is pid-PID-run.html' test -s "named/pid-$victim-run.html"
unharmed 'after -d'

# Blocks that can still be reached at the end are no leaks.
attach_run --view leak
tell work
leave
is_int "$status" 0 'flame run --view leak -p ends with status 0'
like "$(cat err)" 'looked for leaks in ' 'flame run --view leak -p looks for leaks'
is_str "$(fview leak | awk '/alpha/ { n += $NF } END { print n + 0 }')" 0 'what the process keeps is no leak'
unharmed 'after a search for leaks'

attach_run --rss --view off
tell work
leave
is_int "$status" 0 'flame run --rss -p ends with status 0'
like "$(cat err)" 'resident at the end: ' 'flame run --rss -p looks at resident memory'
ok 'flame run --rss -p has whose the resident memory is' test "$(sum rss alpha)" -gt 0
unharmed 'after a look at resident memory'

# ---- libraries that are loaded meanwhile ----

# calls_late: the process loads a library, whose function allocates 3210 bytes at each call.
calls_late() {
    tell open ./late.so late
    sleep 0.3 # the list of libraries is read every 50 ms
    tell call
    tell call
    sleep 0.1
    tell close
    tell forget
}
attach_run
ok 'the process loads a library under flame run -p' calls_late
leave
is_str "$status $(sum alloc late)" '0 0' 'a library that is loaded under the tracer is not recorded'
like "$(cat err)" 'not recorded: calls by [1-9][0-9]* import slots? of libraries' 'and the summary says so'
unharmed 'after a library was loaded'
attach_run --no-stops
ok 'the process loads a library under flame run --no-stops -p' calls_late
leave
is_str "$status $(sum alloc late)" '0 6420' 'a library that is loaded under --no-stops is recorded'
file_lacks err 'not recorded' 'and the summary does not miss it'

# ---- without stops ----

attach_run --no-stops --min-block 1ms
not_ok 'a process under flame run --no-stops -p has no tracer' is_traced "$victim"
tell work
tell doze
leave
is_int "$status" 0 'flame run --no-stops -p ends with status 0'
worked 'flame run --no-stops -p'
dozed 'flame run --no-stops -p'
like "$(cat err)" 'no thread was stopped: wakers are not known' 'the summary says what --no-stops lacks'
unharmed 'after --no-stops'

# ---- one of the two fails ----

# fails STATUS LINE NAME ARGUMENT...: one line, no result, and the process works.
fails() {
    local want=$1 line=$2 name=$3
    shift 3
    run_expect_status "$want" "$name: flame ends with status $want" "$@" -o "$SCRATCH/theirs/no.html" \
        -p "$victim" -d 1
    is_int "$(wc -l <err)" 1 "$name: flame prints one line"
    file_has err "$line" "$name: flame says why"
    not_ok "$name: no result is written" test -e theirs/no.html
    is_str "$(find "$TMPDIR" -name 'flame-run.*')" '' "$name: nothing is left in TMPDIR"
}
mkdir -m 777 theirs
"$FLAME" off -q -o off.flame -p "$victim" 2>off.err &
tracer=$!
until_traced "$victim"
fails 2 "process $victim is already traced by flame" 'a process with another tracer' "$FLAME" run
fails 2 "process $victim is already traced by flame" 'a process with another tracer, --no-stops' \
    "$FLAME" run --no-stops
kill -TERM "$tracer"
wait "$tracer"
unharmed 'after another tracer'
"$FLAME" mem -q -o mem.flame -p "$victim" 2>mem.err &
other=$!
until_true grep -q ' r-xp 00000000 00:00 0 *$' "/proc/$victim/maps"
sleep 0.3
fails 2 'another flame records it' 'a process with another recorder' "$FLAME" run
kill -TERM "$other"
wait "$other"
unharmed 'after another recorder'
finish 1

# The tracer is a process of its own, which a user may not have. Processes are counted by user, so this one has none
# but those of this test.
chmod 755 "$SCRATCH"
nobody=(setpriv --reuid $((60000 + $$ % 5000)) --regid 65534 --clear-groups)
if [ "$(id -u)" = 0 ] && "${nobody[@]}" test -x "$TMPDIR" 2>/dev/null; then
    chmod 1777 "$TMPDIR" && cp "$FLAME" "$SCRATCH/flame"
    begin "${nobody[@]}" ./attached
    tell work
    tell forget
    before=$(awk '$1 == "VmSize:" { print $2 }' "/proc/$victim/status")
    fails 1 'cannot start the tracer: ' 'no process for the tracer' \
        prlimit --nproc=1 "${nobody[@]}" "$SCRATCH/flame" run
    after=$(awk '$1 == "VmSize:" { print $2 }' "/proc/$victim/status")
    ok 'no process for the tracer: the recorder of memory leaves none of its memory' \
        test $((after - before)) -lt 4096
    unharmed 'without a tracer'
    finish 1
else
    skip not-root 'only root can become somebody else'
fi

# ---- waits in the allocator ----

# The recorder is between the program and its allocator, and in no stack.
begin env LD_PRELOAD="$SCRATCH/slow.so" ./attached
tell before
tell after # by now malloc and free are bound
attach_run
tell work
leave
is_str "$status $(sum alloc alpha)" '0 100000' 'flame run -p of a slow allocator has the memory'
"$FLAME" fold --no-header --view off t.flame >waits
file_has waits ';alpha;malloc;.*nanosleep [0-9]{6}$' 'a wait in the allocator has the stack of the program'
file_lacks waits 'unknown\+|\[recorder\]' 'a wait in the allocator has no frame of the recorder'
unharmed 'after waits in the allocator'
finish 1

# ---- the process ends, or becomes another program ----

recorded() {
    "$FLAME" fold --no-header --view alloc "$TMPDIR"/flame-run.*/attached."$victim".*.flame 2>kept.err |
        awk '/alpha|beta|gamma_|delta/ { n += $NF } END { exit n < 100000 + 10500 + 1792 + 160 }'
}
for option in '' --no-stops; do
    begin ./attached
    attach_run -d 600 ${option:+"$option"}
    tell doze
    tell work
    until_true recorded
    finish 0
    ends
    is_int "$status" 0 "flame run $option -p ends with status 0 when the process ends"
    worked "flame run $option -p until the end"
    dozed "flame run $option -p until the end"
    like "$(cat err)" 'it ended while it was recorded' "flame run $option -p says that the process ended"
done

begin ./attached
attach_run
tell doze
tell work
until_true recorded
echo "exec $(command -v sleep) 0.3" >&7
wait "$victim"
is_int $? 0 'the process executes another program under flame run -p'
ends
is_int "$status" 0 'flame run -p ends with status 0 when the executed program ends'
worked 'flame run -p until the exec'
dozed 'flame run -p until the exec'
like "$(cat err)" 'it executed another program while it was recorded' 'flame run -p says so'
like "$("$FLAME" fold --no-header --view off t.flame)" '^sleep;.*nanosleep [23][0-9]{5}$' \
    'flame run -p has the waits of the executed program'

done_testing
