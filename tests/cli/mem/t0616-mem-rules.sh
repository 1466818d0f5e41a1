#!/bin/bash
# Unwind rules that processes of a run have found are used by the next ones: from memory that may
# hold anything, and that no sandbox shares.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim known
compile_victim descent -pthread
compile_victim enters
use_own_tmpdir

# The file is made when the first process has ended while others run.
cat >"wait" <<'EOS'
rules=
for n in $(seq 400); do
    set -- "$TMPDIR"/flame-mem.*/notes
    [ "$(od -An -tu4 -j28 -N4 "$1")" -eq 0 ] || { rules=${1%notes}rules; break; }
    env true
    sleep 0.02
done
words() { tr -d '\0' <"$rules" | wc -c; }
EOS
printf '. ./wait\nls -l "$rules"; bash -c :; words; ./known >/dev/null; words; ./known >/dev/null; words\n' >first
run_expect_status 0 'a command of some processes' "$FLAME" mem -o x.folded -- bash ./first
like "$(cat out)" '^-rw------- .* 524288 ' 'has a file of rules, whole from the beginning'
{ read -r _; read -r before; read -r one; read -r two; } <out
ok "in which a process leaves what it found out ($before, $one)" test "$before" -lt "$one"
is_int "$two" "$one" 'and to which the same program adds nothing the second time'
is_str "$(ls "$TMPDIR")" '' 'it goes away with the run'

# ---- the stacks ----

# Stacks of ten runs of each program, after WHAT was done to the file. The shell and its other
# children are left out.
stacks() { # WHAT
    cat >many <<EOS
. ./wait
for i in 1 2 3 4 5; do ./known >/dev/null; ./descent grow 200 >>said 2>&1; done
$1
for i in 1 2 3 4 5; do ./known >/dev/null; ./descent grow 200 >>said 2>&1; done
EOS
    rm -f said
    FLAMEMEM_OPTIONS=$options "$FLAME" mem --view count -o y.folded -- bash ./many 2>err || cat err
    grep -E '^(known|descent)' y.folded | sort
}
# The caller's frame 16 bytes up: likely, and wrong.
printf '\1\1\1\1\1\1\1\1\1\4\0\0\0\0\0\0' >one
while [ "$(stat -c %s one)" -lt 524288 ]; do cat one one >two && mv two one; done
options=
stacks "rm -f \"\$rules\"; for i in 1 2 3 4 5 6 7 8 9 0; do :; done" >plain
ok "ten runs without it after five ($(wc -l <plain) stacks)" test "$(wc -l <plain)" -gt 20
options=referee=1
while IFS='|' read -r name what; do
    stacks "$what" >got
    ok "$name: the same stacks" cmp plain got
    is_str "$(grep -c referee said)" 0 "$name: none differs from what libunwind says"
done <<'EOS'
as it is|:
random words|head -c 524288 /dev/urandom | dd of="$rules" conv=notrunc 2>/dev/null
all bits set|tr '\0' '\377' </dev/zero | head -c 524288 | dd of="$rules" conv=notrunc 2>/dev/null
one rule for all|dd if=one of="$rules" conv=notrunc 2>/dev/null
half of it|head -c 262144 "$rules" >half; cat half >"$rules"
nothing|: >"$rules"
a directory|rm "$rules"; mkdir "$rules"; trap 'rmdir "$rules"' EXIT
a link|mv "$rules" elsewhere; ln -s "$PWD/elsewhere" "$rules"
EOS

# Somebody who has it mapped.
cat >"cut" <<'EOS'
. ./wait
bash -c ': >"$1"; ./known >/dev/null; for i in $(seq 300); do eval "f$i() { local x=$i; }; f$i"; done; echo whole' - "$rules"
EOS
run_expect_status 0 'a file that is cut short under a process' "$FLAME" mem -o x.folded -- bash ./cut
is_str "$(cat out)" whole 'does it no harm'

# ---- sandboxes ----

run ./enters
if [ "$status" -eq 0 ]; then
    printf '. ./wait\n./enters "$PWD/enters"\n' >box
    run_expect_status 0 'a program that enters a sandbox' "$FLAME" mem -o x.folded -- bash ./box
    is_str "$(tr '\n' ' ' <out)" 'before 1 within 0 before 0 within 0 ' \
        'has the rules until then, and nobody within it has them'
else
    skip seccomp "no seccomp filters here: $(cat err)"
fi
done_testing
