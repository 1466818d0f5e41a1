#!/bin/bash
# flame watch --rotate: a recording in parts that sum to the whole, and a disk limit.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"

# run_staged TRACE: the victim with the recorder alone; $victim.
run_staged() {
    rm -f to from
    mkfifo to from
    LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/$1 ./staged <to >from &
    victim=$!
    exec 7>to 8<from
}

end_staged() {
    echo q >&7
    exec 7>&- 8<&-
    wait "$victim"
    is_int "$?" 0 'the watched process ends with status 0'
}

# there FILE: waits until it exists; it is then complete.
there() {
    until_true test -e "$1"
}

# watching: until it takes signals. (The shell's child blocks some as well, before it executes flame, and forgets
# a SIGTERM that comes then.)
watches() {
    awk '$1 == "Name:" { flame = $2 == "flame" } $1 == "SigBlk:" { blocks = $2 ~ /[1-9a-f]/ }
        END { exit !(flame && blocks) }' "/proc/$watch/status"
}
watching() {
    until_true watches
}

seam() {
    kill -USR1 "$watch"
    there "$1"
}

# end_of_watch WANT: its status.
end_of_watch() {
    status=0
    wait "$watch" || status=$?
    is_int "$status" "$1" "flame watch ends with status $1 when the process ends"
}

# ---- by signals ----

run_staged all.flame
stage a 5
"$FLAME" watch --rotate 100h "$victim" 2>watch.err &
watch=$!
watching
seam all.part0001.flame
stage b 4
stage f 1
seam all.part0002.flame
stage f 1
stage a 2
end_staged
end_of_watch 0
file_has watch.err "^flame: 3 parts up to .*all\.part0003\.flame; add them up with 'flame fold'\$" \
    'flame watch --rotate prints how many parts there are'
is_str "$(stat -c %a all.part0002.flame)" 600 'parts have mode 600'

for view in alloc count live peak temp; do
    "$FLAME" fold --view "$view" -o whole.folded all.flame
    "$FLAME" fold --view "$view" -o parts.folded all.part*.flame
    ok "--view $view: parts sum to the recording, byte for byte" cmp whole.folded parts.folded
    "$FLAME" fold --tid --pid --view "$view" -o whole.folded all.flame
    "$FLAME" fold --tid --pid --view "$view" -o parts.folded all.part0003.flame all.part0001.flame all.part0002.flame
    ok "--view $view: parts in any order, with processes and threads, sum to the recording" \
        cmp whole.folded parts.folded
done
"$FLAME" render --view live -o whole.svg all.flame
"$FLAME" render --view live -o parts.svg all.part*.flame
is_str "$(grep -o '<title>[^<]*' parts.svg | sort)" "$(grep -o '<title>[^<]*' whole.svg | sort)" \
    'the picture of all parts is that of the recording'

sum() {
    "$FLAME" fold --view "$1" "${@:3}" | stage=stage_$2 awk '/^[^#]/ && index($0, ENVIRON["stage"]) { n += $NF } END { print n + 0 }'
}
is_str "$(sum alloc a all.part0001.flame) $(sum alloc b all.part0001.flame)" '5000 0' \
    'part 1 alone has its own allocations'
is_str "$(sum alloc a all.part0002.flame) $(sum alloc b all.part0002.flame)" '0 2000' \
    'part 2 alone has its own allocations'
is_str "$(sum alloc a all.part0003.flame) $(sum alloc b all.part0003.flame)" '2000 0' \
    'part 3 alone has its own allocations'
live=$("$FLAME" fold --view live all.part0002.flame | awk '/stage_/ { n += $NF } END { print n }')
is_int "$live" 6500 'part 2 alone has the live bytes of its end'
is_str "$(sum alloc a all.part0002.flame all.part0003.flame)" 2000 \
    'two of three parts have their own allocations'
is_str "$("$FLAME" fold --view live all.part0002.flame all.part0003.flame | grep -v '^#')" \
    "$("$FLAME" fold --view live all.flame | grep -v '^#')" 'two of three parts have the live bytes of the end'
run_expect_status 0 'fold without part 2 succeeds' \
    "$FLAME" fold --view alloc all.part0001.flame all.part0003.flame
file_has err 'all.part0003.flame: part 2 of the same recording is not given; its counts are missing$' \
    'fold without part 2 says that it is missing'
is_str "$(sum alloc a all.part0001.flame all.part0003.flame 2>gap.err) $(sum alloc b all.part0001.flame all.part0003.flame 2>gap.err)" '7000 0' \
    'fold without part 2 lacks only that part'
run_expect_status 0 'fold with part 2 given twice succeeds' "$FLAME" fold all.part*.flame all.part0002.flame
file_has err 'part 2 is given twice, and counted once$' 'fold with part 2 given twice says so'
"$FLAME" fold -o whole.folded all.flame
ok 'fold with part 2 given twice counts it once' cmp whole.folded out
head -c -700 all.part0002.flame >cut.flame
run_expect_status 2 'fold of a truncated part ends with status 2' "$FLAME" fold cut.flame

# ---- two flame watch in turn, each with its own parts ----

run_staged both.flame
stage a 5
"$FLAME" watch --rotate 100h -o one.flame "$victim" 2>watch.err &
watch=$!
watching
kill "$watch"
end_of_watch 0
stage b 4
touch two.part0001.flame.tmpAbCdEf two.part1.flame two.part0001.flame.tmp
"$FLAME" watch --rotate 100h -o two.flame "$victim" 2>watch.err &
watch=$!
watching
run_expect_status 2 'a second flame watch --rotate at once ends with status 2' \
    timeout 60 "$FLAME" watch --rotate 100h -o three.flame "$victim"
