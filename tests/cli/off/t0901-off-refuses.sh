#!/bin/bash
# Errors of flame off's command line: one line, exit 2, and nothing has run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/refused.sh"

off_refused() {
    refused "$1" "$2" off "${@:3}"
}

off_refused 'nothing to trace' 'no command to run and no -p' -o x.svg
off_refused 'both ways at once' "-p and a command, './touch.sh'" -p $$ -o x.svg ./touch.sh
off_refused 'unknown option' 'off: --no-such: unknown' --no-such -o x.svg -- ./touch.sh
off_refused 'unknown short option' 'off: -z: unknown' -z ./touch.sh
off_refused 'an option without its value' '--view: needs a value' --view
off_refused 'a value too many' '--idle: takes no value' --idle=yes ./touch.sh
off_refused 'unknown view' '--view alloc: expected off, wakeup, offwake, chain, io, runq, latency, critical, oncpu or hotcold' \
    --view alloc -o x.svg -- ./touch.sh
for pids in x 0 -1 12,x '12,' ',12' 99999999999 1.5 ''; do
    off_refused "process '$pids'" 'expected process ids' -p "$pids" -o x.svg
done
off_refused 'the process id behind another option' 'to attach say -p 4711' --pid 4711
for time in 0 x 1e3 -1 5h '5 ms' 1..2 nan 0x10 1e-3 99999999999; do
    off_refused "duration '$time'" '-d .*: expected a time' -d "$time" -o x.svg ./touch.sh
    [ "$time" = 0 ] || off_refused "shortest sleep '$time'" '--min-block .*: expected a time' \
        --min-block "${time/99999999999/99999999999s}" -o x.svg ./touch.sh
done
off_refused 'longest sleep' '--max-block x: expected a time' --max-block x -o x.svg ./touch.sh
off_refused 'limits that leave nothing' '--max-block is less than --min-block' \
    --min-block 5ms --max-block 4999us -o x.svg ./touch.sh
off_refused 'too many samples' '--hz 1001: expected a number from 0 to 1000' --hz 1001 ./touch.sh
off_refused 'no number of samples' '--hz x: ' --hz x ./touch.sh
off_refused 'a chain without links' '--chain-depth 0: .* 1 to 32' --chain-depth 0 ./touch.sh
off_refused 'a chain too long' '--chain-depth 33: ' --chain-depth 33 ./touch.sh
off_refused 'bad depth' '--depth 5: expected .* 8 to 65536' --depth 5 ./touch.sh
off_refused 'no regular expression' '--exclude a\(: no regular' --exclude 'a(' -o x.svg ./touch.sh
off_refused 'control characters' 'a\\x1b\[31m' --exclude "$(printf 'a\x1b[31m(')" ./touch.sh
off_refused 'unknown ending' '-o x.svgg: .*\.svg' -o x.svgg -- ./touch.sh
off_refused 'directory that is not there' 'none/x.svg: cannot write: No such file or directory; choose a directory' -o none/x.svg ./touch.sh
off_refused 'missing command' 'no-such-command: no such program' -o x.svg -- no-such-command
off_refused 'missing path' './none: no such program' -o x.svg -- ./none
off_refused 'not executable' 'not executable' -o x.svg -- "$ROOT/Makefile"

run_expect_status 0 'flame off --help succeeds' "$FLAME" off --help
sed -n 's/^.It Fl \(-[a-z-]*\).*/-\1/p; s/.* , Fl \(-[a-z-]*\).*/-\1/p' "$ROOT/man/flame-off.1" |
    sort -u >manual.words
grep -o -- '--[a-z-]\{2,\}' out | sort -u >help.words
while read -r word; do
    file_has out "[ ,]$word" "flame off --help has $word of the manual"
done <manual.words
while read -r word; do
    [ "$word" = --help ] || [ "$word" = --version ] ||
        file_has "$ROOT/man/flame-off.1" "Fl ${word#-}( |\$)" "the manual of flame off has $word"
done <help.words
done_testing
