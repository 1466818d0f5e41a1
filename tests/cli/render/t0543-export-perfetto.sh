#!/bin/bash
# Perfetto traces: read back by a decoder of its own, and replayed by the rules of Perfetto's importer,
# they have the waits, times and wakers of the recording; nothing is written of other input.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_trace() {
    "$python" -B "$ROOT/tests/cli/perfetto_read.py" "$@"
}
compile_victim timed -O1 -fno-optimize-sibling-calls -pthread
compile_victim convoy -O1 -fno-optimize-sibling-calls -pthread

# Renders NAME.flame and compares it with the dump of the recording.
compares() {
    run_expect_status 0 "$1: the trace is rendered" "$FLAME" render -o "$1.pftrace" "$1.flame"
    is_str "$(cat err)" "${2-}" "$1: rendering it prints no more than expected"
    "$FLAME" dump -o "$1.txt" "$1.flame"
    run_expect_status 0 "$1: waits, times, states, wakers and arrows are those of the recording" \
        read_trace compare "$1.pftrace" "$1.txt"
    cat err >&2
}

"$FLAME" off -q -o timed.flame -- ./timed 20 3 >/dev/null
compares timed
like "$(cat out)" '^waits=(2[1-9]|[34][0-9]) sums=0 wakes=[1-9]' 'timed: it has sleeps, reads and wakes'

"$FLAME" off -q -o convoy.flame -- ./convoy >/dev/null
compares convoy

# Each stack of the recording is the stack of slices that take as long.
"$FLAME" fold --no-header --view off timed.flame | grep -v -e '\[outside calls\]' -e '\[page fault\]' |
    sed 's/_\[[a-z]\]//g' >want
read_trace stacks timed.pftrace | awk '{ ns[substr($0, 1, length($0) - length($NF) - 1)] += $NF }
    END { for (s in ns) printf "%s %.0f\n", s, ns[s] / 1000 }' >got
ok 'the slices have as many stacks as the view off' test "$(wc -l <got)" -eq "$(wc -l <want)"
is_int "$(awk 'NR == FNR { us[substr($0, 1, length($0) - length($NF) - 1)] = $NF; next }
    { d = us[substr($0, 1, length($0) - length($NF) - 1)] - $NF; off += d < -1 || d > 1 } END { print off + 0 }' want got)" \
    0 'the slices of a stack are as long as it is in the view off'

# Processes: a shell, and programs that it starts.
"$FLAME" off -q -o shell.flame -- sh -c 'sleep .01; { sleep .01; echo x; } | cat' >/dev/null
compares shell
read_trace parents shell.pftrace >parents.txt
shell=$(awk '$2 == 0 { print $1 }' parents.txt)
is_int "$(echo "$shell" | wc -w)" 1 'one process has no parent in the trace: the shell'
ok 'the other processes descend from the shell' env shell="$shell" awk '
    { of[$1] = $2 } END { for (p in of) { n++; for (q = p; of[q]; q = of[q]); if (q != ENVIRON["shell"]) exit 1 }
    exit n < 4 }' parents.txt

# Merged waits are slices of several waits, on tracks of their own.
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
"$FLAME" off -q --lanes 256k -o many.flame -- "$python" many.py >/dev/null
"$FLAME" render -o many.pftrace many.flame 2>said
compares many "$(cat said)"
unlike "$(cat out)" 'sums=0 ' 'many: some waits are known as sums only'
is_int "$(grep -c . said)" 1 'many: one line says so'
like "$(cat said)" 'of [0-9]+ waits [0-9]+ are known only as sums of short ones' 'many: the line has the numbers'
like "$(read_trace names many.pftrace)" '^[0-9]+ waits: read pipe' 'many: the name of a sum has the number of waits'

# The commands that record write it, too.
run_expect_status 0 'flame off writes it' "$FLAME" off -q -o off.pftrace -- ./timed 3 1
ok 'it is a good trace' read_trace check off.pftrace
run_expect_status 0 'flame off knows the other suffix' "$FLAME" off -q -o off.perfetto-trace -- ./timed 3 1
ok 'it is a good trace as well' read_trace check off.perfetto-trace
run_expect_status 0 'flame run writes it' "$FLAME" run -q -o run.pftrace -o run.svg -- ./timed 3 1
ok 'the trace of flame run is good' read_trace check run.pftrace
run_expect_status 0 'a view of sleepers selects waits' "$FLAME" render --view io -o io.pftrace timed.flame
is_str "$(read_trace names io.pftrace)" '' 'a view of files and networks has no waits of pipes'
run_expect_status 0 'a view of wakers changes nothing' "$FLAME" render --view wakeup -o wakeup.pftrace timed.flame
ok 'a view of wakers gives the same file' cmp wakeup.pftrace timed.pftrace

