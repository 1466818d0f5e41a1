#!/bin/bash
# A trace that cannot be read costs one process, not the whole recording:
# it is named, the rest is drawn, and the exit status is the command's. A gate that did not check all has
# not passed.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim scrawls
compile_victim keeper
use_own_tmpdir

left() { find "$TMPDIR" -mindepth 1 -maxdepth 1 | wc -l; }
# The file that the message says is kept.
kept() { sed -n 's/.*; it is kept as \([^,]*\), .*/\1/p' err; }

# ---- damaged ----

# The magic, the version, the first segment and its contents.
for at in 0 8 1024 1040; do
    run "$FLAME" mem -o x.folded -- sh -c "./scrawls .flame $at 255 8; ./keeper keep:100; exit 5"
    is_int "$status" 5 "byte $at of a trace damaged: flame mem ends with the command's status"
    file_has err 'scrawls [0-9]+ is not in the result, as its trace cannot be read: .+; it is kept' \
        "byte $at of a trace damaged: a line names the process"
    file_has err 'not recorded: scrawls \(its trace cannot be read\)' \
        "byte $at of a trace damaged: the process is among the unrecorded"
    file_has err '2 processes of 3' "byte $at of a trace damaged: the summary counts the process"
    file_has x.folded 'keep_block' "byte $at of a trace damaged: the other processes are drawn"
    ok "byte $at of a trace damaged: the damaged file is kept where the line says" test -f "$(kept)"
    is_int "$(find "$TMPDIR" -type f | wc -l)" 1 "byte $at of a trace damaged: no other file is kept"
    rm -rf "$TMPDIR"/flame-mem.*
done

run "$FLAME" mem -o x.flame -- sh -c './scrawls .flame 0 0 1; ./keeper keep:100'
is_int "$status" 0 "flame mem -o x.flame with a damaged trace ends with the command's status"
is_int "$("$FLAME" fold --view alloc x*.flame | grep -c keep_block)" 1 \
    'flame mem -o x.flame with a damaged trace keeps the readable traces'
ok 'flame mem -o x.flame with a damaged trace keeps it where the line says' test -f "$(kept)"
rm -rf "$TMPDIR"/flame-mem.*

run "$FLAME" run -q -o x.html -- sh -c './scrawls .flame 0 0 1; ./keeper keep:100'
is_int "$status" 0 "flame run with a damaged trace ends with the command's status"
file_has err 'scrawls [0-9]+ is not in the result' 'flame run with a damaged trace names the process'
file_has x.html keep_block 'flame run with a damaged trace draws the other processes'
rm -rf "$TMPDIR"/flame-run.*

run "$FLAME" mem -o x.svg -- ./scrawls .flame 0 0 1
is_int "$status" 1 'flame mem with only a damaged trace ends with status 1'
file_has err 'left no recording: scrawls \(its trace cannot be read\)' \
    'flame mem with only a damaged trace says why'
rm -rf "$TMPDIR"/flame-mem.*

# ---- the gate ----

run "$FLAME" leak --tap l.tap --junit l.xml --json l.json -- ./keeper hold:0
is_int "$status" 0 'flame leak without leaks ends with status 0'
file_has l.json '"doubts": ""' 'flame leak without leaks has no doubts in JSON'
run "$FLAME" leak -q --tap l.tap --junit l.xml --json l.json -- \
    sh -c './scrawls .flame 0 0 1; exec ./keeper hold:0'
is_int "$status" 1 'flame leak with an unreadable trace ends with status 1'
file_has err 'leak: not every process could be checked: traces cannot be read: scrawls [0-9]+' \
    'flame leak with an unreadable trace says why'
file_has l.tap '^not ok 2 ' 'flame leak with an unreadable trace fails in TAP'
file_has l.xml '<error type="look" message="traces cannot be read: scrawls' \
    'flame leak with an unreadable trace is an error in JUnit'
