#!/usr/bin/env bash
# Page faults by whose memory was touched: to the page what the program knows of itself.
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
# FUNCTION [FILE]: minor faults in what it has made.
made() {
    grep -F ";$1;" "${2:-x.folded}" | grep -F '[minor fault]' | awk '{ n += $NF } END { printf "%d\n", n }'
}
# PART: faults in memory that is no stack's.
in_part() {
    grep -F ";$1;" x.folded | awk '{ n += $NF } END { printf "%d\n", n }'
}

# The kernel waits for no reader: on a busy machine some may be lost, which is told.
all_faults() {
    touched -o x.folded -- ./touched "$SCRATCH/file"
    [ "$(in_part '[faults lost]')" -eq 0 ]
}
again 5 all_faults
is_int "$status" 0 'the command has its status'
is_str "$(head -1 x.folded)" '# flame: view=touched unit=faults' 'the view'
is_int "$(made make_a)" 100 'a block is of who allocated it'
is_int "$(made make_b)" 50 'and another one'
is_int "$(made make_short)" 200 'of blocks that were freed before anybody looked, each at the same place'
is_int "$(made make_resized)" 30 'of a block before it is resized'
is_int "$(made resize)" 300 'and after'
is_int "$(made make_mapping)" 70 'of a mapping that was unmapped'
ok 'with what it was' grep -q ';make_mapping;\[anonymous memory\];\[minor fault\] 70$' x.folded
is_int "$(made make_file)" 20 'of a file that was mapped'
is_int "$(made make_for_thread)" 30 'what another thread touches'
is_int "$(made make_for_child)" 20 'in a forked child'
ok 'small blocks have the pages that begin in them' test "$(made make_small)" -ge 48 -a "$(made make_small)" -le 64
is_int "$(made touch)" 0 'it is not who touches'
ok 'a stack' test "$(in_part '[stacks]')" -ge 60
ok 'libraries' test "$(in_part '[libraries]')" -ge 1
ok 'the recorder' test "$(in_part '[recorder]')" -ge 1
ok 'the allocator' test "$(in_part '[allocator: free]')" -ge 1
is_int "$(in_part '[faults lost]')" 0 'none was lost'

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
ok "the views agree ($made, $by_toucher by who touches)" test -n "$lost" -o "$made" = "$by_toucher"

# A thousand times as many as there is room for: what is not known is counted.
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
ok "what there is no room for is counted ($known and $lost)" test $((known + lost)) -ge 131072 -a $((known + lost)) -le 132072
ok 'and named' test "$lost" -gt 0

touched -o x.flame -- ./touched "$SCRATCH/file"
"$FLAME" fold --view touched x*.flame >y.folded
is_int "$(made make_a y.folded)" 100 'traces have them'
is_int "$(made make_for_child y.folded)" 20 'and those of children'
for t in x*.flame; do
    "$FLAME" dump "$t"
done >rows
ok 'dump names the rows' grep -q 'flags=touched' rows
ok 'and how the pages came' grep -q 'resident=minor-fault' rows
run "$FLAME" fold --view live x.flame
is_int "$(grep -c 'minor fault' out)" 0 'other views are without'
touched -o x.html -- ./touched "$SCRATCH/file"
ok 'a page has the view' grep -q '"name":"touched"' x.html

run_expect_status 2 'blocks that are sampled are not all known' "$FLAME" mem --sample 1k --view touched -o x.svg -- true
file_has err 'flame: mem: --view touched looks at every block; leave --sample out' 'says so'
run_expect_status 0 'without the view' "$FLAME" mem -o z.flame -- true
run_expect_status 2 'there are none' "$FLAME" fold --view touched z.flame
file_has err "recorded without whose memory page faults were in, which flame mem --view touched records" 'says so'

# Where the kernel refuses, nothing runs.
run_expect_status 1 'perf_event_open is refused' python3 noperf.py "$FLAME" mem --view touched -o z.svg -- touch ran
is_str "$(cat err)" "flame: mem: --view touched: perf_event_open is refused, as by a container's \
seccomp filter; allow it there, or run outside" 'one line says why'
not_ok 'nothing ran' test -e ran

done_testing
