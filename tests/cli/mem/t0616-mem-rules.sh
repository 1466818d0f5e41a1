#!/bin/bash
# Processes of a run share the unwind rules that they find, in memory that may
# have any contents, and that no sandbox shares.
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
run_expect_status 0 'flame mem of a command of some processes succeeds' "$FLAME" mem -o x.folded -- bash ./first
like "$(cat out)" '^-rw------- .* 524288 ' 'the file of rules has its full size from the beginning'
{ read -r _; read -r before; read -r one; read -r two; } <out
ok "a process adds its rules to the file ($before, $one)" test "$before" -lt "$one"
is_int "$two" "$one" 'a second run of a program adds no rules'
is_str "$(ls "$TMPDIR")" '' 'the file of rules is removed after the run'

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
# The caller's frame is 16 bytes up: plausible, and wrong.
printf '\1\1\1\1\1\1\1\1\1\4\0\0\0\0\0\0' >one
while [ "$(stat -c %s one)" -lt 524288 ]; do cat one one >two && mv two one; done
options=
stacks "rm -f \"\$rules\"; for i in 1 2 3 4 5 6 7 8 9 0; do :; done" >plain
ok "ten runs of each program without the file after five ($(wc -l <plain) stacks)" test "$(wc -l <plain)" -gt 20
options=referee=1
while IFS='|' read -r name what; do
    stacks "$what" >got
    ok "rules file, $name: the same stacks as without it" cmp plain got
    is_str "$(grep -c referee said)" 0 "rules file, $name: each stack equals libunwind's"
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

# A process that has it mapped.
cat >"cut" <<'EOS'
. ./wait
bash -c ': >"$1"; ./known >/dev/null; for i in $(seq 300); do eval "f$i() { local x=$i; }; f$i"; done; echo whole' - "$rules"
EOS
run_expect_status 0 'flame mem of a rules file truncated under a process succeeds' \
    "$FLAME" mem -o x.folded -- bash ./cut
is_str "$(cat out)" whole 'a rules file truncated under a process does not harm it'

# ---- sandboxes ----

run ./enters
if [ "$status" -eq 0 ]; then
    printf '. ./wait\n./enters "$PWD/enters"\n' >box
    run_expect_status 0 'flame mem of a program that enters a sandbox succeeds' \
        "$FLAME" mem -o x.folded -- bash ./box
    is_str "$(tr '\n' ' ' <out)" 'before 1 within 0 before 0 within 0 ' \
        'a program has the rules until it enters a sandbox, and no process within has them'
else
    skip seccomp "no seccomp filters here: $(cat err)"
fi
done_testing
