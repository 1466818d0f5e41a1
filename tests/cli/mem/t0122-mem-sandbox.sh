#!/usr/bin/env bash
# A program in a seccomp sandbox is not killed for what we do, and what we could not do is
# counted.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim boxed -fno-builtin -pthread
run ./boxed least
[ "$(cat out)" = well ] || skip_all seccomp "no seccomp filters here: $(cat out err)"

calls() { # of work(), by whose stacks
    fview count | awk '/;work;branch;/ { n += $NF } END { print n + 0 }'
}
lost() { # calls that the trace says are missing; another number of its header
    od -A n -t d8 -j "${1:-160}" -N 8 t.flame | tr -d ' '
}
whole() { # stacks that do not come from the beginning of a thread
    fview count | grep ';work;branch' | grep -Evc '(^|;)(_start|__libc_start_main|start_thread)(;| |.*;)'
}

# Few stacks: whatever is forbidden, all is recorded.
for how in strict least threads all "without openat" "without mmap" "without munmap" \
    "without madvise" "without prctl" "without gettid" "without getpid" "without process_vm_readv" \
    "without rt_sigprocmask" "without sched_yield" "without readlinkat" "without read" \
    "without close" "without fstat" "without newfstatat" "without pread64" \
    "without clock_gettime" "without prlimit64" "without fallocate" "without ftruncate" \
    "syscall openat" "nested mmap"; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 1000 ${name:+"$name"}
    is_int "$status" 0 "$how: status"
    is_str "$(cat out err)" well "$how: it comes to its end, and nothing is said"
    is_int "$(calls)" 1016 "$how: all is recorded"
    is_int "$(lost)" 0 "$how: nothing is missing"
    is_int "$(whole)" 0 "$how: with whole stacks"
done

# Many: more than was taken ahead. What is missing is counted.
for how in strict least; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 60000 ${name:+"$name"}
    is_str "$status $(cat out err)" "0 well" "$how, 60,000 stacks: it comes to its end"
    ok "$how: many are recorded" test "$(calls)" -ge 10000
    ok "$how: not all are" test "$(lost)" -gt 0
    is_int "$(($(calls) + $(lost)))" 60016 "$how: the others are counted"
    is_int "$(($(total alloc) + $(lost 168)))" "$(record "" ./boxed refused 60000; total alloc)" \
        "$how: with their bytes"
done
for how in threads all "without openat" "without mmap" "without close" "without madvise"; do
    read -r kind name <<<"$how"
    record "" ./boxed "$kind" 60000 ${name:+"$name"}
    is_str "$status $(cat out err)" "0 well" "$how, 60,000 stacks: it comes to its end"
    is_int "$(calls)" 60016 "$how: what the filter allows is made use of"
    is_int "$(lost 120)" 0 "$how: no stack was too much for the rules"
done

# A filter over threads that are at work: at any moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    record "" ./boxed all 4000
    [ "$status $(cat out)" = "0 well" ] || break
done
is_str "$status $(cat out err)" "0 well" "a filter that comes over threads at work, ten times"

record "" ./boxed fork 1000
is_str "$status $(cat out err)" "0 well" "a child that may not make a trace: it comes to its end"
is_int "$(lost)" 1000 "its calls are counted as missing"
run "$FLAME" mem -o x.folded -- ./boxed fork 1000
file_has err '^flame: 1,000 calls \([^,]*, 50,500 bytes\) after a process entered a sandbox could not be recorded$' \
    "the summary says so"
file_has err 'boxed \(forked in a sandbox\)' "and names it"
file_has err '1 process of 2,' "and counts it"

record "" ./boxed vfork 60000
is_str "$status $(cat out err)" "0 well" "a child of vfork enters one: its parent runs on"
is_int "$(calls)" 60016 "and is recorded"
record "" ./boxed refused 60000
is_str "$status $(cat out err)" "0 well" "filters the kernel does not take: its errors are the program's"
is_int "$(calls)" 60016 "recording goes on"

# A program that is started in a sandbox, of which no more is known than that it has been.
for fork in "" fork; do
    record "" ./boxed exec 60000 ${fork:+fork}
    is_str "$status $(cat out err)" "0 well" "started in a sandbox${fork:+, forking}: it comes to its end"
    mv "t.flame.$((1 + ${#fork} / 4))" t.flame
    is_int "$(calls)" "$((${#fork} ? 60000 : 60016))" "it is recorded"
    is_int "$(whole)" 0 "with whole stacks"
    file_has <("$FLAME" fold --view count t.flame) '^boxed;' "by its name"
done

# From the moment the filter is there, the calls made are the program's own.
after() {
    sed -n '/SECCOMP/,$p' "$1" | sed '1d; s/(.*//' | grep -v '^+++' | uniq
}
if command -v strace >/dev/null; then
    for kind in least strict; do
        strace -o plain ./boxed "$kind" 4000 >/dev/null
        LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/s.flame strace -o with ./boxed "$kind" 4000 >out
        is_str "$(cat out)" well "$kind, under strace"
        is_str "$(after with)" "$(after plain)" "$kind: no system call that was not there before"
    done
else
    skip strace "no strace"
fi
done_testing
