#!/bin/bash
# The command behaves as without flame run: output, input, status, signals, children; and whatever way
# it ends, what was recorded is there.
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
    run_expect_status 0 "status 0 $inside" both -- ./keeper keep:100
    is_str "$(cat out)" '' 'the summary is not on standard output'
    run_expect_status 42 'status 42' both -- ./keeper keep:100 exit:42
    ok 'the result of a command that failed is there' test -s x.folded
    run_expect_status 2 'status 2 of the command' both -- ./keeper exit:2
    file_has err 'allocated' 'is not a usage error: the summary is there'

    printf 'one\ntwo\0three' >input
    run both -- cat - <input
    ok 'input and output pass byte by byte' cmp input out
    run both -q -- sh -c 'echo to-out; echo to-err >&2'
    is_str "$(cat out)" to-out 'standard output'
    is_str "$(cat err)" to-err 'standard error, with nothing of ours under -q'
    ls /proc/self/fd >want
    run both -q -- ls /proc/self/fd
    is_str "$(tr '\n' ' ' <out)" "$(tr '\n' ' ' <want)" 'no descriptor is added'
    run env MARK='x y' "$FLAME" run -q $inside -o x.folded -- sh -c 'echo "[$1] $MARK"' sh ''
    is_str "$(cat out)" '[] x y' 'empty arguments and the environment'

    for sig in 6 9 11 15 2; do
        rm -f x.folded
        run both -- ./keeper keep:1000 "signal:$sig"
        is_int "$status" $((128 + sig)) "signal $sig ends both"
        file_has x.folded 'keep_block 1000$' "signal $sig: the recording is whole"
        file_has err 'traced for' "signal $sig: of both"
    done
    signals_passed_on "$FLAME" run -q $inside -o x.folded --
    group_outlived "$FLAME" run -q $inside -o x.folded --
    typed_keys keep:99 'keep_block 99$' "$FLAME" run $inside -o x.folded --
    rm -f hold said
done

# Views of waiting as well.
run "$FLAME" run -q --view off -o x.folded -- sh -c '/bin/sleep 0.05; kill -9 $$'
is_int "$status" 137 'a command that is killed'
file_has x.folded '^sleep;.*nanosleep' 'what its child waited for is there'

run sh -c 'trap "" HUP INT; exec "$@"' sh "$FLAME" run -q -o x.folded -- \
    sh -c 'kill -HUP $$; kill -INT $$; echo survived'
is_str "$(cat out)" survived 'ignored signals stay ignored'

# A process that the command leaves behind runs on, without a reader at its terminal, and is named.
mkfifo hold said
exec 3<>hold
run_expect_status 0 'a command that leaves a child' "$FLAME" run -o x.folded -- sh -c \
    './keeper keep:77 wait <hold >said 2>/dev/null & echo $! >left; read -r line <said' 3>&-
file_has err "^flame: 1 process still runs \(keeper $(cat left)\)" 'says who goes on'
ok 'it does' kill -0 "$(cat left)"
exec 3>&-
left_has_ended() {
    ! kill -0 "$(cat left)"
}
ok 'and ends as it would' comes_true left_has_ended

# The budget of disk is that of the recorder of memory.
run_expect_status 0 'a budget of disk' "$FLAME" run --max-disk 100k -o x.folded -- \
    python3 -c 'import json, subprocess'
file_has err 'of disk \(--max-disk\) were used up' 'ends what is recorded of memory'
file_has err 'traced for' 'and not the rest'

# Only the command, or all that it starts.
run "$FLAME" run --no-follow -o x.flame -- sh -c '/bin/sleep 0.02; ./keeper keep:55; exit 0'
is_int "$status" 0 'without what it starts'
is_str "$("$FLAME" fold --view alloc --no-header x.flame | grep -c '^sh;')" \
    "$("$FLAME" fold --view alloc --no-header x.flame | grep -c .)" 'memory is of one program'
unlike "$("$FLAME" fold --view off x.off.flame)" '^sleep;' 'and so is waiting'
not_ok 'there is no other trace' test -e x.2.flame

# A result that cannot be made: the recording stays.
mkdir place
run "$FLAME" run -o place/x.flame -- rmdir place
is_int "$status" 1 'a place that is gone at the end is a failure'
kept=$(sed -n 's/^flame: the recording is kept in \([^;]*\);.*/\1/p' err)
ok 'the recording of memory is kept' "$FLAME" fold --view alloc -o y.folded "$kept"/rmdir.*.flame
ok 'and that of waiting' "$FLAME" fold --view off -o y.folded "$kept/off.flame"
rm -rf "${kept:?}"

is_str "$(ls tmp)" '' 'no recording is left behind'
done_testing
