#!/bin/bash
# Waits in time order in JSON for other viewers: read back, they have the waits, times and wakers of the
# recording; other views and other input are exported as a tree, as ever.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_waits() {
    "$python" -B "$ROOT/tests/cli/waits_read.py" "$@"
}
compile_victim timed -O1 -fno-optimize-sibling-calls -pthread
compile_victim convoy -O1 -fno-optimize-sibling-calls -pthread
cat >many.py <<'EOF'
import os, threading
a, b = os.pipe(), os.pipe()
def answer():
    while os.read(a[0], 1) == b"x":
        os.write(b[1], b"y")
t = threading.Thread(target=answer)
t.start()
for i in range(20000):
    os.write(a[1], b"x")
    os.read(b[0], 1)
os.write(a[1], b".")
t.join()
EOF
"$FLAME" off -q -o timed.flame -- ./timed 20 3 >/dev/null
"$FLAME" off -q -o convoy.flame -- ./convoy >/dev/null
"$FLAME" off -q -o shell.flame -- sh -c 'sleep .01; { sleep .01; echo x; } | cat' >/dev/null
"$FLAME" off -q --lanes 256k -o many.flame -- "$python" many.py >/dev/null
for input in timed convoy shell many; do
    "$FLAME" dump -o "$input.txt" "$input.flame"
done
printf '%b\n' 'plain' '"quoted" \\back' '</script>' 'esc\033[31mred' 'bad\xff\xfeutf' 'rtl\xe2\x80\xaemark' \
    'nul\x00in' '--' 'a;b' '%s%n' 'x y 12' >hostile
"$python" -B "$ROOT/tests/cli/lanes_text.py" hostile >hostile.folded
"$FLAME" fold --no-header --view off timed.flame | grep -v -e '\[outside calls\]' -e '\[page fault\]' |
    sed 's/_\[[a-z]\]//g' >want

for kind in chrome firefox; do
    for input in timed convoy shell many; do
        run_expect_status 0 "$kind: $input is rendered" "$FLAME" render -f "$kind" -o "x.$kind" $input.flame
        if [ $input = many ]; then
            is_int "$(wc -l <err)" 1 "$kind: of many, one line tells of sums"
        else
            is_str "$(cat err)" '' "$kind: rendering $input prints nothing on standard error"
        fi
        run_expect_status 0 "$kind: waits, times and arrows of $input are those of the recording" \
            read_waits "$kind" compare "x.$kind" $input.txt
        cat err >&2
        [ $input != timed ] || like "$(cat out)" '^waits=(2[1-9]|[34][0-9]) sums=0 wakes=[1-9]' \
            "$kind: timed has sleeps, reads and wakes"
        [ $input != many ] || like "$(cat out)" 'sums=[1-9]' "$kind: many has sums"
    done
    "$FLAME" render -f "$kind" -o "x.$kind" timed.flame
    read_waits "$kind" stacks "x.$kind" | awk '{ ns[substr($0, 1, length($0) - length($NF) - 1)] += $NF }
        END { for (s in ns) printf "%s %.0f\n", s, ns[s] / 1000 }' >got
    is_int "$(wc -l <got)" "$(wc -l <want)" "$kind: the waits have as many stacks as the view off"
    is_int "$(awk 'NR == FNR { us[substr($0, 1, length($0) - length($NF) - 1)] = $NF; next }
        { d = us[substr($0, 1, length($0) - length($NF) - 1)] - $NF; off += d < -1 || d > 1 }
        END { print off + 0 }' want got)" 0 "$kind: the waits of a stack are as long as it is in the view off"

    run_expect_status 0 "$kind: hostile names are rendered" "$FLAME" render -f "$kind" -o "x.$kind" hostile.folded
    run_expect_status 0 "$kind: with hostile names the file is good" read_waits "$kind" check "x.$kind"
    is_str "$(cat out)" "slices=$(wc -l <hostile) wakes=$(($(wc -l <hostile) - 1))" \
        "$kind: with hostile names it has all waits and wakes"
    ok "$kind: with hostile names it has no control characters" "$python" -c 'import sys
sys.exit(any(b < 32 and b != 10 or b == 127 for b in open(sys.argv[1], "rb").read()))' "x.$kind"

    run_expect_status 0 "$kind: flame off writes waits" "$FLAME" off -q -o "off.$kind.json" -- ./timed 3 1
    run_expect_status 0 "$kind: what flame off writes is good" read_waits "$kind" check "off.$kind.json"
    like "$(cat out)" '^slices=([4-9]|1[0-9]) ' "$kind: flame off writes all waits"
    run_expect_status 0 "$kind: flame run writes waits" "$FLAME" run -q --view off -o "run.$kind.json" -- ./timed 3 1
    run_expect_status 0 "$kind: what flame run writes is good" read_waits "$kind" check "run.$kind.json"
    like "$(cat out)" '^slices=([4-9]|1[0-9]) ' "$kind: flame run writes all waits"
done

# Without times, of a part of the time, and in views of something else, there is the tree.
"$FLAME" render -f chrome -o tree.json <("$FLAME" fold --view off timed.flame)
ok 'chrome: of folded text without times there is the tree' grep -q '"name":"sleeper_sleeps","ph":"X","pid":1' tree.json
for options in '--view wakeup' '--view oncpu' '--from 0 --to 0.2' '--flamechart'; do
    # shellcheck disable=SC2086 # options and their values
    "$FLAME" render -f chrome $options -o tree.json timed.flame
    ok "chrome: with $options there is the tree" grep -q '"ph":"X","pid":1,"tid":1' tree.json
done
"$FLAME" mem -q -o mem.flame -- ./timed 2 1 >/dev/null
"$FLAME" render -f chrome -o tree.json mem.flame
"$FLAME" collapse tree.json >got
"$FLAME" fold --no-header mem.flame >want
ok 'chrome: of memory there is the tree of the default view' cmp got want

done_testing
