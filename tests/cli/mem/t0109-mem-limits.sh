#!/usr/bin/env bash
# Where we cannot record, the program runs on and one line says why.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object
compile_victim known

mkdir small
if mount -t tmpfs -o size=300k tmpfs small 2>/dev/null; then
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/small/t.flame" ./guest
    is_int "$status" 0 "full disk: the program ends well"
    is_str "$(cat out)" clean "full disk: and is content"
    is_int "$(grep -c 'no space left' err)" 1 "full disk: said once"
    ok "full disk: what was recorded is readable" "$FLAME" fold -o x.folded small/t.flame
    umount small
    mount -t tmpfs -o size=8k tmpfs small
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/small/t.flame" ./guest
    is_str "$(cat out)" clean "disk full from the start: content"
    file_has err 'cannot create the trace: no space left' "disk full from the start: said"
    is_str "$(ls small)" "" "disk full from the start: no file is left"
    umount small
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root "only root can mount a tmpfs"
else
    skip mount "mounting a tmpfs is not permitted here"
fi

ulimit -c 0
run bash -c 'ulimit -f 300; LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/f.flame exec ./guest'
is_int "$status" 0 "file size limit: no SIGXFSZ"
file_has err 'size limit' "file size limit: said"
is_int "$(wc -l <err)" 1 "file size limit: in one line"

for kib in 20000 60000; do
    run bash -c "ulimit -v $kib; LD_PRELOAD=\$SHIM FLAMEMEM_OPTIONS=out=\$SCRATCH/v$kib.flame exec ./known"
    is_int "$status" 0 "address space of $kib KiB: the program ends well"
    is_int "$(wc -l <out)" 15 "address space of $kib KiB: with its whole output"
done

run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/none/t.flame" ./known
is_int "$(wc -l <out)" 15 "no such directory: the program runs on"
file_has err 'no such directory: .*/none/t.flame' "no such directory: said with the path"
is_int "$(wc -l <err)" 1 "no such directory: in one line"
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/none/t.flame:quiet=1" ./known
is_str "$(cat err)" "" "quiet=1: nothing is said"

record "depth=2:color=red:follow" ./known
is_int "$(wc -l <err)" 3 "wrong options: one line each"
file_has err "'depth=2' is ignored" "a value out of range is named"
file_has err "'color=red' is ignored" "an unknown key is named"
ok "and the program is recorded" test "$(total count)" -ge 17

# A directory we may not write to (root may write anywhere).
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 readonly
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/readonly/t.flame" ./known
    file_has err 'permission denied' "read-only directory: said"
fi
done_testing
