#!/bin/bash
# The command behaves as without flame mem: output, input, status, signals.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/signals.sh"

compile_victim keeper
mkdir tmp
export TMPDIR=$SCRATCH/tmp

run_expect_status 0 "flame mem ends with the command's status 0" "$FLAME" mem -o x.folded -- ./keeper keep:100
is_str "$(cat out)" '' 'the summary is not on standard output'
run_expect_status 42 "flame mem ends with the command's status 42" \
    "$FLAME" mem -o x.folded -- ./keeper keep:100 exit:42
ok 'a command that failed has a result' test -s x.folded
run_expect_status 2 "flame mem ends with the command's status 2" "$FLAME" mem -o x.folded -- ./keeper exit:2
file_has err 'allocated' 'status 2 of the command is no usage error: the summary is printed'

printf 'one\ntwo\0three' >input
run "$FLAME" mem -o x.folded -- cat - <input
ok 'input and output pass byte by byte' cmp input out
run "$FLAME" mem -q -o x.folded -- sh -c 'echo to-out; echo to-err >&2'
is_str "$(cat out)" to-out "the command has flame mem's standard output"
is_str "$(cat err)" to-err "standard error has only the command's output under -q"
run "$FLAME" mem -q -o x.folded -- sh -c 'echo "$0|$1|$2|$#"' a 'b c' '--view'
is_str "$(cat out)" 'a|b c|--view|2' "options after the command's name are the command's"

# An empty argument, and an environment that is passed on.
run env MARK='x y' "$FLAME" mem -q -o x.folded -- sh -c 'echo "[$1] $MARK"' sh ''
is_str "$(cat out)" '[] x y' 'the command gets empty arguments and the environment'

# Open descriptors: flame adds none to the command.
ls /proc/self/fd >want
run "$FLAME" mem -q -o x.folded -- ls /proc/self/fd
is_str "$(tr '\n' ' ' <out)" "$(tr '\n' ' ' <want)" 'flame mem adds no descriptor to the command'

# Death by signal: the driver dies of it, after the result is written. The shell
# in between reports 128 + signal, and prints nothing of a core.
for sig in 6 9 11 15 2; do
    rm -f x.folded
    run "$FLAME" mem -o x.folded -- ./keeper keep:1000 "signal:$sig"
    is_int "$status" $((128 + sig)) "signal $sig that kills the command gives the status of flame mem"
    file_has x.folded 'keep_block 1000$' "signal $sig that kills the command leaves a complete recording"
done
ok "flame mem dies of the command's signal" python3 -c '
import subprocess, sys
p = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
sys.exit(p.returncode != -15)' "$FLAME" mem -o x.folded -- ./keeper signal:15

# Signals sent to the driver reach the command. Typed at a terminal, they reach both at
# once: the command decides, the driver waits.
signals_passed_on "$FLAME" mem -q -o x.folded --
group_outlived "$FLAME" mem -q -o x.folded --
typed_keys keep:99 'keep_block 99$' "$FLAME" mem -o x.folded --

# Signals that the caller ignores are ignored in the command: nohup keeps its meaning.
run sh -c 'trap "" HUP INT; exec "$@"' sh "$FLAME" mem -q -o x.folded -- \
    sh -c 'kill -HUP $$; kill -INT $$; echo survived'
is_str "$(cat out)" survived "signals that flame's caller ignores stay ignored in the command"
run "$FLAME" mem -q -o x.folded -- sh -c 'kill -INT $$; echo survived'
is_int "$status" 130 'SIGINT is not ignored in the command'

is_str "$(ls tmp)" '' 'flame mem leaves no recording in TMPDIR'

done_testing
