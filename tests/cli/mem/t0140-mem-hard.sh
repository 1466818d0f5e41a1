#!/usr/bin/env bash
# Mappings that are difficult for a recorder, as `flame mem` counts them, with those of the C
# library and without, and as `flame leak` scans them: memory that grows by itself,
# that other code fills, that is far larger than the machine, that is shared, moved, locked, mapped
# in signal handlers, and that the kernel ends the program for.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim hardmaps -lrt

# "attach;[shared memory] 40960": by function, without what malloc maps.
ends() {
    fview "$@" | grep -v ';\[allocator\] ' | sed -n 's/.*;\([^;]*;\[[a-z ]*\] [0-9]*\)$/\1/p' | sed 's/_\[i\];/;/' |
        awk '{ n[substr($0, 1, length($0) - length($NF) - 1)] += $NF }
            END { for (s in n) printf "%s %.0f\n", s, n[s] }' | sort
}

for inside in '' --libc-mappings; do
    counted() {
        # shellcheck disable=SC2086 # an option or none
        run "$FLAME" mem -q $inside -o t.flame -- ./hardmaps "$@"
    }

    counted grown
    is_str "$status$(ends mmap)" '0map;[stack] 16384' "hardmaps grown $inside: the requested size counts"
    counted shadow
    is_str "$status$(ends mmap)" "0map;[anonymous memory] $((1 << 44))" "hardmaps shadow $inside: 16 TiB count"

    counted attached
    is_str "$status$(cat out)" 0 "hardmaps attached $inside behaves as unrecorded"
    is_str "$(ends mmap)" 'attach;[shared memory] 40960
map;[anonymous memory] 4096' "hardmaps attached $inside: segments of shmat that are still attached"
    is_str "$(ends unmapped)" 'attach;[shared memory] 81920' \
        "hardmaps attached $inside: segments that shmdt detached"

    counted moved
    is_int "$status" 0 "hardmaps moved $inside ends with status 0"
    is_str "$(ends mmap)" 'map;[anonymous memory] 196608
move;[anonymous memory] 98304
move;[shared memory] 16384
moved;[shared memory] 16384' "hardmaps moved $inside: a moved mapping counts for its mover, a doubled one twice"

    # shellcheck disable=SC2086 # an option or none
    run "$FLAME" mem $inside -o t.flame -- ./hardmaps handler
    is_int "$status" 0 "hardmaps handler $inside ends with status 0"
    # On a machine that is busy the program itself may not run for a thousand signals.
    ok "hardmaps handler $inside: stacks continue below the handler, but for the first few" test "$(fview mmap |
        grep ';on_signal;' | grep -v ';main;handler;' | awk '{ n += $NF } END { printf "%.0f\n", n }')" -le 40960
    is_str "$(fview count | grep ';on_signal;')" '' "hardmaps handler $inside: the handler has no block"
    told=$(ends mmap | awk '{ n += $NF } END { printf "%.0f\n", n }')
    not_told=$(grep -c 'calls came from signal handlers that interrupted the recorder' err)
    ok "hardmaps handler $inside: all mappings count, or the summary reports lost ones" \
        test "$told" -eq "$(cat out)" -o \( "$told" -lt "$(cat out)" -a "$not_told" -eq 1 \)

    counted barred
    is_int "$status" 0 "hardmaps barred $inside behaves as unrecorded"
    fview mmap >mapped 2>err
    is_str "$(cat err; ends mmap)$(awk '$NF > 1000000' mapped)" 'map;[anonymous memory] 4096' \
        "hardmaps barred $inside: failed calls do not count"

    counted locked
    case $(cat out) in
        mlockall*) skip not-root 'the limit for locked memory is too small' ;;
        *) is_int "$status$(total count)" 020000 "hardmaps locked $inside behaves as unrecorded, and counts" ;;
    esac
done

# Leaks, and pointers in these kinds of memory.
leaks() { # BYTES WORD...
    local want=$1
    shift
    run timeout 60 "$FLAME" leak -o l.flame -- ./hardmaps "$@"
    if grep -q '^userfaultfd: ' out; then
        skip userfaultfd 'the kernel does not permit userfaultfd'
        return
    fi
    is_int "$status" $((want ? 23 : 0)) "flame leak of hardmaps $* ends with a verdict"
    is_str "$(sed -n 's/^flame: leak: \([0-9]*\) bytes in .* leaked, .*/\1/p' err)" "$want" \
        "flame leak of hardmaps $* finds exactly the leaked bytes"
}
leaks 67 grown
leaks 330 filled
leaks 330 filled small
leaks 330 filled block
leaks 44 shadow
leaks 0 attached
leaks 0 moved

# The kernel kills the program for its memory: the recording up to then is readable.
group=/sys/fs/cgroup/memory/flame-test.$$
limit=memory.limit_in_bytes
if [ ! -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/flame-test.$$ limit=memory.max
fi
if mkdir "$group" 2>err && echo 67108864 2>err >"$group/$limit"; then
    [ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
    [ ! -e "$group/memory.memsw.limit_in_bytes" ] || echo 67108864 2>err >"$group/memory.memsw.limit_in_bytes"
    status=0
    # shellcheck disable=SC2016 # the inner shell's
    { "$FLAME" mem -q -o t.flame -- \
        sh -c 'echo $$ >"$0/cgroup.procs" && exec ./hardmaps ended' "$group"; } >out 2>err || status=$?
    is_int "$status" 137 'the kernel kills a program over its memory limit'
    ok 'a program killed for its memory is recorded up to then' \
        test "$(ends mmap t.flame/2 | sed -n 's/.*map;\[anonymous memory\] //p')" -gt 30000000
    rmdir "$group"
else
    [ ! -d "$group" ] || rmdir "$group"
    skip memory-cgroup "no memory limit for a group can be set here: $(cat err)"
fi
done_testing
