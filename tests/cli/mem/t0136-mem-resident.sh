#!/usr/bin/env bash
# Resident memory by the function that allocated or mapped it: to the byte as the kernel reports it,
# and to the page as the program itself knows it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim resides -pthread -I"$ROOT"

# Value of a field in the last scan of FILE.
looked() {
    "$FLAME" dump -s resident "${2:-t.flame}" | sed -n "s/.* $1=\([0-9]*\).*/\1/p"
}
# FUNCTION[;FRAME] BYTES, summed up, of what functions of the program's have.
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
    ok "$1: something was looked at" test "$(looked bytes "${2:-t.flame}")" -gt 100000
    is_int "$(looked bytes "${2:-t.flame}")" "$(looked kernel_bytes "${2:-t.flame}")" \
        "$1: the rows' sum is what smaps_rollup says"
    is_int "$(total rss "${2:-t.flame}")" "$(looked kernel_bytes "${2:-t.flame}")" "$1: so is the view's"
    is_int "$(total slack "${2:-t.flame}")" "$(looked slack_bytes "${2:-t.flame}")" \
        "$1: slack is what the allocator has"
    is_int "$(part '[allocator: free]')" "$(looked slack_bytes)" "$1: in both views"
}

head -c 65536 /dev/urandom >file
record rss=1 ./resides known "$SCRATCH/file"
is_str "$status$(cat out err)" 0 'known memory: run'
adds_up known
is_str "$(by_function rss)" 'freed_heap 2000
given_back;[anonymous memory] 163840
one_in_three 4095984
read_file;[file];[file pages] 65536
share;[shared memory];[shared memory pages] 28672
small_blocks 1000000
write_file;[file] 65536' 'each has the pages that it touched, and kept'
ok 'what was freed is the arena'\''s' test "$(part '[allocator: free];[main arena]')" -ge 3900000
for name in '[program]' '[libraries];libc.so.6;[file pages' '[stacks];[first thread]' '[recorder]'; do
    ok "$name is there" test "$(part "$name")" -ge 4096
done
ok 'what is free stands with the blocks around it' \
    test "$(by_function slack | sed -n 's/^small_blocks;\[free around\] //p')" -ge 1000
is_int "$(looked asked_bytes)" 13290000 'asked for'
# glibc rounds 1000 up to 1000, 2000 to 2008, and gives large ones whole pages.
is_int "$(looked usable_bytes)" 13294088 'handed out'
is_int "$(fview alloc | grep -c 'resident\|\[recorder\]\|\[file pages\]')" 0 'other views have nothing of it'
is_int "$(looked stood)" 1 'nobody else ran'

# Twice: the second look takes the first one's place, and the first is in its copy.
record rss=1 ./resides twice
is_int "$status" 0 'two snapshots: run'
before=t.snapshot-1-before.flame
after=t.snapshot-2-after.flame
adds_up 'before' "$before"
adds_up 'after' "$after"
is_str "$(by_function rss "$before")" '' 'before: it is not there yet'
is_str "$(by_function rss "$after")" 'grown 8191984' 'after: it is'
said=$(head -1 out)
difference=$((said - $(looked kernel_bytes "$after")))
ok 'what the program reads itself is no more than tables that are given back, and stdio, away' \
    test "$difference" -ge -200000 -a "$difference" -le 600000

record rss=1 ./resides threads
is_int "$status" 0 'threads: run'
adds_up threads
is_str "$(by_function rss | sed 's/^.*in_arena/in_arena/')" 'in_arena 12000' 'a block of each thread is left'
is_str "$(fview rss | sed -n 's/.*\(\[arena [0-9]\]\) .*/\1/p' | tr '\n' ' ')" '[arena 1] [arena 2] [arena 3] ' \
    'what is free is told by arena'
ok 'the stack of a thread that is deep' test "$(part '[stacks];[threads]')" -ge 819200

