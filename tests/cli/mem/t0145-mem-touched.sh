#!/usr/bin/env bash
# Page faults by the stack that allocated the touched memory: exact to the page by the program's own count.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/noperf.sh"

compile_victim touched -O1 -pthread
head -c 131072 /dev/urandom >file

touched() {
    run "$FLAME" mem --view touched "$@"
    if grep -q 'perf_event_open' err; then
        skip_all perf-sched 'the kernel tells no page faults here'
    fi
}
# FUNCTION [FILE]: minor faults in memory that it allocated or mapped.
made() {
    grep -F ";$1;" "${2:-x.folded}" | grep -F '[minor fault]' | awk '{ n += $NF } END { printf "%d\n", n }'
}
# PART: faults in memory of no stack.
in_part() {
    grep -F ";$1;" x.folded | awk '{ n += $NF } END { printf "%d\n", n }'
}

# The kernel does not wait for the reader: on a busy machine records may be lost, and are counted.
all_faults() {
    touched -o x.folded -- ./touched "$SCRATCH/file"
    [ "$(in_part '[faults lost]')" -eq 0 ]
}
again 5 all_faults
is_int "$status" 0 "flame mem --view touched ends with the command's status"
is_str "$(head -1 x.folded)" '# flame: view=touched unit=faults' \
    'the result of flame mem --view touched has that view'
is_int "$(made make_a)" 100 'faults in a block count for the stack that allocated it'
is_int "$(made make_b)" 50 'faults in a second block count for its stack'
is_int "$(made make_short)" 200 'faults in blocks freed at once, at one address, count for their stack'
is_int "$(made make_resized)" 30 'faults in a block before its realloc count for its stack'
is_int "$(made resize)" 300 'faults in a block after its realloc count for the realloc'
is_int "$(made make_mapping)" 70 'faults in a mapping that was unmapped count for its stack'
ok 'faults in a mapping have its kind' grep -q ';make_mapping;\[anonymous memory\];\[minor fault\] 70$' x.folded
is_int "$(made make_file)" 20 'faults in a mapped file count for its stack'
is_int "$(made make_for_thread)" 30 'faults of another thread count for the allocating stack'
is_int "$(made make_for_child)" 20 'faults in a forked child count for the allocating stack'
ok 'small blocks have the pages that begin in them' \
    test "$(made make_small)" -ge 48 -a "$(made make_small)" -le 64
is_int "$(made touch)" 0 'faults do not count for the stack that touches'
ok 'faults in stacks count as [stacks]' test "$(in_part '[stacks]')" -ge 60
ok 'faults in libraries count as [libraries]' test "$(in_part '[libraries]')" -ge 1
ok 'faults in the recorder count as [recorder]' test "$(in_part '[recorder]')" -ge 1
ok 'faults in free memory count as [allocator: free]' test "$(in_part '[allocator: free]')" -ge 1
is_int "$(in_part '[faults lost]')" 0 'no fault was lost'

# Faults by the function that touched the page: 760 of them are in memory that these
# functions made.
made=0
for f in make_a make_b make_short make_resized resize make_mapping make_file make_for_thread make_for_child; do
    made=$((made + $(made "$f")))
done
none_lost() {
    run "$FLAME" mem --view fault -o y.folded -- ./touched "$SCRATCH/file"
    lost=$(grep 'records lost' err)
    [ -z "$lost" ]
}
again 5 none_lost
by_toucher=$(grep -F ';touch;' y.folded | grep -vF ';go_deep;' | awk '{ n += $NF } END { printf "%d\n", n }')
ok "--view touched agrees with --view fault ($made, $by_toucher by the touching stack)" \
    test -n "$lost" -o "$made" = "$by_toucher"

# A thousand times more faults than there is room for: unknown ones are counted.
cat >flood.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
int main(void)
{
    size_t n = (size_t)512 << 20;
    volatile char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)p, n, MADV_NOHUGEPAGE);
    for (int round = 0; round < 16; round++) {
        for (size_t i = 0; i < n / 16; i += 4096)
            p[i] = 1;
        madvise((void *)p, n, MADV_DONTNEED);
    }
    exit(0);
}
END
"${CC:-cc}" -O1 -o flood flood.c
touched -o x.folded -- ./flood
known=$(grep -F ';main;' x.folded | awk '{ n += $NF } END { printf "%d\n", n }')
lost=$(in_part '[faults lost]')
ok "faults without room are counted ($known and $lost)" \
    test $((known + lost)) -ge 131072 -a $((known + lost)) -le 132072
ok 'faults without room are shown as [faults lost]' test "$lost" -gt 0

touched -o x.flame -- ./touched "$SCRATCH/file"
"$FLAME" fold --view touched x*.flame >y.folded
is_int "$(made make_a y.folded)" 100 'traces of --view touched have the faults'
is_int "$(made make_for_child y.folded)" 20 'traces of --view touched have the faults of children'
for t in $(traces_in x.flame); do
    "$FLAME" dump "$t"
done >rows
ok 'dump names rows of touched memory' grep -q 'flags=touched' rows
ok 'dump names the kind of fault' grep -q 'resident=minor-fault' rows
run "$FLAME" fold --view live x.flame
is_int "$(grep -c 'minor fault' out)" 0 'fold --view live has no faults'
touched -o x.html -- ./touched "$SCRATCH/file"
ok 'the page of flame mem --view touched has that view' grep -q '"name":"touched"' x.html

run_expect_status 2 'flame mem --view touched --sample ends with status 2' \
    "$FLAME" mem --sample 1k --view touched -o x.svg -- true
file_has err 'flame: mem: --view touched needs every block; leave --sample out' \
    'flame mem --view touched --sample says why'
run_expect_status 0 'flame mem without --view touched succeeds' "$FLAME" mem -o z.flame -- true
run_expect_status 2 'fold --view touched of a trace without it ends with status 2' \
    "$FLAME" fold --view touched z.flame
file_has err "recorded without whose memory page faults were in, which flame mem --view touched records" \
    'fold --view touched of a trace without it says why'

# Where the kernel refuses, nothing runs.
run_expect_status 1 'flame mem --view touched without perf_event_open ends with status 1' \
    python3 noperf.py "$FLAME" mem --view touched -o z.svg -- touch ran
is_str "$(cat err)" "flame: mem: --view touched: perf_event_open is refused, as by a container's \
seccomp filter; allow it there, or run outside" 'flame mem --view touched without perf_event_open says why'
not_ok 'flame mem --view touched without perf_event_open does not run the command' test -e ran

done_testing
