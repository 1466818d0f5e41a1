#!/bin/bash
# Programs that take away what the library of waits lives on (the clock, a thread's TLS, its calls) go on
# as they would without it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

if [ "$(uname -m)" != x86_64 ]; then
    ok 'calls are noted from inside on x86-64 only' true
    done_testing
fi
compile_victim takesaway
compile_victim dispatched -pthread
compile_victim locksall

# as_ever KEY COMMAND...: its output and status are those without flame.
as_ever() {
    local key=$1
    shift
    "$@" >plain 2>&1
    plain=$?
    if [ $plain = 77 ]; then
        skip "$key" 'the kernel does not do that'
        return
    fi
    is_int $plain 0 "$*: by itself"
    for how in --in-process --no-in-process; do
        run "$FLAME" off $how -q -o x.folded -- "$@"
        is_int "$status" 0 "$how: goes to its end"
        is_str "$(cat out)" "$(cat plain)" 'with what it had to say'
    done
}

for what in munmap mprotect mremap mmap child pointer; do
    as_ever vdso ./takesaway $what
done
# The rings of all threads that there may be are not its memory.
as_ever memory-lock ./locksall
as_ever syscall-dispatch ./dispatched
if [ $plain = 0 ]; then
    run "$FLAME" mem -q -o x.folded -- ./dispatched
    is_str "$status $(cat out)" "0 $(cat plain)" 'nor do calls of the recorder of memory come to it'
fi
done_testing
