#!/usr/bin/env bash
# A running process is recorded from the attach on, exactly, and continues unchanged after the detach.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

use_own_tmpdir
compile_victim attached -pthread
for name in early late; do
    compile_victim plugin -shared -fPIC -O0 -DNAME=$name -DSIZE=321
    mv plugin $name.so
done

# Allocations of "work", from its source.
worked() {
    is_str "$(sum alloc alpha) $(sum count alpha) $(sum live alpha)" '100000 100 40000' \
        "$1: bytes and calls of malloc and free"
    is_str "$(sum alloc beta) $(sum count beta) $(sum live beta)" '10500 100 4200' \
        "$1: calloc and realloc, and frees by another thread"
    is_str "$(sum alloc gamma_) $(sum live gamma_)" '1792 1792' "$1: bytes of posix_memalign and aligned_alloc"
    is_str "$(sum alloc delta) $(sum count delta)" '160 5' "$1: allocations of the C library itself"
}

vm() {
    awk '$1 == "VmSize:" { print $2 }' "/proc/$victim/status"
}

begin ./attached
ok 'the victim allocates before the attach' tell before
if ! attach; then
    if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
        tell quit
        skip_all ptrace "$(head -1 err)"
    fi
    diag "$(cat err)"
fi
ok 'the victim works under flame mem -p' tell work
ok 'the victim frees blocks from before the attach' tell after
leave
is_int "$status" 0 'flame mem -p ends with status 0'
worked 'the first attach'
is_str "$(fview temp | awk '{ sum += $NF } END { print sum }')" 60 'the first attach: short-lived blocks'
is_str "$(sum alloc do_word) $(sum live do_word)" '101952 41952' 'the first attach: no other blocks count'
like "$(cat err)" 'allocated before is not known' 'the summary says that earlier blocks are unknown'
like "$(cat err)" 'import slots led to the recorder; all threads were stopped [0-9]+ times' \
    'the summary reports slots and stops'
file_lacks err 'left alone|lost|missing' 'the summary of the first attach reports no loss'
run_expect_status 2 'fold --view mmap of flame mem -p ends with status 2' "$FLAME" fold --view mmap t.flame
file_has err 'recorded without mappings, which flame mem records of commands, and not of a process with -p' \
    'fold --view mmap of flame mem -p says why'

# A process that allocates nothing has no picture.
sleep 100 &
idle=$!
until_in_call "$idle" 230 115 # clock_nanosleep
for file in none.html none.svg; do
    run "$FLAME" mem -d 0.1 -o $file -p "$idle"
    file_has err ' (are|is) empty: (nothing|no picture) was made$' \
        "flame mem -p -o $file of an idle process says that nothing was made"
    file_lacks err " in $file" "flame mem -p -o $file of an idle process names no file"
done
kill "$idle"

# The peak: what was live at most, when flame looked.
recorded() {
    "$FLAME" fold --no-header --view alloc "$TMPDIR"/flame-mem.*/attached."$victim".*.flame 2>kept.err |
        awk '/alpha|beta|gamma_|delta/ { n += $NF } END { exit n < 100000 + 10500 + 1792 + 160 }'
}
ok 'the victim forgets what it kept' tell forget
attach
ok 'the victim works' tell work
ok 'its work is recorded' until_true recorded
ok 'the victim forgets its work' tell forget
ok 'the victim works once more' tell work
leave
is_str "$(sum peak alpha) $(sum live alpha)" '40000 40000' 'live at the end again: the peak is the same'
attach
ok 'the victim keeps more' tell work
ok 'what it keeps is recorded' until_true recorded
ok 'the victim forgets all' tell forget
leave
is_str "$(sum peak alpha) $(sum peak beta) $(sum peak gamma_) $(sum peak delta)" '40000 4200 1792 160' \
    'the peak has the stacks of what was live at most'
is_str "$(sum live alpha) $(sum live gamma_) $(sum live delta)" '0 0 0' 'of the peak nothing is live at the end'
like "$(cat err)" 'of that live at most 4[0-9.]+ KiB, 46,152 bytes, at the end 0 bytes' \
    'the summary has the peak'

# After the detach no call reaches the recorder, and its memory is unmapped.
ok 'the victim works after the detach' tell work
before=$(vm)
attach
ok 'the victim works under a second flame mem -p' tell work
leave
is_int "$status" 0 'the second flame mem -p ends with status 0'
worked 'the second attach'
ok 'the second attach leaves no memory mapped' test $(($(vm) - before)) -lt 4096

# Modules that are opened later, and closed.
ok 'the victim opens a library before the attach' tell open ./early.so early
attach
ok 'the victim calls a library that it opened before the attach' tell call
ok 'the victim closes a library that it opened before the attach' tell close
ok 'the victim opens a library under flame mem -p' tell open ./late.so late
for _ in $(seq 200); do
    tell call
    tell forget
    [ "$(grep -c late.so "/proc/$victim/maps")" -gt 0 ] || break
    calls=$((${calls:-0} + 1))
    [ "$calls" -ge 40 ] && break
    sleep 0.05
done
ok 'the victim closes a library that it opened under flame mem -p' tell close
leave
is_int "$status" 0 'flame mem -p of opened and closed libraries ends with status 0'
is_str "$(sum alloc early)" 3210 'a library opened before the attach is recorded'
ok 'a library opened after the attach is recorded' test "$(sum alloc late)" -gt 32100
is_str "$(sum live late)" 0 'a library opened after the attach: its blocks were freed elsewhere'

# A child is not recorded and behaves as without flame.
attach
ok 'the victim forks under flame mem -p' tell fork
ok 'the victim works after a fork under flame mem -p' tell work
leave
worked 'the attach with a child'

# The recorder is killed: the process goes on, and the next recorder takes over.
attach
kill -9 "$flame"
wait "$flame" 2>/dev/null
ok 'the victim works after flame was killed' tell work
before=$(vm)
attach
ok 'the victim works under a new flame mem -p after a kill' tell work
"$FLAME" mem -p "$victim" -d 1 -o other.flame 2>other.err
is_int $? 2 'a second flame mem -p at once ends with status 2'
like "$(cat other.err)" 'another flame records it' 'a second flame mem -p at once names the first'
leave
worked 'the attach after a killed flame'
ok 'the memory of the killed recorder is unmapped' test "$(vm)" -lt "$before"

# Under a filter of system calls.
ok 'the victim enters a sandbox' tell sandbox
attach
ok 'the victim works in a sandbox under flame mem -p' tell work
leave
worked 'the attach in a sandbox'

# It ends while it is recorded, after its work is in the trace: the last moment before the end may be missing.
attach -d 600
ok 'the victim works under its last flame mem -p' tell work
until_true recorded
echo quit >&7
status=0
wait "$victim" || status=$?
is_int "$status" 0 'the victim ends with status 0 under flame mem -p'
status=0
wait "$flame" || status=$?
is_int "$status" 0 'flame mem -p ends with status 0 when the process ends'
worked 'the attach until the end'
like "$(cat err)" 'it ended while it was recorded' 'the summary says that the process ended while recorded'

# It executes another program, which is neither recorded nor stopped.
begin ./attached
attach
ok 'the victim works before an exec' tell work
until_true recorded
echo "exec $(command -v sleep) 60" >&7
status=0
wait "$flame" || status=$?
is_int "$status" 0 'flame mem -p ends with status 0 when the process executes another program'
worked 'the attach until the exec'
like "$(cat err)" 'it executed another program while it was recorded' 'the summary says that the process executed another'
ok 'the executed program runs on' kill "$victim"
wait "$victim" 2>/dev/null
done_testing
