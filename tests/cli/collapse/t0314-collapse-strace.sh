#!/bin/bash
# strace -k: calls and their time by stack, as another reader finds them, with all that strace
# prints before and after a call.
. "${0%/*}/../lib.sh"
sample=$ROOT/tests/corpus/strace/threads-times
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

cat >read.py <<'END'
import collections, re, sys
sums, key, stack, n = collections.Counter(), None, [], 0
def end():
    if key and stack and n:
        sums[";".join(stack[::-1] + [key])] += n
for line in open(sys.argv[1]):
    frame = re.match(r" > (.*)\((?:(.*)\+0x\w+)?\) \[0x\w+\]$", line)
    if frame:
        stack.append(frame[2] or "[%s]" % frame[1].split("/")[-1])
        continue
    end()
    call = re.match(r"\d+ \S+ (?:<\.\.\. )?(\w+)(?:\(| resumed)", line)
    key, stack, n = call and call[1], [], 1
    if sys.argv[2] == "time":
        time = re.search(r"<(\d+)\.(\d{6})>$", line)
        n = int(time[1]) * 10**6 + int(time[2]) if time else 0
end()
for s in sorted(sums, key=lambda s: s.encode()):
    print(s, sums[s])
END
for type in calls time; do
    "$python" -B read.py "$sample" $type >want
    run_expect_status 0 "strace $type: collapse succeeds" "$FLAME" collapse --type $type "$sample"
    ok "strace $type: the sums of another reader" cmp out want
    ok "strace $type: there are stacks" test "$(wc -l <out)" -gt 10
    is_str "$(cat err)" '' "strace $type: nothing on standard error"
done
"$FLAME" collapse "$sample" >got
ok 'strace: calls are counted by default' cmp got <("$FLAME" collapse --type calls "$sample")

printf '%s\n' '[pid    77] 12:30:01.000001 read(3,  <unfinished ...>' '[pid 78] close(4) = 0' ' > /a/b.so(f+0x1f) [0xabc]' \
    ' > /a/app() [0x1]' '[pid    77] <... read resumed>"x"..., 4) = 1 <0.000002>' ' > /a/b.so(ns::f(int, char)+0x2) [0x7]' \
    '--- SIGCHLD {si_signo=SIGCHLD} ---' '+++ exited with 0 +++' '     0.000011 brk(NULL) = 0x1' ' > /a/app(g;h+0x1) [0x2]' \
    '1700000000.5 brk(NULL) = 0x1' ' > /a/app [0x2]' >x
run_expect_status 0 'strace: collapse of all prefixes of a call succeeds' "$FLAME" collapse x
is_str "$(cat out)" "$(printf '%s\n' '[app];brk 1' '[app];f;close 1' 'g:h;brk 1' 'ns::f(int, char);read 1')" \
    'strace: prefixes of a call are not in the stack'
is_str "$(cat err)" '' 'strace: prefixes of a call print nothing on standard error'
is_str "$("$FLAME" collapse --type time x)" 'ns::f(int, char);read 2' 'strace: --type time'
is_str "$("$FLAME" collapse --pid x | head -3)" "$(printf '%s\n' '77;ns::f(int, char);read 1' '78;[app];f;close 1' '[app];brk 1')" 'strace: --pid'
"$FLAME" collapse --modules x >out
file_has out ';b.so`f;close 1$' 'strace: --modules'
printf '%s\n' 'brk(NULL) = 0' ' > /a/app(f+0x1) [0x2]' 'what is this' ' > nothing' 'read(3' ' > /a/app(f+0x1) [0' >x
run_expect_status 0 'strace: collapse of broken lines succeeds' "$FLAME" collapse x
is_str "$(cat out)" 'f;brk 1' 'strace: broken lines are left out'
like "$(cat err)" '3 lines were not understood, the first is line 3: what is this' \
    'strace: broken lines are reported'
run_expect_status 2 'strace: --type bytes ends with status 2' "$FLAME" collapse --type bytes x
like "$(cat err)" "no values 'bytes'; it has calls, time" 'strace: --type bytes lists the types'

done_testing
