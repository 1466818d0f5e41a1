#!/bin/bash
# Programs that remove what libflamewait.so needs (the clock, a thread's TLS, its calls) behave
# as without it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

if [ "$(uname -m)" != x86_64 ]; then
    ok 'in-process logging is for x86-64 only' true
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
    is_int $plain 0 "$*, without flame, ends with status 0"
    for how in --in-process --no-in-process; do
        run "$FLAME" off $how -q -o x.folded -- "$@"
        is_int "$status" 0 "$*, flame off $how: ends with status 0"
        is_str "$(cat out)" "$(cat plain)" "$*, flame off $how: prints the same output"
    done
}

for what in munmap mprotect mremap mmap child pointer; do
    as_ever vdso ./takesaway $what
done
# The reserved rings do not count against the program's memory limit.
as_ever memory-lock ./locksall
as_ever syscall-dispatch ./dispatched
if [ $plain = 0 ]; then
    run "$FLAME" mem -q -o x.folded -- ./dispatched
    is_str "$status $(cat out)" "0 $(cat plain)" 'a dispatched program does not see the calls of libflamemem.so'
fi
done_testing
