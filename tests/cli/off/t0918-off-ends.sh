#!/bin/bash
# The tracer can always be ended, whatever the traced program does, and ends with its caller.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim firstborn -pthread
compile_victim unfilled -pthread
compile_victim keeper

is_gone() { # an orphaned zombie counts as gone; init may reap it at any time
    local state
    state=$(grep -s '^State:' "/proc/$1/status") || return 0
    [[ $state =~ [[:space:]][ZX] ]]
}

child_of() { # PARENT [NAME]
    pgrep -P "$1" ${2:+-x "$2"}
}

# Prints nothing: until_true says why it gave up.
has_child() {
    child_of "$@" >pids
}

# The first process of a pid namespace, which a signal for its own fault ends, and no other.
if [ "$(./firstborn fault)" = 'not permitted' ]; then
    skip pid-namespace 'no pid namespace can be made'
else
    for how in fault thread trap blocked caught sent; do
        for mode in '' --no-in-process --no-filter; do
            want=$(timeout 20 ./firstborn $how)
            # shellcheck disable=SC2086 # one word or none
            run timeout -k 1 20 "$FLAME" off $mode -q -o x.folded -- ./firstborn $how
            is_int "$status" 0 "$how, ${mode:-with a filter}: the tracer of a pid namespace's init ends"
            is_str "$(cat out)" "$want" "$how, ${mode:-with a filter}: a pid namespace's init ends as untraced"
        done
    done
    rm -f hold
    mkfifo hold
    ./firstborn waits <hold >said &
    pid=$!
    exec 3>hold
    until_true grep -q ready said
    first=$(child_of $pid)
    timeout -k 1 20 "$FLAME" off -q -o attached.folded -p "$first" 2>err 3>&- &
    flame=$!
    until_attached "$first"
    exec 3>&-
    wait $flame
    is_int $? 0 "flame off -p of a pid namespace's init ends with it"
    wait $pid
    is_str "$(tail -n 1 said)" 'signal 11' "a pid namespace's init ends as untraced under flame off -p"
    file_has attached.folded '^firstborn;.*read' "flame off -p of a pid namespace's init has its wait"
fi

# The thread that provides a page must not be stopped while the tracer reads that page.
run timeout -k 1 20 "$FLAME" off -q -o x.folded -- ./unfilled beside 30
if [ "$status" = 77 ]; then
    skip userfaultfd 'the kernel does not permit userfaultfd'
else
    is_int "$status" 0 'flame off does not wait for a page that a traced thread provides'
    file_has x.folded 'give;.*read userfaultfd' 'the thread that provides a page has its stack'
fi

# A read of this process's memory never returns.
rm -f hold
mkfifo hold
./unfilled never <hold >said &
pid=$!
exec 3>hold
# Two samples find it in the same call, without a switch between, and that call reads another process's
# memory: process_vm_readv, or pread of a file (310 and 17).
before=
hangs() {
    local now was=$before
    before=
    now=$(cat "/proc/$1/syscall" && grep ctxt_switches "/proc/$1/status") || return
    case $now in '310 '* | '17 '*) before=$now ;; esac
    [ -n "$before" ] && [ "$was" = "$before" ]
}
ready_or_gone() {
    grep -q ready said || is_gone "$pid"
}
until_true ready_or_gone
if grep -q ready said; then
    timeout -k 1 60 "$FLAME" off -q -o hung.folded -p $pid 2>err 3>&- &
    timeout=$!
    until_true has_child $timeout flame
    flame=$(child_of $timeout flame)
    until_true has_child "$flame"
    tracer=$(child_of "$flame")
    until_true hangs "$tracer"
    kill -TERM "$flame"
    ok 'SIGTERM ends a tracer that hangs' comes_true is_gone "$tracer"
    wait $timeout
    file_has err '^flame: the tracer hung and was ended; the recording up to then is kept$' \
        'the end of a hung tracer is reported'
    exec 3>&-
    wait $pid
    is_int $? 0 'the process of a hung tracer continues'
    file_has said over 'the process of a hung tracer runs to its end'
else
    exec 3>&-
    skip userfaultfd 'the kernel does not permit userfaultfd'
fi

