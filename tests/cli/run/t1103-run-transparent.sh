#!/bin/bash
# The command behaves as without flame run: output, input, status, signals, children; and however
# it ends, the recording is there.
# shellcheck disable=SC2086,SC2317 # an option, or none; functions are called through run
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/signals.sh"

compile_victim keeper
mkdir tmp
export TMPDIR=$SCRATCH/tmp

for inside in '' --no-in-process; do
    both() {
        "$FLAME" run $inside -o x.folded "$@"
    }
    run_expect_status 0 "flame run $inside ends with the command's status 0" both -- ./keeper keep:100
    is_str "$(cat out)" '' "flame run $inside: the summary is not on standard output"
    run_expect_status 42 "flame run $inside ends with the command's status 42" both -- ./keeper keep:100 exit:42
    ok "flame run $inside: a command that failed has a result" test -s x.folded
    run_expect_status 2 "flame run $inside ends with the command's status 2" both -- ./keeper exit:2
    file_has err 'allocated' "flame run $inside: status 2 of the command is no usage error"

    printf 'one\ntwo\0three' >input
    run both -- cat - <input
    ok "flame run $inside: input and output pass byte by byte" cmp input out
    run both -q -- sh -c 'echo to-out; echo to-err >&2'
    is_str "$(cat out)" to-out "flame run $inside: the command has flame's standard output"
    is_str "$(cat err)" to-err "flame run $inside: standard error has only the command's output under -q"
    ls /proc/self/fd >want
    run both -q -- ls /proc/self/fd
    is_str "$(tr '\n' ' ' <out)" "$(tr '\n' ' ' <want)" "flame run $inside adds no descriptor to the command"
    run env MARK='x y' "$FLAME" run -q $inside -o x.folded -- sh -c 'echo "[$1] $MARK"' sh ''
    is_str "$(cat out)" '[] x y' "flame run $inside: the command gets empty arguments and the environment"

    for sig in 6 9 11 15 2; do
        rm -f x.folded
        run both -- ./keeper keep:1000 "signal:$sig"
        is_int "$status" $((128 + sig)) \
            "signal $sig that kills the command gives the status of flame run $inside"
        file_has x.folded 'keep_block 1000$' \
            "signal $sig that kills the command: flame run $inside has the memory"
        file_has err 'traced for' "signal $sig that kills the command: flame run $inside has the waits"
    done
    signals_passed_on "$FLAME" run -q $inside -o x.folded --
    group_outlived "$FLAME" run -q $inside -o x.folded --
    typed_keys keep:99 'keep_block 99$' "$FLAME" run $inside -o x.folded --
    rm -f hold said
done

# Views of waits as well.
run "$FLAME" run -q --view off -o x.folded -- sh -c '/bin/sleep 0.05; kill -9 $$'
is_int "$status" 137 'flame run --view off of a killed command ends with its status'
file_has x.folded '^sleep;.*nanosleep' "flame run --view off of a killed command has its child's wait"

run sh -c 'trap "" HUP INT; exec "$@"' sh "$FLAME" run -q -o x.folded -- \
    sh -c 'kill -HUP $$; kill -INT $$; echo survived'
is_str "$(cat out)" survived "signals that flame's caller ignores stay ignored in the command"

# A process that the command leaves behind runs on, without a reader at its terminal, and is named.
mkfifo hold said
exec 3<>hold
run_expect_status 0 'flame run of a command that leaves a child succeeds' "$FLAME" run -o x.folded -- sh -c \
    './keeper keep:77 wait <hold >said 2>/dev/null & echo $! >left; read -r line <said' 3>&-
file_has err "^flame: 1 process still runs \(keeper $(cat left)\)" 'flame run names the child that still runs'
ok 'a child left by the command still runs' kill -0 "$(cat left)"
exec 3>&-
left_has_ended() {
    ! kill -0 "$(cat left)"
}
ok 'a child left by the command runs to its end' comes_true left_has_ended

# The budget of disk is that of the recorder of memory.
run_expect_status 0 'flame run --max-disk succeeds' "$FLAME" run --max-disk 100k -o x.folded -- \
    python3 -c 'import json, subprocess'
file_has err 'of disk \(--max-disk\) were used up' '--max-disk ends the recording of memory'
file_has err 'traced for' '--max-disk does not end the recording of waits'

# Only the command, without its children.
run "$FLAME" run --no-follow -o x.flame -- sh -c '/bin/sleep 0.02; ./keeper keep:55; exit 0'
is_int "$status" 0 "flame run --no-follow ends with the command's status"
is_str "$("$FLAME" fold --view alloc --no-header x.flame | grep -c '^sh;')" \
    "$("$FLAME" fold --view alloc --no-header x.flame | grep -c .)" \
    'flame run --no-follow has the memory of one program'
unlike "$("$FLAME" fold --view off x.flame)" '^sleep;' 'flame run --no-follow has the waits of one program'
is_str "$(traces_in x.flame | xargs)" 'x.flame/1 x.flame/2' 'flame run --no-follow writes one trace of memory'
like "$("$FLAME" dump -s header x.flame/2)" 'recorder=off' 'flame run --no-follow writes one trace of waiting'

# A result that cannot be made: the recording stays.
mkdir place
run "$FLAME" run -o place/x.flame -- rmdir place
is_int "$status" 1 'flame run -o in a directory that is removed ends with status 1'
kept=$(sed -n 's/^flame: the recording is kept in \([^;]*\);.*/\1/p' err)
ok 'flame run keeps the recording of memory if it cannot write the result' \
    "$FLAME" fold --view alloc -o y.folded "$kept"/rmdir.*.flame
ok 'flame run keeps the recording of waits if it cannot write the result' \
    "$FLAME" fold --view off -o y.folded "$kept/off.flame"
rm -rf "${kept:?}"

is_str "$(ls tmp)" '' 'flame run leaves no recording in TMPDIR'
done_testing