file_has err '^flame: watch: .*both\.flame: another process writes parts of it already$' \
    'a second flame watch --rotate at once says why'
end_staged
end_of_watch 0
is_str "$(echo two.part*)" 'two.part0001.flame two.part0001.flame.tmp two.part1.flame' \
    'flame watch removes only unfinished parts of its own name'
"$FLAME" fold -o whole.folded both.flame
run_expect_status 0 'fold of overlapping parts succeeds' "$FLAME" fold two.part0001.flame one.part0001.flame
ok 'fold of overlapping parts counts them once, in any order' cmp whole.folded out
is_str "$(cat err)" '' 'fold of overlapping parts prints nothing'
run_expect_status 0 'fold of a recording and its parts succeeds' \
    "$FLAME" fold both.flame one.part0001.flame two.part0001.flame
ok 'fold of a recording and its parts counts them once' cmp whole.folded out
file_has err 'one\.part0001\.flame: is a part of a recording that is also given whole; such parts are not counted$' \
    'fold of a recording and its parts says that it leaves out the parts'
"$FLAME" render -o whole.svg both.flame
"$FLAME" render -o parts.svg one.part0001.flame both.flame 2>parts.err
is_str "$(grep -o '<title>[^<]*' parts.svg | sort)" "$(grep -o '<title>[^<]*' whole.svg | sort)" \
    'render of a recording and its parts draws the recording'

# ---- by time, with a limit that a second flame watch keeps, too ----

run_staged live.flame
stage a 5
"$FLAME" watch --rotate 50ms --max-disk 50k -o hour.flame "$victim" 2>watch.err &
watch=$!
there hour.part0003.flame
kill "$watch"
end_of_watch 0
stage b 4
last=$(find . -name 'hour.part*' | sort | tail -n 1)
last=${last#./}
"$FLAME" watch --rotate 50ms --max-disk 50k -o hour.flame "$victim" 2>>watch.err &
watch=$!
ok 'a second flame watch --max-disk removes older parts' comes_true test ! -e "$last"
end_staged
end_of_watch 0
file_has watch.err '^flame: watch: hour\.part0001\.flame: removed, as the parts take more than 51200 bytes \(--max-disk\)$' \
    'flame watch --max-disk names a removed part'
file_has watch.err '^flame: [0-9]+ parts up to .*, of which [0-9]+ were removed;' \
    'flame watch --max-disk counts the removed parts'
ok 'flame watch --max-disk keeps to the limit' test "$(cat hour.part*.flame | wc -c)" -le 51200
is_str "$("$FLAME" fold --view live hour.part*.flame | grep -v '^#')" \
    "$("$FLAME" fold --view live live.flame | grep -v '^#')" \
    'the remaining parts have the live bytes of the end'

# ---- no room ----

run_staged full.flame
stage a 5
mkdir small
if mount -t tmpfs -o size=16k none small 2>/dev/null; then
    unmount_small() { umount "$SCRATCH/small"; }
    trap 'unmount_small; tap_cleanup' EXIT
    dd if=/dev/zero of=small/other bs=1k count=12 status=none
    "$FLAME" watch --rotate 20ms -o small/p.flame "$victim" 2>watch.err &
    watch=$!
    until_true test -s watch.err
    sleep 0.2
    is_int "$(grep -c 'No space left on device; the program runs on' watch.err)" 1 \
        'flame watch --rotate reports a full disk once'
    stage b 4
    mount -o remount,size=4m small
    there small/p.part0001.flame
    end_staged
    end_of_watch 0
    is_str "$("$FLAME" fold small/p.part*.flame)" "$("$FLAME" fold full.flame)" \
        'flame watch --rotate after a full disk loses nothing'
    unmount_small
    trap tap_cleanup EXIT
else
    end_staged
    if [ "$(id -u)" -ne 0 ]; then
        skip not-root 'only root can mount a tmpfs'
    else
        skip mount 'mounting a tmpfs is not permitted here'
    fi
fi

# ---- refused ----

run_staged other.flame
stage a 1
run_expect_status 2 'flame watch over parts of another recording ends with status 2' \
    "$FLAME" watch --rotate 1s -o all.flame "$victim"
file_has err '^flame: watch: all\.part0003\.flame: is of another recording; move it away, or give -o another name$' \
    'flame watch over parts of another recording says why'
run_expect_status 2 'flame watch --rotate --every ends with status 2' \
    "$FLAME" watch --rotate 1s --every 1s "$victim"
run_expect_status 2 'flame watch --max-disk without --rotate ends with status 2' \
    "$FLAME" watch --max-disk 1m "$victim"
for wrong in 0 1w '' -1 min 1xmin; do
    run_expect_status 2 "flame watch --rotate '$wrong' ends with status 2" \
        "$FLAME" watch --rotate "$wrong" "$victim"
    file_has err "expected a time such as 600, 90s, 10min or 1h, bytes such as 64m" \
        "flame watch --rotate '$wrong' says what it expects"
done
run_expect_status 2 'flame watch -o in a missing directory ends with status 2' \
    "$FLAME" watch --rotate 1s -o nowhere/x.flame "$victim"
end_staged
done_testing