file_has l.xml 'errors="1"' 'flame leak with an unreadable trace counts the error in JUnit'
file_has l.json '"doubts": "traces cannot be read: scrawls' \
    'flame leak with an unreadable trace has doubts in JSON'
run "$FLAME" leak -q -o l.svg -- sh -c './scrawls .flame 0 0 1; ./scrawls /notes 4096 1 0; true'
is_int "$status" 23 'flame leak with leaks and an unreadable trace ends with status 23'
run "$FLAME" leak -q -- sh -c './scrawls .flame 0 0 1; exit 7'
is_int "$status" 7 "the command's own status precedes that of an unreadable trace"
rm -rf "$TMPDIR"/flame-leak.*

# ---- not begun ----

# The process was killed before the first byte of its file was written: all is zero.
cat >killed <<'EOS'
for n in 1 2 3; do
    truncate -s 16384 "$(echo "$TMPDIR"/flame-*.*)/early.100$n.0.flame"
done
: >"$(echo "$TMPDIR"/flame-*.*)/early.2000.0.flame"
./keeper keep:100
EOS
run "$FLAME" mem -o x.folded -- bash ./killed
is_int "$status" 0 "processes killed at their start: flame mem ends with the command's status"
file_has err 'not recorded: early \(ended as it began\) 4 times' \
    'processes killed at their start are counted in one line'
file_lacks err 'left out' 'processes killed at their start are not reported as unreadable'
file_has x.folded keep_block 'processes killed at their start: the others are drawn'
run "$FLAME" leak -- bash ./killed
file_has err 'not recorded: early' 'flame leak names processes killed at their start'
is_int "$(left)" 0 'processes killed at their start leave no file in TMPDIR'

# A shell that kills children it has just started, at any moment.
run "$FLAME" mem -q -o x.folded -- bash -c 'for i in {1..40}; do /bin/true & kill -9 $!; done; wait; ./keeper keep:100'
is_int "$status" 0 "forty children killed at once: flame mem ends with the command's status"
file_has x.folded keep_block 'forty children killed at once: the others are drawn'
is_int "$(left)" 0 'forty children killed at once leave no file in TMPDIR'

# ---- the shared state of the run ----

# flame compares its own fields in the file with the values that it wrote: `over` would end the recording of all
# later programs, without a message. (By the offset in struct runnotes.)
for word in over:8 spares_made:20 rules:28 disk_limit:32 magic:0; do
    run "$FLAME" mem -q -o x.folded -- sh -c "./scrawls /notes ${word#*:} 1 1; ./keeper keep:100"
    is_int "$status" 0 "${word%:*} overwritten: flame mem ends with the command's status"
    file_has err "that flame shares with the programs it records \\(.*${word%:*}.*\\): processes may be missing" \
        "${word%:*} overwritten: flame mem reports it"
done
run "$FLAME" leak -q --json l.json -- sh -c './keeper hold:0; exec ./scrawls /notes 8 1 1 /bin/true'
is_int "$status" 1 'flame leak with over overwritten ends with status 1'
file_has err "leak: not every process could be checked: the run's own records were overwritten: over" \
    'flame leak with over overwritten says why'
run "$FLAME" mem -o x.folded -- ./scrawls /notes 12 255 4
file_has err '\(used\): processes may be missing' 'an impossible number of notes is reported'
file_has err ', 1 process, ' 'an impossible number of notes is not counted'
file_lacks err '4,294' 'an impossible number of notes is not printed'
run "$FLAME" mem -o x.folded -- ./scrawls /notes 56 1 1
file_has err '\(disk_full_ns\)' 'an end of the disk budget without a budget is reported'
file_lacks err '--max-disk' 'an end of the disk budget without a budget has no effect'
run "$FLAME" mem -q -o x.folded -- sh -c 'rm "$TMPDIR"/flame-mem.*/notes; ./keeper keep:100'
file_has err '\(removed\)' 'a removed file of notes is reported'
is_int "$(left)" 0 'an overwritten or removed file of notes leaves no file in TMPDIR'
done_testing
