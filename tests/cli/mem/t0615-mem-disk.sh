#!/bin/bash
# A recording ends where its budget of disk does, and a full disk for traces does not keep
# the result from where -o says.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim family
compile_victim keeper
use_own_tmpdir

sum() {
    what=$1 awk '/^[^#]/ && index($0, ENVIRON["what"]) { n += $NF } END { print n + 0 }' "$2"
}

# ---- a budget ----

# Prints the disk space of the traces while the command runs.
cat >grows <<'EOS'
./keeper keep:1000
for i in 1 2 3; do ./family 4000 4000 2 || exit 1; done
find "$TMPDIR" -name '*.flame' -printf '%k\n' | awk '{ n += $1 } END { print n }'
./keeper keep:10000
exit 7
EOS
run_expect_status 7 'without a budget' "$FLAME" mem -o x.folded -- sh ./grows
file_lacks err 'the recording ended' 'a recording does not end'
is_int "$(sum keep_block x.folded)" 11000 'before the command'
whole=$(sum ';leaf ' x.folded)

# With traces that are kept: others are taken in as soon as their processes have ended.
run_expect_status 7 'the same, kept' "$FLAME" mem -o u.flame -- sh ./grows
ok 'takes what it takes' test "$(du -ck u*.flame | tail -n 1 | cut -f 1)" -gt 600
rm -f u*.flame

run_expect_status 7 'with one the command runs to its end' \
    "$FLAME" mem --max-disk 600k -o x.folded -- sh ./grows
ok 'the traces keep to it' test "$(cat out)" -le 600
file_has err '^flame: the recording ended after [0-9.]+ [a-z]+, when its 600.0 KiB, 614,400 bytes of disk \(--max-disk\) were used up: the figures are as of then$' \
    'when it ended is said'
is_int "$(sum keep_block x.folded)" 1000 'what was before is in the result, what came after is not'
ok 'and of what was then a part' \
    test "$(sum ';leaf ' x.folded)" -gt 0 -a "$(sum ';leaf ' x.folded)" -lt "$whole"
is_int "$(wc -l <err)" 6 'but for what is seen in the result nobody else has a word to say'
is_str "$(ls "$TMPDIR")" '' 'nothing stays behind'

run_expect_status 7 'of traces that are kept' "$FLAME" mem --max-disk 600k -o t.flame -- sh ./grows
ok 'as much is there' test "$(du -ck t*.flame | tail -n 1 | cut -f 1)" -le 640
ok 'and readable' "$FLAME" fold -o y.folded t*.flame
is_int "$(sum keep_block y.folded)" 1000 'up to the same end'

# The room of traces that were taken in is free again. (Those that are kept are not waited for.)
cat >many <<'EOS'
for i in 1 2 3 4 5 6 7 8; do
    for k in 1 2 3 4 5 6 7 8; do ./keeper keep:100 fork keep:50; done
    for n in $(seq "$1"); do
        set -- "$TMPDIR"/flame-mem.*/*.flame
        [ $# -gt 4 ] || break
        sleep 0.05
    done
done
EOS
run "$FLAME" mem -o t.flame -- sh ./many 0
all=$(cat t.*flame | wc -c)
run_expect_status 0 'many, of which each is small' \
    "$FLAME" mem --max-disk $((all / 2)) -o x.folded -- sh ./many 200
file_lacks err 'the recording ended' 'do not use it up'
is_int "$(sum keep_block x.folded)" $((64 * 150)) 'and are all there'

for wrong in x -1 9999999999999g ''; do
    run_expect_status 2 "--max-disk '$wrong'" "$FLAME" mem --max-disk "$wrong" -o x.svg -- ./keeper
    is_int "$(wc -l <err)" 1 'is refused in one line'
done

# ---- a full disk ----

full() { # SIZE COMMAND...: with so much room in TMPDIR
    mount -t tmpfs -o size="$1" tmpfs "$TMPDIR" 2>/dev/null || return
    shift
    run "$@"
    umount "$TMPDIR"
}
if mkdir -p try && mount -t tmpfs tmpfs try 2>/dev/null; then
    umount try
    rm -f x.folded x.svg
    # Full to the last byte, and nothing to be taken in that would make room.
    cat >fills <<'EOS'
sh ./grows
for n in $(seq 200); do
    set -- "$TMPDIR"/flame-mem.*/*.flame
    [ $# -gt 1 ] || break
    sleep 0.05
done
cat /dev/zero >"$TMPDIR/fill" 2>/dev/null
exit 7
EOS
    full 700k "$FLAME" mem -o x.svg -- sh ./fills
    is_int "$status" 7 'full disk: the command runs'
    ok 'full disk: the picture is made' grep -q '</svg>' x.svg
    file_has err 'lost for want of memory or space|not recorded: ' 'full disk: what is missing is said'
    full 8k "$FLAME" mem -o x.folded -- sh ./grows
    is_int "$(sum keep_block x.folded)" 11000 'full from the start: it is recorded beside the result'
    is_str "$(ls -d flame-mem.* 2>/dev/null)" '' 'and nothing stays there'

    # Both full: what was taken in is kept as text.
    mkdir small
    mount -t tmpfs -o size=4k tmpfs small
    run "$FLAME" mem -q -o small/x.svg -- sh ./grows
    is_int "$status" 7 'no room for the result: the command has its status'
    kept=$(sed -n "s/^flame: the recording is kept in \(.*\); 'flame render .*/\1/p" err)
    is_int "$(sum keep_block "$kept/folded")" $((3 * 11000 + 2)) \
        'all views (alloc, live, peak; count) are kept, and where is said'
    run "$FLAME" mem -q -o x.svg -- ./keeper
    ok 'another run does not take them for what was left behind' test -s "$kept/folded"
    ok 'and they can be drawn' "$FLAME" render -o y.svg "$kept/folded"
    umount small
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root 'only root can mount a tmpfs'
else
    skip mount 'mounting a tmpfs is not permitted here'
fi
done_testing
