#!/usr/bin/env bash
# A seccomp sandbox does not kill a program for flame's system calls, and calls that could not be recorded are
# counted.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim boxed -fno-builtin -pthread
run ./boxed least
[ "$(cat out)" = well ] || skip_all seccomp "no seccomp filters here: $(cat out err)"

calls() { # of work() in the trace
    fview count | awk '/;work;branch;/ { n += $NF } END { print n + 0 }'
}
lost() { # calls that the trace counts as lost; another field of its header
    od -A n -t d8 -j "${1:-160}" -N 8 t.flame | tr -d ' '
}
whole() { # stacks that do not reach the start of a thread
    fview count | grep ';work;branch' | grep -Evc '(^|;)(_start|__libc_start_main|start_thread)(;| |.*;)'
}

# Few stacks: whatever call is forbidden, all is recorded.
for how in strict least threads all "without openat" "without mmap" "without munmap" \
    "without madvise" "without prctl" "without gettid" "without getpid" "without process_vm_readv" \
    "without rt_sigprocmask" "without sched_yield" "without readlinkat" "without read" \
    "without close" "without fstat" "without newfstatat" "without pread64" \
    "without clock_gettime" "without prlimit64" "without fallocate" "without ftruncate" \
    "syscall openat" "nested mmap"; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 1000 ${name:+"$name"}
    is_int "$status" 0 "sandbox $how: the program ends with status 0"
    is_str "$(cat out err)" well "sandbox $how: the program behaves as unrecorded and flame prints nothing"
    is_int "$(calls)" 1016 "sandbox $how: all calls are recorded"
    is_int "$(lost)" 0 "sandbox $how: no call is lost"
    is_int "$(whole)" 0 "sandbox $how: each stack is complete"
done

# Many stacks: more than the reserved room has. Lost calls are counted.
for how in strict least; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 60000 ${name:+"$name"}
    is_str "$status $(cat out err)" "0 well" "sandbox $how, 60,000 stacks: the program behaves as unrecorded"
    ok "sandbox $how, 60,000 stacks: many calls are recorded" test "$(calls)" -ge 10000
    ok "sandbox $how, 60,000 stacks: some calls are lost" test "$(lost)" -gt 0
    is_int "$(($(calls) + $(lost)))" 60016 "sandbox $how, 60,000 stacks: lost calls are counted"
    is_int "$(($(total alloc) + $(lost 168)))" "$(record "" ./boxed refused 60000; total alloc)" \
        "sandbox $how, 60,000 stacks: lost bytes are counted"
done
for how in threads all "without openat" "without mmap" "without close" "without madvise"; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 60000 ${name:+"$name"}
    is_str "$status $(cat out err)" "0 well" "sandbox $how, 60,000 stacks: the program behaves as unrecorded"
    is_int "$(calls)" 60016 "sandbox $how, 60,000 stacks: flame uses the calls that the filter allows"
    is_int "$(lost 120)" 0 "sandbox $how, 60,000 stacks: the rules walk each stack"
done

# A filter set at an arbitrary moment for running threads.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    record "" ./boxed all 4000
    [ "$status $(cat out)" = "0 well" ] || break
done
is_str "$status $(cat out err)" "0 well" \
    'a filter set for running threads, ten times: the program behaves as unrecorded'

record "" ./boxed fork 1000
is_str "$status $(cat out err)" "0 well" 'a child that may not make a trace behaves as unrecorded'
is_int "$(lost)" 1000 'calls of a child that may not make a trace count as lost'
run "$FLAME" mem -o x.folded -- ./boxed fork 1000
file_has err '^flame: 1,000 calls \([^,]*, 50,500 bytes\) after a process entered a sandbox could not be recorded$' \
    'the summary counts calls lost in a sandbox'
file_has err 'boxed \(forked in a sandbox\)' 'the summary names the process in the sandbox'
file_has err '1 process of 2,' 'the summary counts the process in the sandbox'

record "" ./boxed vfork 60000
is_str "$status $(cat out err)" "0 well" 'a child of vfork enters a sandbox: its parent behaves as unrecorded'
is_int "$(calls)" 60016 "a child of vfork enters a sandbox: its parent's calls are recorded"
record "" ./boxed refused 60000
is_str "$status $(cat out err)" "0 well" 'a filter that the kernel refuses gives the program its error'
is_int "$(calls)" 60016 'recording continues after a filter that the kernel refuses'

# A program that is started in a sandbox, so that the library does not know the filter.
for fork in "" fork; do
    record "" ./boxed exec 60000 ${fork:+fork}
    is_str "$status $(cat out err)" "0 well" \
        "a program started in a sandbox${fork:+, forking}, behaves as unrecorded"
    mv "t.flame.$((1 + ${#fork} / 4))" t.flame
    is_int "$(calls)" "$((${#fork} ? 60000 : 60016))" \
        "a program started in a sandbox${fork:+, forking}, is recorded"
    is_int "$(whole)" 0 "a program started in a sandbox${fork:+, forking}, has complete stacks"
    file_has <("$FLAME" fold --view count t.flame) '^boxed;' \
        "a program started in a sandbox${fork:+, forking}, has its name at the root"
done

# Once the filter is set, only the program itself makes system calls.
after() {
    sed -n '/SECCOMP/,$p' "$1" | sed '1d; s/(.*//' | grep -v '^+++' | uniq
}
if command -v strace >/dev/null; then
    for kind in least strict; do
        strace -o plain ./boxed "$kind" 4000 >/dev/null
        LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/s.flame strace -o with ./boxed "$kind" 4000 >out
        is_str "$(cat out)" well "sandbox $kind under strace: the program behaves as unrecorded"
        is_str "$(after with)" "$(after plain)" "sandbox $kind: flame adds no system call"
    done
else
    skip strace "no strace"
fi
done_testing
