#!/bin/bash
# The tracer can be ended, whatever is traced does, and ends with whoever started it.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim firstborn -pthread
compile_victim unfilled -pthread
compile_victim keeper

is_gone() { # a zombie is nobody's whom it left; it may be taken while one looks
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
            is_int "$status" 0 "$how ${mode:-with a filter}: the tracer comes to an end"
            is_str "$(cat out)" "$want" 'and so does the process, as untraced'
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
    is_int $? 0 'attached to: the tracer comes to an end'
    wait $pid
    is_str "$(tail -n 1 said)" 'signal 11' 'and so does the process'
    file_has attached.folded '^firstborn;.*read' 'what it waited for is there'
fi

# The thread that has to provide a page must not be stopped while the page is read.
run timeout -k 1 20 "$FLAME" off -q -o x.folded -- ./unfilled beside 30
if [ "$status" = 77 ]; then
    skip userfaultfd 'the kernel does not permit userfaultfd'
else
    is_int "$status" 0 'memory that a traced thread gives is not waited for'
    file_has x.folded 'give;.*read userfaultfd' 'its stack is there'
fi

# A read of its memory never comes back.
rm -f hold
mkfifo hold
./unfilled never <hold >said &
pid=$!
exec 3>hold
# In the same call at two looks, without having run in between, and that is one which reads another's
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
        'which is said'
    exec 3>&-
    wait $pid
    is_int $? 0 'the process goes on'
    file_has said over 'to its end'
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
    ok "$*: SIGKILL of flame ends its tracer" comes_true is_gone "$tracer"
    ok 'and the command' comes_true is_gone "$command"
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
    ok 'which goes on' kill -0 "$command"
    file_has x.folded '^sh;.*;read .*/hold [0-9]+$' 'there is a result'
    if [ "$stays" = stays ]; then
        is_str "$(cat err)" "flame: the command, process $command, has not ended by SIGTERM; it runs \
on unrecorded, with process $tracer, without which its calls would fail" 'it says what goes on'
    else
        is_str "$(cat err)" "flame: the command, process $command, has not ended by SIGTERM; it runs \
on untraced" 'it says what goes on'
        ok 'without a tracer' is_gone "$tracer"
        file_has "/proc/$command/status" '^TracerPid:[[:space:]]*0' 'that it would know of'
    fi
    echo 'to its end' >&3
    wait $flame 2>wait.err
    is_int $? 143 'by that signal'
    until_true is_gone "$command"
    is_str "$(cat over)" 'to its end' 'and does what it would have done'
    ok 'nobody is left then' comes_true is_gone "$tracer"
    exec 3>&- 4>&-
}
outlives stays --depth 100
outlives stays --no-in-process
outlives leaves --no-filter
outlives leaves -d 600
is_str "$(ls tmp)" '' 'no recording is left behind'

# A process that the command has left behind is no part of it.
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
ok 'not what that has started' kill -0 "$rest"
kill "$rest"
exec 3>&- 4>&-
ok 'whose end is the end of the tracer' comes_true is_gone "$tracer"

# Attached to: the process is let go of.
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
ok 'SIGKILL of flame lets go of a process' comes_true grep -q '^TracerPid:[[:space:]]*0' /proc/$pid/status
exec 3>&-
wait $pid
is_int $? 0 'which goes on'

done_testing
