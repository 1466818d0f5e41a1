#!/usr/bin/env bash
# Resident memory by the function that allocated or mapped it: to the byte as the kernel reports it,
# and to the page as the program itself computes it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim resides -pthread -I"$ROOT"

# Value of a field in the last scan of FILE.
looked() {
    "$FLAME" dump -s resident "${2:-t.flame}" | sed -n "s/.* $1=\([0-9]*\).*/\1/p"
}
# FUNCTION[;FRAME] BYTES, sums for functions of the program.
by_function() {
    fview "$1" "${2:-t.flame}" | sed -n 's/.*;\(\([a-z_]*_[a-z_]*\|share\|grown\)\(;\[[^]]*\]\)*\) \([0-9]*\)$/\1 \4/p' |
        awk '{ k = substr($0, 1, length($0) - length($NF) - 1); n[k] += $NF }
            END { for (k in n) printf "%s %d\n", k, n[k] }' | LC_ALL=C sort
}
# Bytes below a frame: [libraries] and so on.
part() {
    fview "${2:-rss}" | grep -F ";$1" | awk '{ n += $NF } END { printf "%d\n", n }'
}
adds_up() {
    ok "resident memory, $1: a scan has bytes" test "$(looked bytes "${2:-t.flame}")" -gt 100000
    is_int "$(looked bytes "${2:-t.flame}")" "$(looked kernel_bytes "${2:-t.flame}")" \
        "resident memory, $1: the rows sum to smaps_rollup"
    is_int "$(total rss "${2:-t.flame}")" "$(looked kernel_bytes "${2:-t.flame}")" \
        "resident memory, $1: the view sums to smaps_rollup"
    is_int "$(total slack "${2:-t.flame}")" "$(looked slack_bytes "${2:-t.flame}")" \
        "resident memory, $1: slack is the allocator's free memory"
    is_int "$(part '[allocator: free]')" "$(looked slack_bytes)" \
        "resident memory, $1: both views have the allocator's free memory"
}

head -c 65536 /dev/urandom >file
record rss=1 ./resides known "$SCRATCH/file"
is_str "$status$(cat out err)" 0 'resides known ends with status 0'
adds_up known
is_str "$(by_function rss)" 'freed_heap 2000
given_back;[anonymous memory] 163840
one_in_three 4095984
read_file;[file];[file pages] 65536
share;[shared memory];[shared memory pages] 28672
small_blocks 1000000
write_file;[file] 65536' 'resident pages count for the stack that allocated or mapped them'
ok 'resident pages of freed blocks count for the main arena' \
    test "$(part '[allocator: free];[main arena]')" -ge 3900000
for name in '[program]' '[libraries];libc.so.6;[file pages' '[stacks];[first thread]' '[recorder]'; do
    ok "resident memory has the part $name" test "$(part "$name")" -ge 4096
done
ok 'slack around live blocks counts for their stack' \
    test "$(by_function slack | sed -n 's/^small_blocks;\[free around\] //p')" -ge 1000
is_int "$(looked asked_bytes)" 13290000 'resident memory: requested bytes'
# glibc rounds 1000 up to 1000, 2000 to 2008, and gives large ones whole pages.
is_int "$(looked usable_bytes)" 13294088 'resident memory: usable bytes'
is_int "$(fview alloc | grep -c 'resident\|\[recorder\]\|\[file pages\]')" 0 \
    'other views have no part of resident memory'
is_int "$(looked stood)" 1 'resident memory: no other thread ran during the scan'

# Two snapshots: the second scan replaces the first, which stays in its copy.
record rss=1 ./resides twice
is_int "$status" 0 'resides twice ends with status 0'
before=t.snapshot-1-before.flame
after=t.snapshot-2-after.flame
adds_up 'before' "$before"
adds_up 'after' "$after"
is_str "$(by_function rss "$before")" '' 'the first snapshot lacks the later block'
is_str "$(by_function rss "$after")" 'grown 8191984' 'the second snapshot has the later block'
said=$(head -1 out)
difference=$((said - $(looked kernel_bytes "$after")))
ok "resident memory differs from the program's own reading only by freed tables and stdio" \
    test "$difference" -ge -200000 -a "$difference" -le 600000

record rss=1 ./resides threads
is_int "$status" 0 'resides threads ends with status 0'
adds_up threads
is_str "$(by_function rss | sed 's/^.*in_arena/in_arena/')" 'in_arena 12000' \
    'resident memory has the remaining block of each thread'
is_str "$(fview rss | sed -n 's/.*\(\[arena [0-9]\]\) .*/\1/p' | tr '\n' ' ')" '[arena 1] [arena 2] [arena 3] ' \
    'free resident memory counts by arena'
