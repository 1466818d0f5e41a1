#!/usr/bin/env bash
# Processes to which flame mem -p cannot attach: one line says so, and the process is unchanged. A plain
# user attaches to processes of their own, and to a process in another root.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"
. "$ROOT/tests/cli/refused.sh"

compile_victim attached -pthread

refused 'no such process' 'process 2147483646: there is no such process' mem -p 2147483646 -o x.svg
refused 'a process id that is no number' 'expected a process id' mem -p x -o x.svg
refused 'a process and a command' '-p and a command' mem -o x.svg -p 1 ./touch.sh
refused 'a duration without a process' '-d is for a process that runs' mem -o x.svg -d 1 ./touch.sh
refused 'a view of commands only' '--view mmap is for commands' mem -o x.svg -p 1 --view mmap
for option in --libc-mappings '--sample=1k' '--max-disk=1m' --ancestors --lifetimes=time; do
    refused "$option" "${option%%=*} is for commands" mem -o x.svg -p 1 "$option"
done

finish() {
    echo quit >&7
    wait "$victim"
}

begin ./attached
tell before
if ! attach --depth 64; then
    grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err &&
        skip_all ptrace "$(head -1 err)"
fi
leave

# cannot NAME WHAT: the process $victim is refused with WHAT, and continues.
cannot() {
    refused "$1" "$2" mem -q -o x.svg -p "$victim" -d 1
    ok "$1: the process runs on" kill -0 "$victim"
}

TMPDIR=$SCRATCH "$FLAME" off -q -o off.flame -p "$victim" 2>off.err &
tracer=$!
until_traced "$victim"
cannot 'a process with another tracer' "is already traced by flame"
kill -TERM "$tracer"
wait "$tracer"

kill -STOP "$victim"
cannot 'a stopped process' 'is stopped \(by SIGSTOP or a terminal\)'
kill -CONT "$victim"
ok 'a process that was stopped works after the refusal' tell work
finish

begin ./attached
tell work
ok 'the victim sets a filter that forbids executable memory' tell fortress
cannot 'a process that cannot map executable memory' 'it cannot map memory to execute \(a seccomp filter'
ok 'a process with such a filter works after the refusal' tell work
finish

# run_still FILE...: runs a victim and waits until it is ready.
run_still() {
    "$@" <to >from 2>/dev/null &
    victim=$!
    exec 7>to 8<from
    tell before
}
if gcc -static -o fixed "$ROOT/tests/victims/mem/attached.c" -pthread 2>/dev/null; then
    run_still ./fixed
    cannot 'a static program' 'it is linked statically'
    finish
else
    skip static 'nothing can be linked statically'
fi
if musl-gcc -idirafter /usr/include -idirafter "/usr/include/$(uname -m)-linux-gnu" -o musl \
    "$ROOT/tests/victims/mem/attached.c" 2>/dev/null; then
    run_still ./musl
    cannot 'a musl program' 'it uses musl'
    finish
else
    skip musl 'there is no musl-gcc'
fi
if "${CC:-gcc}" -fsanitize=address -o guarded "$ROOT/tests/victims/mem/attached.c" -pthread 2>/dev/null; then
    run_still env ASAN_OPTIONS=detect_leaks=0 ./guarded
    is_guarded() {
        [ "$(readlink "/proc/$victim/exe")" = "$SCRATCH/guarded" ]
    }
    until_true is_guarded
    cannot 'a program with a sanitizer' 'it is built with a sanitizer'
    finish
else
    skip sanitizer 'there is no address sanitizer'
fi
# The kernel reads the variable for every program: that of the recorder is one of them.
LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/preloaded.flame run_still ./attached
cannot 'a program with the recorder preloaded' 'recorded by libflamemem.so already'
finish

# Another root, with only the program's own files.
if [ "$(id -u)" = 0 ] && mkdir -p root/proc && cp attached root/ &&
    for file in $(ldd attached | grep -o '/[^ ]*'); do
        mkdir -p "root/${file%/*}" && cp "$file" "root$file"
    done && chroot root /attached </dev/null >/dev/null 2>&1; [ $? = 2 ]; then
    run_still chroot root /attached
    attach --depth 64
    ok 'a process in another root works under flame mem -p' tell work
    leave
    is_str "$(sum alloc alpha) $(sum count beta)" '100000 100' 'a process in another root is recorded'
    tell forget
    finish
else
    skip not-root 'only root can change the root'
fi

# A plain user.
chmod 755 "$SCRATCH"
if [ "$(id -u)" = 0 ] &&
    setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$SCRATCH/tmp" 2>/dev/null; then
    # The checkout may lie where only root can go.
    chmod 1777 "$SCRATCH/tmp" && cp "$FLAME" "$SCRATCH/flame"
    FLAME=$SCRATCH/flame
    run_still ./attached
    status=0
    setpriv --reuid 65534 --regid 65534 --clear-groups "$FLAME" mem -q -d 1 -o tmp/user.flame -p "$victim" 2>err ||
        status=$?
    is_int "$status" 2 "flame mem -p of another user's process ends with status 2"
    like "$(cat err)" 'belongs to user 0' "flame mem -p of another user's process names its user"
    finish
    run_still setpriv --reuid 65534 --regid 65534 --clear-groups ./attached
    setpriv --reuid 65534 --regid 65534 --clear-groups "$FLAME" mem -o tmp/user.flame -p "$victim" 2>err &
    flame=$!
    until_true records_or_ended err
    ok "a plain user's process works under flame mem -p" tell work
    leave
    is_str "$status $(fview alloc tmp/user.flame | awk '/alpha/ { sum += $NF } END { print sum }')" '0 100000' \
        "flame mem -p of a plain user records the user's own process"
    finish
else
    skip not-root 'only root can become somebody else'
fi
done_testing
