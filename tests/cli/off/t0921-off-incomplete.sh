#!/bin/bash
# Stacks of threads that flame attaches to during a sleep it must not interrupt: their
# registers are not known, and a frame that needs its frame pointer is found on the stack.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim roomy -pthread -fno-stack-protector
mv roomy plain
compile_victim roomy -pthread -fstack-protector-strong
mv roomy protected
compile_victim roomy -pthread -fno-stack-protector -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
mv roomy framed
compile_victim roomy -pthread -fno-stack-protector -DGO
mv roomy go

# The sleeping thread does not report when it reads (0). The thread that prints "ready" reads as
# well, so two reads are counted.
both_read() {
    grep -q ready said && [ "$(cat "/proc/$pid/task/"*/syscall | grep -c '^0 ')" -ge 2 ]
}

# attach VICTIM SHAPE: the stacks of its sleeps in off.folded; the summary in err.
attach() {
    cp "$1" roomy
    shift
    rm -f said hold t.flame
    mkfifo hold
    ./roomy "$1" <hold >said 2>&1 &
    pid=$!
    exec 3>hold
    until_true both_read
    "$FLAME" off -o t.flame -p "$pid" >out 2>err </dev/null 3>&- &
    flame=$!
    until_attached "$pid"
    kill -INT $flame
    wait $flame
    exec 3>&-
    wait "$pid"
    is_int $? 0 "roomy $1 ends well after detach"
    oview off | grep ';read ' >off.folded
}

while read -r victim shape stack; do
    attach "$victim" "$shape"
    file_has off.folded "^roomy;(.*;)?$stack;pause_here;syscall;read unix:\\[.*\\] [0-9]+\$" \
        "$victim $shape: the stack is complete"
    file_lacks off.folded 'leave_traces|incomplete' \
        "$victim $shape: the stack has no frame of a function that returned"
    file_lacks err 'could not be followed' "$victim $shape: the summary reports no incomplete stack"
done <<'END2'
plain alloca main;wait_alloca;serve_alloca
plain aligned main;wait_aligned;serve_aligned
plain callback main;wait_callback;by_pointer
plain thread start_thread;serve_thread
protected alloca main;wait_alloca;serve_alloca
protected aligned main;wait_aligned;serve_aligned
protected thread start_thread;serve_thread
framed alloca main;wait_alloca;serve_alloca
framed pointer main;wait_pointer;by_pointer;serve_pointer
framed callback main;wait_callback;by_pointer
framed thread start_thread;serve_thread
END2

# incomplete VICTIM SHAPE: the root is [stack incomplete].
incomplete() {
    attach "$1" "$2"
    file_has off.folded "^roomy;\\[stack incomplete\\];serve_$2;pause_here;syscall;read unix:\\[.*\\] [0-9]+\$" \
        "$1 $2: the stack begins with [stack incomplete]"
    file_has err '^flame: 1 sleep.s stack could not be followed to the start of the thread: [0-9.]+ m?s under \[stack incomplete\]$' \
        "$1 $2: the summary counts the incomplete stack"
}

incomplete plain naked
# Leftovers of leave_traces() look like a stack, but its functions have returned.
incomplete plain pointer


# A frame without tables ends a complete stack where it began the thread, and in Go.
while read -r victim shape what; do
    attach "$victim" "$shape"
    file_has off.folded "^roomy;serve_$shape;pause_here;syscall;read unix:\\[.*\\] [0-9]+\$" \
        "$victim $shape: $what"
    file_lacks err 'could not be followed' "$victim $shape: the summary reports no incomplete stack"
done <<'END2'
plain begun a thread that began without tables
go naked code of Go, which keeps frame pointers until its stack ends
END2

# With all registers known there is no frame pointer either. The thread that logs its own call walks
# its stack itself, and does not report whether the walk was complete.
sleeps_in_read() { # SHAPE: on a loaded machine the data may be there before the call waits
    off ./roomy "$1" </dev/null
    oview off >launched.folded
    grep -q ';read ' launched.folded
}
launch() { # SHAPE STACK WHAT
    cp plain roomy
    again 10 sleeps_in_read "$1"
    is_int "$status" 0 "$how, roomy $1: flame off ends with status 0"
    file_has launched.folded "^roomy;$2;pause_here;syscall;read unix:\\[.*\\] [0-9]+\$" \
        "$how, roomy $1: the stack of $3"
}
for how in --no-in-process --in-process; do
    OFF_HOW=$how
    launch naked '\[stack incomplete\];serve_naked' 'code without tables or a frame pointer'
    launch begun 'serve_begun' 'code without tables that begins a thread'
    launch made '\[stack incomplete\];\[unknown\+0x[0-9a-f]*\]' 'code of no file, without a frame pointer'
done

done_testing
