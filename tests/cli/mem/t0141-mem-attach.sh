#!/usr/bin/env bash
# A process that runs is recorded from now on, exactly, and left as it was.
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
    is_str "$(sum alloc alpha) $(sum count alpha) $(sum live alpha)" '100000 100 40000' "$1: malloc and free"
    is_str "$(sum alloc beta) $(sum count beta) $(sum live beta)" '10500 100 4200' \
        "$1: calloc and realloc, and frees by another thread"
    is_str "$(sum alloc gamma_) $(sum live gamma_)" '1792 1792' "$1: posix_memalign and aligned_alloc"
    is_str "$(sum alloc delta) $(sum count delta)" '160 5' "$1: what the C library calls itself"
}

vm() {
    awk '$1 == "VmSize:" { print $2 }' "/proc/$victim/status"
}

begin ./attached
ok 'it runs' tell before
if ! attach; then
    if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
        tell quit
        skip_all ptrace "$(head -1 err)"
    fi
    diag "$(cat err)"
fi
ok 'it works on' tell work
ok 'and frees what was there before' tell after
leave
is_int "$status" 0 'left'
worked 'from now on'
is_str "$(fview temp | awk '{ sum += $NF } END { print sum }')" 60 'blocks that lived for a moment'
is_str "$(sum alloc do_word) $(sum live do_word)" '101952 41952' 'and nothing else is counted'
like "$(cat err)" 'allocated before is not known' 'what was before is said to be unknown'
like "$(cat err)" 'import slots led to the recorder; all threads were stopped [0-9]+ times' 'and how it was done'
file_lacks err 'left alone|lost|missing' 'nothing was left out'
run_expect_status 2 'what it maps nobody watched' "$FLAME" fold --view mmap t.flame
file_has err 'recorded without mappings, which flame mem records of commands, and not of a process with -p' 'which is no empty view'

# A process that allocates nothing has no picture.
sleep 100 &
idle=$!
until_in_call "$idle" 230 115 # clock_nanosleep
for file in none.html none.svg; do
    run "$FLAME" mem -d 0.1 -o $file -p "$idle"
    file_has err ' (are|is) empty: (nothing|no picture) was made$' "$file: that nothing was made is said"
    file_lacks err " in $file" 'and not where it is'
done
kill "$idle"

# Not a call comes by the recorder any more, and its memory is gone.
ok 'it works on alone' tell work
before=$(vm)
attach
ok 'a second time' tell work
leave
is_int "$status" 0 'left'
worked 'the second time'
ok 'the memory that was used is given back' test $(($(vm) - before)) -lt 4096

# Modules that are opened later, and closed.
ok 'a library is opened before' tell open ./early.so early
attach
ok 'it is called' tell call
ok 'and closed' tell close
ok 'another one is opened' tell open ./late.so late
for _ in $(seq 200); do
    tell call
    tell forget
    [ "$(grep -c late.so "/proc/$victim/maps")" -gt 0 ] || break
    calls=$((${calls:-0} + 1))
    [ "$calls" -ge 40 ] && break
    sleep 0.05
done
ok 'and closed as well' tell close
leave
is_int "$status" 0 'left'
is_str "$(sum alloc early)" 3210 'a library that was there'
ok 'a library that came later' test "$(sum alloc late)" -gt 32100
is_str "$(sum live late)" 0 'whose blocks were freed elsewhere'

# A child records nothing and ends as it would.
attach
ok 'it forks' tell fork
ok 'and works' tell work
leave
worked 'beside a child'

# The recorder is killed: the process goes on, and the next recorder takes over.
attach
kill -9 "$flame"
wait "$flame" 2>/dev/null
ok 'it works on when flame was killed' tell work
before=$(vm)
attach
ok 'and is recorded again' tell work
"$FLAME" mem -p "$victim" -d 1 -o other.flame 2>other.err
is_int $? 2 'by one flame at a time'
like "$(cat other.err)" 'another flame records it' 'as a line says'
leave
worked 'after a flame that was killed'
ok 'what that had used is given back as well' test "$(vm)" -lt "$before"

# Under a filter of system calls.
ok 'it enters a sandbox' tell sandbox
attach
ok 'and works' tell work
leave
worked 'in a sandbox'

# It ends while it is recorded, when what it did is in the trace: of its last moment some may be missing.
is_kept() {
    "$FLAME" fold --no-header --view alloc "$TMPDIR"/flame-mem.*/attached."$victim".*.flame 2>kept.err |
        awk '/alpha|beta|gamma_|delta/ { n += $NF } END { exit n != 100000 + 10500 + 1792 + 160 }'
}
attach -d 600
ok 'it works' tell work
until_true is_kept
echo quit >&7
status=0
wait "$victim" || status=$?
is_int "$status" 0 'it ends as it would'
status=0
wait "$flame" || status=$?
is_int "$status" 0 'and so does the recording'
worked 'until its end'
like "$(cat err)" 'it ended while it was recorded' 'which is said'
done_testing