ok 'resident memory has the stack of a deep thread' test "$(part '[stacks];[threads]')" -ge 819200

# A child has inherited blocks by its parent's stacks, and the pages that the parent shares.
record rss=1 ./resides fork
is_int "$status" 0 'resides fork ends with status 0'
adds_up parent
mv t.flame parent.flame
mv t.flame.1 t.flame
is_str "$(by_function rss t.flame)" 'childs_block 1228784
inherited_block 2047984
inherited_block;[shared with another process] 2048000' \
    'resident memory of a child: own, inherited and shared pages'
is_int "$(total rss)" "$(looked kernel_bytes)" 'resident memory of a child sums to smaps_rollup'

record rss=1 ./resides zero
adds_up zero
is_int "$(part 'also_written;')" 24576 'written pages are resident'
# None, unless the kernel has no shared zero page for pages that are only read.
is_int "$(part 'only_read;')" $(($(cat out) - 24576)) \
    'pages that are only read are not resident, unless the kernel gives each its own'

record rss=1 ./resides huge
adds_up huge
if [ "$(head -1 out)" -gt 0 ]; then
    is_int "$(part 'huge_block;[anonymous memory];[huge pages]')" "$(head -1 out)" \
        'resident memory has as many huge pages as smaps'
else
    skip 'huge pages' 'this machine makes none'
fi

# One block in three is free, between live ones.
record rss=1 ./resides many 30000 200
adds_up many
is_int "$(part 'many ')" 4240000 'resident memory of two blocks in three, with their table'
ok "the recorder's own memory is separate from the program's" \
    test "$(part '[other mappings];[anonymous memory]')" -le 65536 -a "$(part '[recorder]')" -ge 1000000
ok 'slack has the free block in three around live ones' test "$(part 'many;[free around]' slack)" -ge 1900000
like "$("$FLAME" top -n 1 --view slack t.flame | tail -n 1)" ' many$' \
    'flame top --view slack names the function whose blocks keep the memory'

record rss=1 ./resides sandbox
is_int "$status" 0 'flame mem --rss in a sandbox without open: the program runs on'
is_int "$(looked error)" 1 'the trace says why no scan could be made'
run_expect_status 2 'fold --view rss without a scan ends with status 2' "$FLAME" fold --view rss t.flame
file_has err 'recorded without a look at what is resident' 'fold --view rss without a scan says why'

# Without the option there is no scan.
record "" ./resides zero
is_str "$(looked bytes)" '' 'a recording without rss=1 has no scan'

# The driver: the option, its line in the summary, the options that exclude it.
run "$FLAME" mem --view rss -o r.folded -- ./resides known "$SCRATCH/file"
is_int "$status" 0 'flame mem --view rss succeeds'
file_has err 'resident at the end .*; blocks: asked for 12.67 MiB.* handed out .* in no block 3\.[89]' \
    'the summary has requested, usable and free bytes'
file_has r.folded ';one_in_three 4095984$' 'the result of flame mem --view rss has that view'
file_lacks r.folded '\[other mappings\];(notes|rules)' "files of the run count as the recorder's memory"
run "$FLAME" mem --rss -o r.flame -- ./resides sandbox
file_has err 'resident memory could not be scanned in 1 process: Operation not permitted' \
    'the summary counts processes that could not be scanned'
run_expect_status 2 'flame mem --view swap --sample ends with status 2' \
    "$FLAME" mem --view swap --sample 1k -o x.svg -- true
file_has err 'needs every block; leave --sample out' 'flame mem --view swap --sample says why'
run "$FLAME" mem -q --view rss -o f.folded -- ./resides fork
is_str "$(sed -n 's/.*;\([a-z]*_block\) /\1 /p' f.folded | LC_ALL=C sort)" 'childs_block 1228784
inherited_block 4095984' 'the result of a run has what each process allocated itself'
ok 'the result of a run names inherited memory' grep -q ';\[inherited\]' f.folded

# Another allocator: its free memory counts as such, and the sum is right as well.
if jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1) && [ -n "$jemalloc" ]; then
    BENEATH=$jemalloc record rss=1 ./resides many 30000 200
    adds_up jemalloc
    is_int "$(part 'many ')" 4240000 "resident memory of jemalloc's blocks"
    is_int "$(looked usable_bytes)" 0 'usable bytes of jemalloc are unknown'
    ok "free memory of jemalloc counts as the allocator's" test "$(part '[allocator: free]')" -ge 2000000 -a \
        "$(part '[other mappings];[anonymous memory]')" -le 100000
else
    skip jemalloc 'there is no libjemalloc'
fi

done_testing
