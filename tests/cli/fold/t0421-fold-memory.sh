#!/usr/bin/env bash
# Stacks beyond --max-memory go over the disk: the same bytes, in bounded memory.
. "${0%/*}/../lib.sh"

"${CC:-gcc}" -O2 -o gen "$ROOT/bench/gen_folded.c" || exit 1
mkdir hosts tmp
./gen 2000 1 >common
for i in $(seq 8); do
    { cat common; ./gen 12000 $((i + 1)); } >"hosts/$i.folded"
done
awk '{ print $0 ".25" }' hosts/3.folded >hosts/parts.folded
export TMPDIR=$SCRATCH/tmp

kib() { # COMMAND...: kilobytes at most resident
    command time -f %M -o "$SCRATCH/kib" "$@" || return 1
    tail -n 1 "$SCRATCH/kib"
}
whole=$(kib "$FLAME" fold -o whole hosts/*)
bounded=$(kib "$FLAME" fold --max-memory 4m -o bounded hosts/*)
ok 'the same bytes' cmp whole bounded
# Pages, buffers and the program itself are beside the stacks.
ok "in 4m and what the program is ($bounded of $whole KiB)" test "$bounded" -lt 12288 -a $((whole * 2)) -gt $((bounded * 3))
ok 'nothing is left behind' test -z "$(ls -A tmp)"

"$FLAME" collapse -o whole hosts/*
"$FLAME" collapse --max-memory 2m -o bounded hosts/*
ok 'flame collapse, too' cmp whole bounded

for filter in --grep=Vector --prune=visit --from-caller; do
    "$FLAME" fold "$filter" -o whole hosts/[12].folded
    "$FLAME" fold --max-memory 3m "$filter" -o bounded hosts/[12].folded
    ok "the same with $filter" cmp whole bounded
done

run "$FLAME" fold --max-memory 3m --grep=nothing hosts/[12].folded
file_has err '^flame: fold: the filters leave none of [0-9]+ stacks' 'filters that leave nothing are said once'
is_int "$(wc -l <err)" 1 'in one line'

"$FLAME" diff hosts/1.folded hosts/2.folded >two.folded
"$FLAME" fold -o whole two.folded hosts/3.folded
"$FLAME" fold --max-memory 1m -o bounded two.folded hosts/3.folded
ok 'two columns' cmp whole bounded

run_expect_status 2 'what has to see all at once' "$FLAME" fold --max-memory 1m --trim-root hosts/1.folded
file_has err '^flame: fold: --trim-root has to see all stacks at once; .*--max-memory' 'is said'
run_expect_status 2 'a size that is none' "$FLAME" fold --max-memory many hosts/1.folded

# A limit on the size of files does what a full disk does.
echo before >out.folded
(
    ulimit -f 256
    run "$FLAME" fold --max-memory 2m -o out.folded hosts/*
    echo "$status" >status
)
is_str "$(cat status)" 1 'a full disk ends with status 1'
is_int "$(wc -l <err)" 1 'and one line'
file_has err "^flame: $TMPDIR: cannot keep stacks there, .*: File too large; set TMPDIR" 'that says where'
is_str "$(cat out.folded)" before 'and leaves the output as it was'
ok 'and nothing else' test -z "$(ls -A tmp)"
run_expect_status 2 'no such directory' env TMPDIR="$SCRATCH/none" "$FLAME" fold --max-memory 1m hosts/1.folded
file_has err 'none: cannot keep stacks there' 'is said'
done_testing
