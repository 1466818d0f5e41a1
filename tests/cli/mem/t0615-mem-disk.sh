#!/bin/bash
# A recording ends when its disk budget is used up, and a full disk for traces does not keep
# the result from the path of -o.
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
run_expect_status 7 "flame mem without --max-disk ends with the command's status" \
    "$FLAME" mem -o x.folded -- sh ./grows
file_lacks err 'the recording ended' 'flame mem without --max-disk does not end the recording'
is_int "$(sum keep_block x.folded)" 11000 'flame mem without --max-disk records the whole command'
whole=$(sum ';leaf ' x.folded)

# With kept traces: other traces are ingested as soon as their processes have ended.
run_expect_status 7 "flame mem -o u.flame without --max-disk ends with the command's status" \
    "$FLAME" mem -o u.flame -- sh ./grows
ok 'kept traces without --max-disk exceed the later limit' \
    test "$(du -ck u*.flame | tail -n 1 | cut -f 1)" -gt 600
rm -f u*.flame

run_expect_status 7 'flame mem --max-disk: the command runs to its end' \
    "$FLAME" mem --max-disk 600k -o x.folded -- sh ./grows
ok 'flame mem --max-disk: the traces keep to the limit' test "$(cat out)" -le 600
file_has err '^flame: the recording ended after [0-9.]+ [a-z]+, when its 600.0 KiB, 614,400 bytes of disk \(--max-disk\) were used up: the figures are as of then$' \
    'flame mem --max-disk: the summary says when the recording ended'
is_int "$(sum keep_block x.folded)" 1000 'flame mem --max-disk: the result ends with the recording'
ok 'flame mem --max-disk: the result has a part of the last program' \
    test "$(sum ';leaf ' x.folded)" -gt 0 -a "$(sum ';leaf ' x.folded)" -lt "$whole"
is_int "$(wc -l <err)" 6 'flame mem --max-disk: no other line is printed'
is_str "$(ls "$TMPDIR")" '' 'flame mem --max-disk leaves no file in TMPDIR'

run_expect_status 7 "flame mem --max-disk -o t.flame ends with the command's status" \
    "$FLAME" mem --max-disk 600k -o t.flame -- sh ./grows
ok 'flame mem --max-disk -o t.flame keeps traces up to the limit' \
    test "$(du -ck t*.flame | tail -n 1 | cut -f 1)" -le 640
ok 'traces of flame mem --max-disk are readable' "$FLAME" fold -o y.folded t*.flame
is_int "$(sum keep_block y.folded)" 1000 'traces of flame mem --max-disk end with the recording'

# The disk space of ingested traces is free again. (Kept traces are not waited for.)
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
run_expect_status 0 'flame mem --max-disk of many small processes succeeds' \
    "$FLAME" mem --max-disk $((all / 2)) -o x.folded -- sh ./many 200
file_lacks err 'the recording ended' 'many small processes do not use up the limit'
is_int "$(sum keep_block x.folded)" $((64 * 150)) 'many small processes are all in the result'

for wrong in x -1 9999999999999g ''; do
    run_expect_status 2 "flame mem --max-disk '$wrong' ends with status 2" \
        "$FLAME" mem --max-disk "$wrong" -o x.svg -- ./keeper
    is_int "$(wc -l <err)" 1 "flame mem --max-disk '$wrong' prints one line"
done

# ---- a full disk ----

full() { # SIZE COMMAND...: with SIZE bytes of room in TMPDIR
    mount -t tmpfs -o size="$1" tmpfs "$TMPDIR" 2>/dev/null || return
    shift
    run "$@"
    umount "$TMPDIR"
}
if mkdir -p try && mount -t tmpfs tmpfs try 2>/dev/null; then
    umount try
    rm -f x.folded x.svg
    # Full to the last byte, with no trace left to ingest that would free space.
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
    is_int "$status" 7 'full disk: the command ends with its status'
    ok 'full disk: the picture is made' grep -q '</svg>' x.svg
    file_has err 'lost for want of memory or space|not recorded: ' 'full disk: the summary says what is missing'
    full 8k "$FLAME" mem -o x.folded -- sh ./grows
    is_int "$(sum keep_block x.folded)" 11000 'disk full from the start: the traces are beside the result'
    is_str "$(ls -d flame-mem.* 2>/dev/null)" '' \
        'disk full from the start: no directory is left beside the result'

    # Both full: the ingested traces are kept as text.
    mkdir small
    mount -t tmpfs -o size=4k tmpfs small
    run "$FLAME" mem -q -o small/x.svg -- sh ./grows
    is_int "$status" 7 "no room for the result: flame ends with the command's status"
    kept=$(sed -n "s/^flame: the recording is kept in \(.*\); 'flame render .*/\1/p" err)
    is_int "$(sum keep_block "$kept/folded")" $((3 * 11000 + 2)) \
        'no room for the result: the summary names the kept text, which has all views'
    run "$FLAME" mem -q -o x.svg -- ./keeper
    ok 'another run does not remove the kept text' test -s "$kept/folded"
    ok 'the kept text can be drawn' "$FLAME" render -o y.svg "$kept/folded"
    umount small
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root 'only root can mount a tmpfs'
else
    skip mount 'mounting a tmpfs is not permitted here'
fi
done_testing
