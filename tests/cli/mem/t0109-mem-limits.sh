#!/usr/bin/env bash
# Where the library cannot record, the program runs on and one line says why.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object
compile_victim known

mkdir small
if mount -t tmpfs -o size=300k tmpfs small 2>/dev/null; then
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/small/t.flame" ./guest
    is_int "$status" 0 'full disk: the program ends with status 0'
    is_str "$(cat out)" clean 'full disk: the program behaves as unrecorded'
    is_int "$(grep -c 'no space left' err)" 1 'full disk: one line says so'
    ok 'full disk: the part of the trace that was written is readable' "$FLAME" fold -o x.folded small/t.flame
    umount small
    mount -t tmpfs -o size=8k tmpfs small
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/small/t.flame" ./guest
    is_str "$(cat out)" clean 'disk full from the start: the program behaves as unrecorded'
    file_has err 'cannot create the trace: no space left' 'disk full from the start: a line says so'
    is_str "$(ls small)" "" 'disk full from the start: no trace is left'
    umount small
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root "only root can mount a tmpfs"
else
    skip mount "mounting a tmpfs is not permitted here"
fi

ulimit -c 0
run bash -c 'ulimit -f 300; LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/f.flame exec ./guest'
is_int "$status" 0 'file size limit: the program gets no SIGXFSZ'
file_has err 'size limit' 'file size limit: a line says so'
is_int "$(wc -l <err)" 1 'file size limit: no other line is printed'

for kib in 20000 60000; do
    run bash -c "ulimit -v $kib; LD_PRELOAD=\$SHIM FLAMEMEM_OPTIONS=out=\$SCRATCH/v$kib.flame exec ./known"
    is_int "$status" 0 "address space of $kib KiB: the program ends with status 0"
    is_int "$(wc -l <out)" 15 "address space of $kib KiB: the program's output is complete"
done

run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/none/t.flame" ./known
is_int "$(wc -l <out)" 15 'missing directory: the program runs on'
file_has err 'no such directory: .*/none/t.flame' 'missing directory: a line has the path'
is_int "$(wc -l <err)" 1 'missing directory: no other line is printed'
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/none/t.flame:quiet=1" ./known
is_str "$(cat err)" "" 'quiet=1: no line is printed'

record "depth=2:color=red:follow" ./known
is_int "$(wc -l <err)" 3 'invalid FLAMEMEM_OPTIONS: one line each'
file_has err "'depth=2' is ignored" 'a value out of range in FLAMEMEM_OPTIONS is reported'
file_has err "'color=red' is ignored" 'an unknown key in FLAMEMEM_OPTIONS is reported'
ok 'the program is recorded in spite of invalid FLAMEMEM_OPTIONS' test "$(total count)" -ge 17

# A directory without write permission (root may write anywhere).
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 readonly
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/readonly/t.flame" ./known
    file_has err 'permission denied' 'read-only directory: a line says so'
fi
done_testing