# Names are input.
printf '%b\n' 'plain' '"quoted" \\back' '</script>' 'esc\033[31mred' 'bad\xff\xfeutf' 'rtl\xe2\x80\xaemark' \
    'nul\x00in' '--' 'a;b' '%s%n' 'x y 12' >hostile
"$python" -B "$ROOT/tests/cli/lanes_text.py" hostile >hostile.folded
run_expect_status 0 'hostile names are rendered' "$FLAME" render -f perfetto -o hostile.pftrace hostile.folded
run_expect_status 0 'with hostile names the trace is good' read_trace check hostile.pftrace
like "$(cat out)" "^slices=$(wc -l <hostile) wakes=$(($(wc -l <hostile) - 1)) " 'it has a slice for each name'
ok 'it has no control characters in names' "$python" -c 'import sys; sys.exit(any(ord(c) < 32 and c != "\n"
    for c in open(sys.argv[1], encoding="utf-8").read()))' <(read_trace names hostile.pftrace)

# Memory over time, where it is known by the clock of the waits.
read_moments() {
    "$python" -B "$ROOT/tests/cli/lanes_text.py" hostile "$@" >moments.folded
    "$FLAME" render -o moments.pftrace moments.folded
    read_trace counters moments.pftrace
}
is_str "$(read_moments 5000002000)" "$(printf '%s\n' 'live -998000 1000' 'live -988000 500' 'mapped -998000 0' \
    'mapped -988000 0' 'resident -998000 4' 'resident -988000 4')" 'moments of memory are counters, by the clock of the waits'
is_str "$(read_moments 0)" '' 'moments of which the clock is not known are left out'
cat >grows.c <<'EOF'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 5; i++) {
        memset(malloc(1 << 20), 1, 1 << 20);
        usleep(30000);
    }
    return 0;
}
EOF
"${CC:-gcc}" -o grows grows.c
"$FLAME" run -q -o grows.pftrace -- ./grows
read_trace counters grows.pftrace >counters.txt
is_str "$(awk '$1 == "live" { most = $3 > most ? $3 : most } END { print most }' counters.txt)" 5242880 \
    'flame run: the counter of live memory has what the program allocated'
ok 'flame run: memory grows while the program sleeps' awk '$1 == "live" && $2 > 0 && $2 < 120000000 && $3 > 1048576 &&
    $3 < 5242880 { n++ } END { exit n == 0 }' counters.txt

# Other input: one line, status 2, and no file.
refused() {
    local name=$1 pattern=$2
    shift 2
    run "$@"
    is_int "$status" 2 "$name: the command ends with status 2"
    is_int "$(wc -l <err)" 1 "$name: the command prints one line"
    file_has err "$pattern" "$name: the error says why"
    not_ok "$name: there is no file" test -e no.pftrace
}
echo 'a;b 1' >plain
"$FLAME" off -q --lanes off -o lanes.flame -- ./timed 2 1 >/dev/null
"$FLAME" mem -q -o mem.flame -- ./timed 2 1 >/dev/null
refused 'stacks without times' 'plain: it does not say when threads waited' "$FLAME" render -o no.pftrace plain
refused 'a recording without times' 'lanes.flame: it does not say when' "$FLAME" render -o no.pftrace lanes.flame
refused 'a recording of memory' 'mem.flame: it does not say when' "$FLAME" render -o no.pftrace mem.flame
refused 'a part of the time' 'timed.flame: it does not say when' "$FLAME" render --from 0 --to 10 -o no.pftrace timed.flame
refused 'flame mem' 'mem: -o no.pftrace: perfetto is of waits in time order' "$FLAME" mem -o no.pftrace -- ./timed 2 1
refused 'flame off --lanes off' 'off: --lanes off leaves out when' "$FLAME" off --lanes off -o no.pftrace -- ./timed 2 1
refused 'flame run --lanes off' 'run: --lanes off leaves out when' "$FLAME" run --lanes off -o no.pftrace -- ./timed 2 1
head -c 3000 timed.flame >cut.flame
run "$FLAME" render -o no.pftrace cut.flame
is_int "$status" 2 'a damaged recording ends with status 2'
not_ok 'of a damaged recording there is no file' test -e no.pftrace

done_testing