# killed MODE...: flame is killed; tracer and command.
killed() {
    rm -f hold said
    mkfifo hold said
    exec 3<>hold 4<>said
    "$FLAME" off "$@" -q -o x.folded -- ./keeper catch:15 wait <hold >said 2>err 3>&- 4>&- &
    flame=$!
    read -r _ <&4
    tracer=$(child_of $flame)
    command=$(child_of "$tracer" keeper)
    kill -KILL $flame
    wait $flame 2>wait.err
    ok "flame off $*: SIGKILL of flame ends its tracer" comes_true is_gone "$tracer"
    ok "flame off $*: SIGKILL of flame ends the command" comes_true is_gone "$command"
    exec 3>&- 4>&-
}
killed --depth 100
killed --no-in-process
killed --no-filter
killed -d 60

# outlives STAYS MODE...: the command ignores SIGTERM. Nothing ends it but the end of `hold`.
outlives() {
    local stays=$1
    shift
    rm -f hold said over x.folded
    mkfifo hold said
    exec 3<>hold 4<>said
    "$FLAME" off "$@" -q -o x.folded -- \
        sh -c 'trap "" TERM; echo ready; read -r line; echo "$line" >over' \
        <hold >said 2>err 3>&- 4>&- &
    flame=$!
    read -r _ <&4
    tracer=$(child_of $flame)
    command=$(child_of "$tracer" sh)
    until_in_call "$command" 0 63 # read
    kill -TERM $flame
    ok "$*: SIGTERM ends flame off though the command ignores it" comes_true is_gone $flame
    ok "$*: a command that ignores SIGTERM continues" kill -0 "$command"
    file_has x.folded '^sh;.*;read .*/hold [0-9]+$' "$*: flame off ended by SIGTERM has a result"
    if [ "$stays" = stays ]; then
        is_str "$(cat err)" "flame: the command, process $command, has not ended by SIGTERM; it runs \
on unrecorded, with process $tracer, without which its calls would fail" "$*: flame off says which processes continue"
    else
        is_str "$(cat err)" "flame: the command, process $command, has not ended by SIGTERM; it runs \
on untraced" "$*: flame off says that the command continues untraced"
        ok "$*: a command that ignores SIGTERM has no tracer process left" is_gone "$tracer"
        file_has "/proc/$command/status" '^TracerPid:[[:space:]]*0' \
            "$*: a command that ignores SIGTERM is not traced"
    fi
    echo 'to its end' >&3
    wait $flame 2>wait.err
    is_int $? 143 "$*: flame off ends with the status of SIGTERM"
    until_true is_gone "$command"
    is_str "$(cat over)" 'to its end' "$*: a command that ignores SIGTERM completes its work"
    ok "$*: the tracer ends after the command" comes_true is_gone "$tracer"
    exec 3>&- 4>&-
}
outlives stays --depth 100
outlives stays --no-in-process
outlives leaves --no-filter
outlives leaves -d 600
is_str "$(ls tmp)" '' 'flame off leaves no recording in TMPDIR'

# A process that the command has started is not killed with it.
rm -f hold said
mkfifo hold said
exec 3<>hold 4<>said
"$FLAME" off -q -o x.folded -- sh -c 'sleep 1000 & echo ready; cat' <hold >said 2>err 3>&- 4>&- &
flame=$!
read -r _ <&4
tracer=$(child_of $flame)
command=$(child_of "$tracer" sh)
until_true has_child "$command" sleep
rest=$(child_of "$command" sleep)
kill -KILL $flame
wait $flame 2>wait.err
ok 'SIGKILL of flame ends the command' comes_true is_gone "$command"
ok 'SIGKILL of flame does not end a background child of the command' kill -0 "$rest"
kill "$rest"
exec 3>&- 4>&-
ok 'the tracer ends with the last background child' comes_true is_gone "$tracer"

# Attached: the tracer detaches from the process.
rm -f hold said
mkfifo hold
./keeper wait <hold >said &
pid=$!
exec 3>hold
until_true grep -q ready said
"$FLAME" off -q -o x.folded -p $pid 2>err 3>&- &
flame=$!
until_traced $pid
kill -KILL $flame
wait $flame 2>wait.err
ok 'SIGKILL of flame off -p detaches from the process' \
    comes_true grep -q '^TracerPid:[[:space:]]*0' /proc/$pid/status
exec 3>&-
wait $pid
is_int $? 0 'the process continues after SIGKILL of flame off -p'

done_testing
