#!/bin/bash
# Programs put files into the directory of their run: pipes, links, devices, directories, files with
# no end. flame neither waits for these nor reads them, the run's result is the same as without them,
# and all are removed.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir

left() { find "$TMPDIR" -mindepth 1 -maxdepth 1 | wc -l; }

cat >litter <<'EOS'
cd "$(echo "$TMPDIR"/flame-*.*)" || exit 9
mine=$(echo ./*.flame)
case $1 in
pipe) mkfifo evil.flame "evil.$$.0.flame" ;;
zero) ln -s /dev/zero evil.flame; ln -s /dev/zero "evil.$$.0.flame" ;;
link) ln -s /etc/passwd evil.flame ;;
folder) mkdir evil.flame evil; mkdir -p evil/a/b/c/d; touch evil/a/b/file; chmod 0 evil/a ;;
garbage) head -c 100000 /dev/urandom >evil.flame ;;
long) truncate -s 40G evil.flame ;;
# The header of a trace, which says that 40 GiB are in use.
hollow) head -c 1024 "bash.$$.0.flame" >evil.new; truncate -s 40G evil.new
    printf '\0\0\200\2' | dd of=evil.new bs=1 seek="$UNITS" conv=notrunc 2>/dev/null; mv evil.new evil.flame ;;
moments) for m in $mine; do mkfifo "$m.moments"; done ;;
notes) rm notes; mkfifo notes ;;
spares) for n in 0 1 2 3 4 5 6 7; do mkfifo spare.$n; done ;;
waits) rm -f off.flame; mkfifo off.flame ;;
esac
cd "$OLDPWD"
for n in 1 2 3; do ./keeper keep:100; done
EOS
cat >units.c <<'EOF'
#include "common/trace_format.h"
#include <stddef.h>
#include <stdio.h>
int main(void)
{
    return printf("%zu", offsetof(struct trace_header, units)) < 0;
}
EOF
"${CC:-gcc}" -I"$ROOT" -o units units.c
UNITS=$(./units)
export UNITS

# with WHAT COMMAND...: flame COMMAND of a program that leaves WHAT there.
with() {
    local what=$1
    shift
    run timeout -k 5 120 "$FLAME" "$@" -- bash ./litter "$what"
}

for what in pipe zero link folder garbage long hollow moments notes spares; do
    with $what mem -q -o x.folded
    is_int "$status" 0 "flame mem with litter ($what) ends with the command's status"
    is_int "$(awk '/keep_block/ { n += $NF } END { print n }' x.folded)" 300 \
        "flame mem with litter ($what) draws all blocks"
    find "$TMPDIR" -name evil.flame -delete
    is_str "$(find "$TMPDIR" -type p)$(find "$TMPDIR" -type l)" '' \
        "flame mem with litter ($what) leaves no pipe and no link"
    rm -rf "${TMPDIR:?}"/*
done
for what in pipe zero folder notes; do
    with $what mem -q --moments -o x.flame
    is_int "$status" 0 "flame mem -o x.flame with litter ($what) ends with the command's status"
    is_int "$("$FLAME" fold --view alloc x*.flame 2>/dev/null | awk '/keep_block/ { n += $NF } END { print n }')" \
        300 "flame mem -o x.flame with litter ($what) has all blocks"
    with $what off -q -o x.svg
    is_int "$status" 0 "flame off with litter ($what) ends with the command's status"
    with $what run -q -o x.html
    is_int "$status" 0 "flame run with litter ($what) ends with the command's status"
    rm -rf "${TMPDIR:?}"/* x*.flame
done
with waits off -q -o x.svg
is_int "$status" 1 'flame off with a pipe in place of its trace ends with status 1'
file_has err '^flame: .*: left no recording: its trace cannot be read: no plain file$' \
    'flame off with a pipe in place of its trace says why'
with garbage leak -q
is_int "$status" 1 'flame leak with a file that is no trace ends with status 1'
file_has err 'not every process could be checked: traces cannot be read: evil' \
    'flame leak with a file that is no trace says why'
rm -rf "${TMPDIR:?}"/*
with hollow mem -q -o x.folded
file_has err 'evil is not in the result, .*: 42949672960 bytes are said to be in use, and [0-9]+ are on the disk' \
    "flame mem does not read a file of 40 GiB with a trace's header"
rm -rf "${TMPDIR:?}"/*
with folder mem -q -o x.svg
with spares mem -q -o x.svg
is_int "$(left)" 0 'directories and pipes are removed with the run directory'

# ---- outputs ----

mkfifo own
cat own >got &
run "$FLAME" mem -q -o own -- ./keeper keep:100
is_int "$status" 2 'flame mem -o of a pipe without an ending ends with status 2'
echo >own
wait
mkfifo own.folded
cat own.folded >got &
run "$FLAME" mem -q -o own.folded -- ./keeper keep:100
wait
file_has got keep_block "flame mem writes to the user's own pipe"
"$FLAME" fold -o /dev/stdout x.folded >/dev/null 2>&1
ok 'flame fold writes to standard output' test "$("$FLAME" fold -o /dev/stdout got | grep -c keep_block)" = 1
# A link stays, and so does what its descriptor's file has already.
before=$(readlink /dev/stdout)
echo first >appended
"$FLAME" fold -o /dev/stdout got >>appended
is_str "$(readlink /dev/stdout) $(head -1 appended) $(grep -c keep_block appended)" "$before first 1" \
    'flame fold -o /dev/stdout into a file writes there, and leaves /dev/stdout'
ln -s /proc/self/fd/1 descriptor.folded
"$FLAME" fold -o descriptor.folded got >written
ok 'flame fold -o of a link to a descriptor leaves the link' test -L descriptor.folded
file_has written keep_block 'flame fold -o of a link to a descriptor writes there'
echo old >target.folded
ln -s target.folded linked.folded
"$FLAME" fold -o linked.folded got
ok 'flame fold -o of a link leaves the link' test -L linked.folded
file_has target.folded keep_block 'flame fold -o of a link replaces the file that it leads to'
run "$FLAME" fold -o /dev/null got
is_int "$status" 0 'flame fold writes to /dev/null'
mkdir -m 1777 common
if [ "$(id -u)" = 0 ]; then
    # A link that another user has put into a shared directory does not choose what is replaced.
    echo precious >mine.folded
    ln -s ../mine.folded common/link.folded
    chown -h 65534 common/link.folded
    "$FLAME" fold -o common/link.folded got
    is_str "$(cat mine.folded)" precious "flame fold -o of another user's link leaves what it leads to"
    file_has common/link.folded keep_block "flame fold -o of another user's link replaces the link"
    not_ok "flame fold -o of another user's link leaves no link" test -L common/link.folded
    mkfifo -m 666 common/trap.svg
    chown 65534 common/trap.svg
    for command in mem off leak; do
        run timeout -k 5 120 "$FLAME" $command -q -o common/trap.svg -- ./keeper keep:100 exit:0
        is_int "$status" 2 "flame $command -o of another user's pipe in a shared directory ends with status 2"
        file_has err 'common/trap.svg: cannot write: it is a pipe that another user has made' \
            "flame $command -o of another user's pipe in a shared directory says why"
    done
    run timeout -k 5 120 "$FLAME" render -o common/trap.svg got
    is_int "$status" 2 "flame render -o of another user's pipe in a shared directory ends with status 2"
    run timeout -k 5 120 "$FLAME" leak -q --json common/trap.svg -- ./keeper keep:100
    is_int "$status" 2 "flame leak --json of another user's pipe in a shared directory ends with status 2"
    chown 65534 common
    cat common/trap.svg >got &
    run timeout -k 5 120 "$FLAME" mem -q -o common/trap.svg -- ./keeper keep:100
    wait
    is_int "$status" 0 "flame mem writes to another user's pipe in that user's directory"
else
    skip not-root 'no other user can be had'
fi
done_testing
