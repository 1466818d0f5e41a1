#!/usr/bin/env bash
# flame mem -p PID --kept: who keeps the blocks of a running process, whenever they were allocated.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

use_own_tmpdir
compile_victim keeping -pthread -fno-builtin

total() { fview "$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
# kept_by FRAMES: bytes of the stacks of t.flame that begin with these frames
kept_by() {
    fview kept | frames=";$1" awk 'index($0, ENVIRON["frames"]) { n += $NF } END { printf "%.0f\n", n }'
}
globals='[globals of keeping]'

begin ./keeping
ok 'the victim allocates before the attach' tell before
if ! attach --kept; then
    if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
        tell quit
        skip_all ptrace "$(head -1 err)"
    fi
    diag "$(cat err)"
fi
ok 'the victim works under flame mem -p --kept' tell work
leave
is_int "$status" 0 'flame mem -p --kept ends with status 0'

is_str "$(kept_by "$globals;cache;.list;push ")" 1016000 'a list of a variable is one frame'
is_str "$(kept_by "$globals;cache;.table;[also kept by second];get ")" 104000 \
    'what two variables keep stands on the nearer one, and names the other'
is_str "$(kept_by "$globals;second;get ")" 5000 'what a variable keeps alone'
is_str "$(kept_by "$globals;part;get ")" 700 'a pointer to the inside keeps a block, too'
# 16 and 100 bytes take 24 and 104 of malloc's.
is_str "$(kept_by "$globals;old_list;[allocated before] ")" $((2000 * (24 + 104))) \
    'blocks from before have their owner'
is_str "$(fview kept | grep -c 'emptied')" 0 'what was freed before has none'
like "$(fview kept)" ';\[stack of keeping\];([^ ]*;)?worker;get 30000' "a local variable of a function keeps a block"
is_str "$(kept_by '[thread-local data];get ')" 7000 'thread-local data keeps a block'
# Stale words may lead to some of them.
is_int $(($(kept_by '[nothing that was found] ') + $(kept_by '[free heap memory, perhaps out of date];get '))) $((9 * 1111)) \
    'what nothing leads to is counted'
ok 'the sum is what is live and more' test "$(total kept)" -gt "$(total live)"
file_lacks err 'not searched' 'the memory was searched'
run "$FLAME" render --view kept -o x.svg t.flame
is_int "$status" 0 'flame render draws who keeps memory'
file_has x.svg 'old_list' 'the picture has sites'
"$FLAME" render -o x.html t.flame
file_has x.html '"kept"' 'a page has the view'

# It goes on as before, and can be searched again.
attach --kept
leave
again=$(kept_by "$globals;cache;.list;[allocated before] ")
ok "another search finds all of it, as from before ($again)" test "$again" -ge 1024000 -a "$again" -lt 1040000
# With resident memory it is searched while its threads are stopped, else a copy of it.
copied=$(fview kept)
attach --kept --rss
leave
is_str "$(fview kept)" "$copied" 'a search without a copy finds the same'
tell quit
status=0
wait "$victim" || status=$?
is_int "$status" 0 'the victim ends with status 0'

# A guard page in the heap, and two stacks in one mapping.
compile_victim lodging -pthread -fno-builtin
begin ./lodging
tell before
attach --kept
tell work
leave
globals='[globals of lodging]'
is_str "$(kept_by "$globals;behind;[allocated before] ")" $((1000 * (24 + 504))) \
    'blocks behind a page of the heap that cannot be read'
is_str "$(kept_by "$globals;wide;")" $((100 * 312)) 'a variable behind the last page of the file'
is_str "$(kept_by "$globals;guarded;[allocated before] ")" $((16384 + 8)) 'the block that has that page'
for function in lower upper; do
    like "$(fview kept)" ";\\[stack of lodging\\];([^ ]*;)?$function;get [34]0000" \
        "two stacks in one mapping: what $function keeps"
done
file_lacks err 'not searched|blocks are missing' 'all of that memory was searched'
tell quit
wait "$victim"
globals='[globals of keeping]'

# libdwarf dies of these ranges.
compile_victim keeping -pthread -fno-builtin -gdwarf-5 -O2
python3 -c 'import random, sys; random.seed("rnglists"); sys.stdout.buffer.write(random.randbytes(100000))' >noise
if objcopy --update-section .debug_rnglists=noise keeping 2>err; then
    begin ./keeping
    attach --kept
    tell work
    leave
    is_int "$status" 0 'flame mem -p --kept survives debug information that libdwarf does not'
    is_str "$(kept_by "$globals;second;")" 5000 'damaged debug information costs no rows'
    tell quit
    wait "$victim"
else
    diag "$(cat err)"
fi
done_testing
