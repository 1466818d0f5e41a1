#!/bin/bash
# The view latency compared with a program's own clock for each of its sleeps: counts are exact,
# the longest too, percentiles within 1/16; in-process and by stops, over threads, processes and
# several recordings; without stops, sleeps that were not sampled count as unknown.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim naps -pthread

# Each nap requested `asked` and took `took` by the program's clock: its sleep is between the two, so
# the recorded order statistics lie between those of the two. The call ran for some microseconds
# itself, which is no sleep.
cat >truth.py <<'END_PY'
import math, re, sys
UNIT = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
SLACK = 60000
def ns(text):
    m = re.fullmatch(r"([\d.]+)([a-z]+)", text)
    return round(float(m[1]) * UNIT[m[2]])
folded, owns = sys.argv[1], sys.argv[2:]
bad = []
for kind in ("short", "long"):
    asked, took = [], []
    for path in owns:
        for line in open(path):
            k, a, t = line.split()
            if k == kind:
                asked.append(int(a))
                took.append(int(t))
    asked.sort()
    took.sort()
    classes, longest = [], 0
    for line in open(folded):
        frames, n = line.rstrip("\n").rsplit(" ", 1)
        frames = frames.split(";")
        if kind + "_naps" not in frames:
            continue
        last = frames[-1].strip("[]")
        if last.startswith("longest "):
            classes.append((ns(last[8:]), ns(last[8:])))
            longest = max(longest, ns(last[8:]))
        elif " to " in last:
            lo, hi = map(ns, last.split(" to "))
            classes += [(lo, hi)] * int(n)
        else:
            bad.append("%s: %s" % (kind, last))
    if len(classes) != len(asked):
        bad.append("%s: %d sleeps, and %d naps" % (kind, len(classes), len(asked)))
        continue
    classes.sort()
    for p in (1, 25, 50, 75, 90, 95, 99, 100):
        i = max(0, math.ceil(len(asked) * p / 100) - 1)
        lo, hi = classes[i]
        told = longest if p == 100 else (lo + hi) // 2
        wrong = 0 if p == 100 else told / 16
        if not asked[i] - SLACK - wrong <= told <= took[i] + wrong:
            bad.append("%s p%d: %d, asked %d, took %d" % (kind, p, told, asked[i], took[i]))
print("\n".join(bad) or "as the program says")
END_PY

# The sleeps in `folded` against the naps in FILE... Under a tracer that stops threads, part of a sleep
# counts for the tracer if the machine was late, all of a short one in some runs: then the test tries again.
agrees() {
    python3 truth.py folded "$@" >said
    grep -qx 'as the program says' said
}

# one_run HOW THREADS PROCESSES: records, and leaves the program's output in `own`.
one_run() {
    OFF_HOW=$1
    shift
    off ./naps "$@"
    cp out own
    oview latency >folded
    [ "$status" -eq 0 ] && agrees own
}

for how in --in-process --no-in-process; do
    for threads in '1 1' '3 2'; do
        # shellcheck disable=SC2086 # two words
        again 6 one_run "$how" $threads
        is_str "$(cat said)" 'as the program says' "$how, $threads: latencies are as long as by the program"
        if [ "$threads" = '1 1' ]; then
            cp t.flame one.flame && cp own own.one
        fi
    done
    oview latency --tid --pid >folded
    ok "$how: latencies by process and thread are as long as by the program" agrees own
    "$FLAME" fold --no-header --view latency one.flame t.flame >folded
    ok "$how: latencies of two recordings are as long as by the program" agrees own own.one
done

# flame dump agrees with the view.
"$FLAME" dump -s row t.flame >rows
"$FLAME" dump -s node t.flame >nodes
file_has rows 'kind="?class' 'flame dump has rows of latency classes'
is_str "$(awk '{ for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
    v["kind"] ~ /class/ { classes += v["sleeps"] }
    v["kind"] !~ /class|oncpu|tracer|stopped|fault|outside|left-out/ { sleeps += v["sleeps"] }
    END { print (classes > 0), classes - sleeps }' rows)" '1 0' \
    'flame dump: rows of classes have as many sleeps as the others'
file_has nodes 'class="?sleep"? from=[0-9]+ to=[0-9]+' 'flame dump: nodes of classes have their bounds'

# ---- without stops ----

if unshare -U true 2>/dev/null || [ "$(id -u)" -eq 0 ]; then
    mkfifo gate
    { read -r _ <gate; exec ./naps 2; } >own &
    pid=$!
    "$FLAME" off -q --no-stops -p "$pid" -o q.flame >/dev/null 2>err &
    tracer=$!
    until_looked_at "$pid" "$tracer"
    echo >gate
    wait "$pid"
    wait "$tracer"
    "$FLAME" fold --no-header --view latency q.flame >folded
    file_has folded 'long_naps.*\[longest ' '--no-stops: long naps have latencies'
    file_has folded '\[(short sleeps|sleeps not caught)\] [0-9]+$' \
        '--no-stops: sleeps that were not sampled count as unknown'
    run_expect_status 0 'flame top -s p99 of --no-stops succeeds' "$FLAME" top -s p99 q.flame
    file_has out '^.*; of [0-9]+ of [0-9]+ sleeps it is not known how long they took$' \
        'flame top counts sleeps of unknown duration'
fi
done_testing
