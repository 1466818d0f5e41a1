#!/bin/bash
# Times of waits: as the program prints them, summing to the counts of the
# rows; within the limit of --lanes; and none with --lanes off.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim timed -O1 -fno-optimize-sibling-calls -pthread

# On a busy machine a thread may start its sleep late and sleep less; a real error would occur each time.
times_right() {
    run "$FLAME" off -q "$how" -o t.flame -- ./timed 6 30
    recorded=$status
    grep -E '^(sleep|read|tids) ' out >told
    run "$FLAME" dump -o all.txt t.flame
    python3 "$ROOT/tests/cli/check_intervals.py" all.txt told 30 >/dev/null 2>&1
}
for how in --in-process --no-in-process; do
    again 5 times_right
    is_int "$recorded" 0 "flame off $how ends with status 0"
    is_int "$status" 0 "flame dump of flame off $how ends with status 0"
    run_expect_status 0 "flame off $how: times and sums of intervals are right" python3 "$ROOT/tests/cli/check_intervals.py" all.txt told 30
done
run_expect_status 0 'dump -s interval succeeds' "$FLAME" dump -s interval t.flame
is_str "$(cut -d' ' -f1 out | sort -u)" interval 'dump -s interval prints that section alone'

run_expect_status 0 'flame off --lanes off succeeds' "$FLAME" off -q --lanes off -o n.flame -- ./timed 2 1
run_expect_status 0 'dump -s interval of --lanes off succeeds' "$FLAME" dump -s interval n.flame
is_str "$(cat out)" '' '--lanes off: the trace has no intervals'
run_expect_status 0 'fold of a trace without intervals succeeds' "$FLAME" fold n.flame

# With a small limit intervals are merged, and the sums stay right.
cat >many.py <<'EOF'
import os, threading
a, b = os.pipe(), os.pipe()
def answer():
    while os.read(a[0], 1) == b"x":
        os.write(b[1], b"y")
t = threading.Thread(target=answer)
t.start()
for _ in range(20000):
    os.write(a[1], b"x")
    os.read(b[0], 1)
os.write(a[1], b"e")
t.join()
EOF
run_expect_status 0 'flame off --lanes 256k of many waits succeeds' \
    "$FLAME" off -q --lanes 256k -o m.flame -- python3 many.py
"$FLAME" dump -o all.txt m.flame
run_expect_status 0 '--lanes 256k: times and sums of intervals are right' python3 "$ROOT/tests/cli/check_intervals.py" all.txt -
like "$(grep -c ' is=sum ' all.txt)" '^[1-9]' '--lanes 256k: some intervals are sums'
bytes=$(awk '$2 ~ /^record=/ { sub(/.* bytes=/, ""); s += $1 } END { printf "%.0f", s }' all.txt)
ok "--lanes 256k: the intervals take $bytes bytes" test "$bytes" -le 262144

for wrong in 1 100k x -1 ''; do
    run_expect_status 2 "flame off --lanes '$wrong' ends with status 2" \
        "$FLAME" off --lanes "$wrong" -o x.flame -- true
    file_has err 'expected a size of 256k or more' "flame off --lanes '$wrong' says what it expects"
done
done_testing
