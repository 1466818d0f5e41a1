#!/usr/bin/env bash
# flame mem -p PID --view rss: whose the resident memory of a running process is.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

use_own_tmpdir
compile_victim holding -pthread -fno-builtin

looked() { "$FLAME" dump -s resident t.flame | sed -n "s/.* $1=\([0-9]*\).*/\1/p"; }
total() { fview "$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
part() { fview rss | grep -F ";$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
between() { # NAME GOT LEAST MOST
    ok "$1 ($2)" test "$2" -ge "$3" -a "$2" -le "$4"
}

check() { # NAME
    begin ./holding
    ok "$1: the victim works before the attach" tell before
    if ! attach --view rss; then
        if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
            tell quit
            skip_all ptrace "$(head -1 err)"
        fi
        diag "$(cat err)"
    fi
    ok "$1: the victim works under flame mem -p --view rss" tell work
    leave
    is_int "$status" 0 "$1: flame mem -p --view rss ends with status 0"
    is_str "$(sum rss written) $(sum rss little) $(sum rss freed)" '10485760 1000000 0' \
        "$1: written blocks are resident, to the byte"
    between "$1: a block is resident as far as it was written" "$(sum rss half)" 5242880 $((5242880 + 2 * $(getconf PAGESIZE)))
    ok "$1: a look has bytes" test "$(looked bytes)" -gt 20000000
    is_str "$(looked bytes) $(total rss)" "$(looked kernel_bytes) $(looked kernel_bytes)" \
        "$1: the rows sum to smaps_rollup"
    between "$1: zeroed data is the program's" "$(part '[program]')" 1048576 1200000
    between "$1: a thread's stack" "$(part '[stacks];[threads]')" 100000 140000
    between "$1: blocks from before are no stack's" "$(part '[other mappings];[anonymous memory]')" 3145728 3300000
    for name in '[libraries];libc.so.6;[file pages' '[stacks];[first thread]' '[recorder]' '[other mappings];[heap]'; do
        ok "$1: there is $name" test "$(part "$name")" -ge 4096
    done
    is_str "$(looked stood) $(looked slack_bytes)" '1 0' "$1: all threads stood, and slack is not known"
    like "$(cat err)" 'resident at the end: .*; of that in blocks allocated while it was recorded: 15.9' \
        "$1: the summary has both sums"
    like "$(cat err)" 'its threads were stopped for [0-9.]+ ms more to look at its memory' \
        "$1: the summary says for how long the program was stopped"
    echo quit >&7
    status=0
    wait "$victim" || status=$?
    is_int "$status" 0 "$1: the victim ends with status 0"
}

check program
compile_victim holding -pthread -fno-builtin -no-pie
check 'program that is not position-independent'

run_expect_status 2 'a trace without a look has no view rss' "$FLAME" mem -p $$ --view slack -d 1
file_has err 'slack is for commands, without -p' 'flame mem -p --view slack is refused'

# Both looks, in one stop.
begin ./holding
tell before
attach --rss --view leak
tell work
leave
is_str "$(sum rss written) $(sum reachable written)" '10485760 10485760' 'one stop serves both looks'
attach --rss
echo quit >&7
wait "$victim"
wait "$flame"
file_has err 'its memory was not searched: it had ended' 'flame mem -p says that it could not look'
done_testing
