#!/bin/bash
# A trace that cannot be read is one process that is missing, and no reason to throw the others away:
# it is named, the rest is drawn, and the exit status is the command's. A gate that did not see all has
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

# The magic, the version, the first segment and what it holds.
for at in 0 8 1024 1040; do
    run "$FLAME" mem -o x.folded -- sh -c "./scrawls .flame $at 255 8; ./keeper keep:100; exit 5"
    is_int "$status" 5 "byte $at of a trace: the exit status is the command's"
    file_has err 'scrawls [0-9]+ is not in the result, as its trace cannot be read: .+; it is kept' \
        "byte $at of a trace: a line says whose"
    file_has err 'not recorded: scrawls \(its trace cannot be read\)' 'it is among what was not recorded'
    file_has err '2 processes of 3' 'and counted'
    file_has x.folded 'keep_block' 'all else is drawn'
    ok 'the file is where the line says' test -f "$(kept)"
    is_int "$(find "$TMPDIR" -type f | wc -l)" 1 'and nothing else stays'
    rm -rf "$TMPDIR"/flame-mem.*
done

run "$FLAME" mem -o x.flame -- sh -c './scrawls .flame 0 0 1; ./keeper keep:100'
is_int "$status" 0 'traces: the exit status is the command'\''s'
is_int "$("$FLAME" fold --view alloc x*.flame | grep -c keep_block)" 1 'traces: those that can be read are there'
ok 'traces: the other is kept' test -f "$(kept)"
rm -rf "$TMPDIR"/flame-mem.*

run "$FLAME" run -q -o x.html -- sh -c './scrawls .flame 0 0 1; ./keeper keep:100'
is_int "$status" 0 'flame run: the exit status is the command'\''s'
file_has err 'scrawls [0-9]+ is left out' 'flame run: a line says whose'
file_has x.html keep_block 'flame run: all else is drawn'
rm -rf "$TMPDIR"/flame-run.*

run "$FLAME" mem -o x.svg -- ./scrawls .flame 0 0 1
is_int "$status" 1 'where there is nothing else there is no result'
file_has err 'left no recording: scrawls \(its trace cannot be read\)' 'for that reason'
rm -rf "$TMPDIR"/flame-mem.*

# ---- the gate ----

run "$FLAME" leak --tap l.tap --junit l.xml --json l.json -- ./keeper hold:0
is_int "$status" 0 'flame leak: nothing leaks'
file_has l.json '"doubts": ""' 'and there is no doubt'
run "$FLAME" leak -q --tap l.tap --junit l.xml --json l.json -- \
    sh -c './scrawls .flame 0 0 1; exec ./keeper hold:0'
is_int "$status" 1 'flame leak: what could not be looked at has not passed'
file_has err 'leak: not every process could be checked: traces cannot be read: scrawls [0-9]+' 'for that reason'
file_has l.tap '^not ok 2 ' 'nor has it in TAP'
file_has l.xml '<error type="look" message="traces cannot be read: scrawls' 'nor in JUnit'
file_has l.xml 'errors="1"' 'where it is counted'
file_has l.json '"doubts": "traces cannot be read: scrawls' 'and JSON says why'
run "$FLAME" leak -q -o l.svg -- sh -c './scrawls .flame 0 0 1; ./scrawls /notes 4096 1 0; true'
is_int "$status" 23 'leaks that are found come first'
run "$FLAME" leak -q -- sh -c './scrawls .flame 0 0 1; exit 7'
is_int "$status" 7 'and the command'\''s own status before that'
rm -rf "$TMPDIR"/flame-leak.*

# ---- not begun ----

# The file is there, and its process was killed before the first byte of it: all is zero.
cat >killed <<'EOS'
for n in 1 2 3; do
    truncate -s 16384 "$(echo "$TMPDIR"/flame-*.*)/early.100$n.0.flame"
done
: >"$(echo "$TMPDIR"/flame-*.*)/early.2000.0.flame"
./keeper keep:100
EOS
run "$FLAME" mem -o x.folded -- bash ./killed
is_int "$status" 0 'killed as they start: the exit status is the command'\''s'
file_has err 'not recorded: early \(ended as it began\) 4 times' 'killed as they start: it is said'
file_lacks err 'left out' 'in that one line'
file_has x.folded keep_block 'and all else is drawn'
run "$FLAME" leak -- bash ./killed
file_has err 'not recorded: early' 'flame leak says it, too'
is_int "$(left)" 0 'nothing stays behind'

# Shells that kill what they have just started, at whatever moment.
run "$FLAME" mem -q -o x.folded -- bash -c 'for i in {1..40}; do /bin/true & kill -9 $!; done; wait; ./keeper keep:100'
is_int "$status" 0 'forty that are killed: the exit status is the command'\''s'
file_has x.folded keep_block 'and the others are drawn'
is_int "$(left)" 0 'nothing stays behind of them'

# ---- the notes of the run ----

# flame compares its words in the file with what it wrote: `over` would end the recording of all
# programs that begin afterwards, without a message. (By the offset in struct runnotes.)
for word in over:8 spares_made:20 rules:28 disk_limit:32 magic:0; do
    run "$FLAME" mem -q -o x.folded -- sh -c "./scrawls /notes ${word#*:} 1 1; ./keeper keep:100"
    is_int "$status" 0 "${word%:*} is written over: the exit status is the command's"
    file_has err "what flame shares with those it records \\(.*${word%:*}.*\\): processes may be missing" \
        "${word%:*} is written over: it is said"
done
run "$FLAME" leak -q --json l.json -- sh -c './keeper hold:0; exec ./scrawls /notes 8 1 1 /bin/true'
is_int "$status" 1 'flame leak: whoever began afterwards was not looked at, so it has not passed'
file_has err 'leak: not every process could be checked: the notes of the run were written over: over' 'for that reason'
run "$FLAME" mem -o x.folded -- ./scrawls /notes 12 255 4
file_has err '\(used\): processes may be missing' 'a number of notes that cannot be is told'
file_has err ', 1 process, ' 'and not shown'
file_lacks err '4,294' 'anywhere'
run "$FLAME" mem -o x.folded -- ./scrawls /notes 56 1 1
file_has err '\(disk_full_ns\)' 'the end of a budget that there is not'
file_lacks err '--max-disk' 'is none'
run "$FLAME" mem -q -o x.folded -- sh -c 'rm "$TMPDIR"/flame-mem.*/notes; ./keeper keep:100'
file_has err '\(removed\)' 'notes that are gone are told'
is_int "$(left)" 0 'nothing stays behind'
done_testing
