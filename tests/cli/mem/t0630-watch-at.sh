#!/bin/bash
# flame watch and --at agree while a program allocates and frees: each moment is the same in the file
# of moments, in fold --at and in top --at, at once, later, after the end, and in flame mem's output.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'

# 50 blocks a millisecond, of which the older ones are freed, until its input ends.
cat >busy.c <<'END'
#include <poll.h>
#include <stdlib.h>
static void *slot[512];
__attribute__((noinline)) void *first(size_t n) { return malloc(n); }
__attribute__((noinline)) void *second(size_t n) { return malloc(n); }
int main(void)
{
    struct pollfd input = {0, POLLIN, 0};
    unsigned x = 1;
    do {
        for (int i = 0; i < 50; i++) {
            unsigned k = (x = x * 1103515245 + 12345) >> 16 & 511;
            free(slot[k]);
            slot[k] = (x >> 8 & 1 ? first : second)(1 + (x >> 4 & 4095));
        }
    } while (poll(&input, 1, 1) == 0);
    return 0;
}
END
ok 'busy is built' "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls -o busy busy.c

# moments_of FILE: the time in us and the live bytes of each moment.
moments_of() {
    "$FLAME" dump -s moment "$1" | awk '
        { delete v; for (i = 2; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        / monotonic_ns=/ { if (seen++) printf "%s %.0f\n", us, bytes; us = v["us"] }
        / of=/ { bytes += v["bytes"] }
        END { printf "%s %.0f\n", us, bytes }'
}
# folded and topped TRACE: the same, of the times in the file `taken`, as the commands have them.
folded() {
    while read -r us _; do
        echo "$us $("$FLAME" fold --no-header --at "${us}us" "$1" | awk '{ s += $NF } END { printf "%.0f", s }')"
    done <taken
}
topped() {
    while read -r us _; do
        echo "$us $("$FLAME" top -e --by function --at "${us}us" "$1" |
            awk 'NR > 2 { gsub(",", ""); s += $1 } END { printf "%.0f", s }')"
    done <taken
}
has_moments() { # FILE N
    [ -e "$1" ] && [ "$(moments_of "$1" | grep -c .)" -ge "$2" ]
}
begin() { # COMMAND...
    rm -f orders
    mkfifo orders
    "$@" <orders &
    victim=$!
    exec 7>orders
}

begin env "LD_PRELOAD=$SHIM" "FLAMEMEM_OPTIONS=out=$PWD/live.flame" ./busy
until_true test -s live.flame
"$FLAME" watch -q -e 50ms live.flame 7>&- &
watch=$!
until_true has_moments live.flame.moments 8
moments_of live.flame.moments >taken
ok 'moments of a busy program differ' test "$(sort -u -k 2 taken | wc -l)" -ge 6
folded live.flame >shown
is_str "$(cat shown)" "$(cat taken)" 'fold --at has the moments of flame watch while both go on'
topped live.flame >shown
is_str "$(cat shown)" "$(cat taken)" 'top --at has the moments of flame watch while both go on'
until_true has_moments live.flame.moments "$(($(wc -l <taken) + 8))"
is_str "$(moments_of live.flame.moments | head -n "$(wc -l <taken)")" "$(cat taken)" \
    'moments stay what they were while later ones are taken'
folded live.flame >shown
is_str "$(cat shown)" "$(cat taken)" 'fold --at has the same of earlier moments later'
ok 'the program still runs' kill -0 "$victim"
exec 7>&-
wait "$victim"
wait "$watch"
is_int "$?" 0 'flame watch ends with status 0'
moments_of live.flame.moments >taken
folded live.flame >shown
is_str "$(cat shown)" "$(cat taken)" 'fold --at has all moments of flame watch after the end'
is_str "$(tail -n 1 taken | cut -d ' ' -f 2)" "$(total live live.flame)" \
    'the last moment is what is live at the end'

# Under flame mem the moments are in its output in the end, as they were in the directory of the run.
mkdir tmp
begin env "TMPDIR=$PWD/tmp" "$FLAME" mem -q -o m.flame -- ./busy
run_began() {
    ls tmp/flame-mem.*/busy.*.flame 2>/dev/null
}
until_true run_began
trace=$(run_began)
"$FLAME" watch -q -e 50ms "$trace" 7>&- 2>watch.err &
watch=$!
until_true has_moments "$trace.moments" 5
moments_of "$trace.moments" >taken
folded "$trace" >shown
is_str "$(cat shown)" "$(cat taken)" 'fold --at has the moments of flame watch while flame mem records'
exec 7>&-
wait "$victim"
is_int "$?" 0 'flame mem under flame watch ends with status 0'
wait "$watch"
folded m.flame >shown
is_str "$(cat shown)" "$(cat taken)" "flame mem's output has the moments that were seen during the run"
done_testing