# A child has what it inherited by its parent's stacks, and which pages the parent has, too.
record rss=1 ./resides fork
is_int "$status" 0 'fork: run'
adds_up parent
mv t.flame parent.flame
mv t.flame.1 t.flame
is_str "$(by_function rss t.flame)" 'childs_block 1228784
inherited_block 2047984
inherited_block;[shared with another process] 2048000' 'fork: the child'
is_int "$(total rss)" "$(looked kernel_bytes)" 'the child adds up'

record rss=1 ./resides zero
adds_up zero
is_int "$(part 'also_written;')" 24576 'what was written to is resident'
# Nothing, but where the kernel has no page of zeros that all who only read share.
is_int "$(part 'only_read;')" $(($(cat out) - 24576)) \
    'pages of zeros beside that are not, unless they are pages of their own'

record rss=1 ./resides huge
adds_up huge
if [ "$(head -1 out)" -gt 0 ]; then
    is_int "$(part 'huge_block;[anonymous memory];[huge pages]')" "$(head -1 out)" 'huge pages are as many as smaps says'
else
    skip 'huge pages' 'this machine makes none'
fi

# One block in three is free, in between others.
record rss=1 ./resides many 30000 200
adds_up many
is_int "$(part 'many ')" 4240000 'two blocks in three, and their table'
ok 'the recorder'\''s own memory is told from the program'\''s' \
    test "$(part '[other mappings];[anonymous memory]')" -le 65536 -a "$(part '[recorder]')" -ge 1000000
ok 'the third is free around them' test "$(part 'many;[free around]' slack)" -ge 1900000
like "$("$FLAME" top -n 1 --view slack t.flame | tail -n 1)" ' many$' 'and flame top says whose blocks keep it, not that it is free'

record rss=1 ./resides sandbox
is_int "$status" 0 'a sandbox in which nothing may be opened: the program runs on'
is_int "$(looked error)" 1 'and the trace says why nothing was looked at'
run_expect_status 2 'there is no such view then' "$FLAME" fold --view rss t.flame
file_has err 'recorded without a look at what is resident' 'and a line says so'

# Without the option, nothing.
record "" ./resides zero
is_str "$(looked bytes)" '' 'nobody looks unless told to'

# The driver: the option, its line, what it is not combined with.
run "$FLAME" mem --view rss -o r.folded -- ./resides known "$SCRATCH/file"
is_int "$status" 0 'flame mem --view rss'
file_has err 'resident at the end .*; blocks: asked for 12.67 MiB.* handed out .* in no block 3\.[89]' \
    'the summary has the three figures'
file_has r.folded ';one_in_three 4095984$' 'and the result the view'
file_lacks r.folded '\[other mappings\];(notes|rules)' 'the files of the run are the recorder'\''s'
run "$FLAME" mem --rss -o r.flame -- ./resides sandbox
file_has err 'resident memory could not be scanned in 1 process: Operation not permitted' \
    'what could not be looked at is in the summary'
run_expect_status 2 'not of a sample' "$FLAME" mem --view swap --sample 1k -o x.svg -- true
file_has err 'looks at every block; leave --sample out' 'and a line says why'
run "$FLAME" mem -q --view rss -o f.folded -- ./resides fork
is_str "$(sed -n 's/.*;\([a-z]*_block\) /\1 /p' f.folded | LC_ALL=C sort)" 'childs_block 1228784
inherited_block 4095984' 'a run: what each process has itself'
ok 'and what it inherited is named' grep -q ';\[inherited\]' f.folded

# Another allocator: its free memory is told as such, and the sum is right all the same.
if jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1) && [ -n "$jemalloc" ]; then
    BENEATH=$jemalloc record rss=1 ./resides many 30000 200
    adds_up jemalloc
    is_int "$(part 'many ')" 4240000 'jemalloc: the blocks'
    is_int "$(looked usable_bytes)" 0 'what it hands out is not known'
    ok 'what it keeps is told as its' test "$(part '[allocator: free]')" -ge 2000000 -a \
        "$(part '[other mappings];[anonymous memory]')" -le 100000
else
    skip jemalloc 'there is no libjemalloc'
fi

done_testing
