#!/bin/bash
# Chains: each wait is split over what the process that ended it did meanwhile, not given to its last
# sleep; parts add up to the waits, in a range of the time too.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

# A parent waits for a shell, which waits for a sleep of 0.3 s and then for a short program that also
# sleeps a little.
cat >parent.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    pid_t shell = fork();

    if (shell == 0)
        execl("/bin/sh", "sh", "-c", "sleep 0.3; sleep 0.01; :", (char *)0);
    waitpid(shell, 0, 0);
    return 0;
}
END
ok 'the parent is built' "${CC:-gcc}" -O1 -g -o parent parent.c

# Microseconds of the parent's wait for the shell whose chain matches REGEX, in view chain.
part() { # REGEX [OPTION...]
    local re=$1
    shift
    oview chain "$@" | grep '^parent;.*wait4 child;--;' | sum "$re"
}
total() { # VIEW [OPTION...]
    oview "$@" | sum '^parent;.*wait4 child'
}
# Whether two sums are equal within the rounding of the stacks.
equal() { test "$(($1 - $2))" -lt 100 && test "$(($2 - $1))" -lt 100; }

for OFF_HOW in --in-process --no-in-process; do
    off ./parent
    slept=$(part 'nanosleep_.w.;') waited=$(total off)
    ok "$OFF_HOW: the first sleep has its 0.3 s, though it was not the last ($slept us)" test "$slept" -ge 300000
    ok "$OFF_HOW: no part is longer than the wait ($waited us)" test "$slept" -le "$waited"
    ok "$OFF_HOW: the parts add up to the wait" equal "$(total chain)" "$waited"
    is_int "$(oview chain | grep -c 'parent.*wait4 child;--;.*;--;.*;--;.*;--;')" 0 \
        "$OFF_HOW: no chain goes on behind the sleep"
    ok "$OFF_HOW: a range has its part of the sleep alone" test "$(part 'nanosleep_.w.;' --from 0.1 --to 0.2)" -le 100001
    ok "$OFF_HOW: parts in a range add up to its wait" \
        equal "$(total chain --from 0.1 --to 0.2)" "$(total off --from 0.1 --to 0.2)"
done

run_expect_status 0 'flame off -o x.svg --view chain succeeds' "$FLAME" off -q --view chain -o x.svg -- ./parent
ok 'a picture of a command has the split, too' grep -q '\[timer\]' x.svg
run_expect_status 0 'flame off --lanes off succeeds' "$FLAME" off -q --lanes off -o t.flame -- ./parent
like "$("$FLAME" fold --view chain t.flame)" 'wait4 child;--;.*exit_\[w\]' 'without times a chain has its wakers'
run_expect_status 0 'flame off of a command that does not wait succeeds' "$FLAME" off -q -o none.flame -- true
run_expect_status 0 'render of it succeeds' "$FLAME" render -o none.html none.flame
is_str "$(cat err)" '' 'a recording without waits has lanes that make sense'
done_testing
