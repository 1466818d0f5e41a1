#!/bin/bash
# flame off --max-disk: the trace takes no more of the disk, keeps counting the stacks that it has, and what
# it has no room for is counted.
. "${0%/*}/../lib.sh"

# Each of 2^N sleeps has a stack of its own.
cat >paths.c <<'END'
#include <stdlib.h>
#include <time.h>

static volatile int at;
static void go(int depth);

__attribute__((noinline)) static void left(int depth)
{
    go(depth - 1);
    at = depth;
}

__attribute__((noinline)) static void right(int depth)
{
    go(depth - 1);
    at = -depth;
}

__attribute__((noinline)) static void go(int depth)
{
    struct timespec shortly = {0, 1};

    if (!depth) {
        nanosleep(&shortly, NULL);
        at = 0;
        return;
    }
    left(depth);
    right(depth);
    at = 1;
}

int main(int argc, char **argv)
{
    go(atoi(argv[argc - 1]));
    return 0;
}
END
ok 'the program with many stacks is built' "${CC:-gcc}" -g -O1 -fno-optimize-sibling-calls -o paths paths.c
size() { stat -c %s "$1"; }
sleeps() { sed -n 's/.* slept \([0-9,]*\) times.*/\1/p' err | tr -d ,; }
lost() { sed -n 's/.*lost for want of space: \([0-9,]*\) sleeps.*/\1/p' err | tr -d ,; }

run_expect_status 0 'flame off without a limit succeeds' "$FLAME" off -o all.flame -- ./paths 13
ok 'without a limit the trace is more than 2 MiB' test "$(size all.flame)" -gt 2097152
is_str "$(lost)" '' 'without a limit no sleep is lost'
all=$(sleeps)
run_expect_status 0 'flame off --max-disk 1m succeeds' "$FLAME" off --max-disk 1m -o some.flame -- ./paths 13
ok '--max-disk 1m: the trace is not larger, but for its names' \
    test "$(size some.flame)" -le $((1048576 + 65536))
ok '--max-disk 1m: the trace has the first sleeps' test "$(sleeps)" -gt 500
# A sleep from which the thread returns at once does not count.
ok '--max-disk 1m: the lost sleeps are counted' test $(($(sleeps) + $(lost))) -gt $((all - all / 20))
run_expect_status 0 'a trace that reached --max-disk can be drawn' "$FLAME" render -o x.svg some.flame
run_expect_status 0 'flame off --max-disk 1m of a small program succeeds' \
    "$FLAME" off --max-disk 1m -o few.flame -- ./paths 3
is_str "$(lost)" '' '--max-disk 1m: a small program loses no sleep'
run_expect_status 0 'flame off --max-disk 1m -o x.html succeeds' \
    "$FLAME" off --max-disk 1m -o x.html -- ./paths 10
ok '--max-disk 1m: the page has stacks' grep -q nanosleep x.html
run_expect_status 0 'flame off --max-disk 0 succeeds' "$FLAME" off -q --max-disk 0 -o all.flame -- ./paths 13
ok '--max-disk 0 does not limit the trace' test "$(size all.flame)" -gt 2097152
for wrong in 1k x '' -1; do
    run_expect_status 2 "--max-disk '$wrong' ends with status 2" \
        "$FLAME" off --max-disk "$wrong" -o x.svg -- ./paths 1
    file_has err "^flame: off: --max-disk $wrong: expected a size of 1m or more, such as 1g, or 0 for any\$" \
        "--max-disk '$wrong' is refused with a reason"
done

done_testing
