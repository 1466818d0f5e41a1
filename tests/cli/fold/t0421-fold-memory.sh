#!/usr/bin/env bash
# Stacks beyond --max-memory are spilled to disk: the same output, in bounded memory.
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
ok 'fold --max-memory prints the same bytes' cmp whole bounded
# Pages, buffers and the program itself take memory besides the stacks.
ok "fold --max-memory 4m keeps to its limit ($bounded of $whole KiB)" \
    test "$bounded" -lt 12288 -a $((whole * 2)) -gt $((bounded * 3))
ok 'fold --max-memory leaves no file in TMPDIR' test -z "$(ls -A tmp)"

"$FLAME" collapse -o whole hosts/*
"$FLAME" collapse --max-memory 2m -o bounded hosts/*
ok 'collapse --max-memory prints the same bytes' cmp whole bounded

for filter in --grep=Vector --prune=visit --from-caller; do
    "$FLAME" fold "$filter" -o whole hosts/[12].folded
    "$FLAME" fold --max-memory 3m "$filter" -o bounded hosts/[12].folded
    ok "fold --max-memory $filter prints the same bytes" cmp whole bounded
done

run "$FLAME" fold --max-memory 3m --grep=nothing hosts/[12].folded
file_has err '^flame: fold: the filters leave none of [0-9]+ stacks' \
    'fold --max-memory with a filter that keeps no stack says so'
is_int "$(wc -l <err)" 1 'fold --max-memory with a filter that keeps no stack prints one line'

"$FLAME" diff hosts/1.folded hosts/2.folded >two.folded
"$FLAME" fold -o whole two.folded hosts/3.folded
"$FLAME" fold --max-memory 1m -o bounded two.folded hosts/3.folded
ok 'fold --max-memory of two counts prints the same bytes' cmp whole bounded

run_expect_status 2 'fold --max-memory --trim-root ends with status 2' \
    "$FLAME" fold --max-memory 1m --trim-root hosts/1.folded
file_has err '^flame: fold: --trim-root has to see all stacks at once; .*--max-memory' \
    'fold --max-memory --trim-root says why'
run_expect_status 2 'fold --max-memory many ends with status 2' "$FLAME" fold --max-memory many hosts/1.folded

# A limit on the size of files acts like a full disk.
echo before >out.folded
(
    ulimit -f 256
    run "$FLAME" fold --max-memory 2m -o out.folded hosts/*
    echo "$status" >status
)
is_str "$(cat status)" 1 'fold --max-memory on a full disk ends with status 1'
is_int "$(wc -l <err)" 1 'fold --max-memory on a full disk prints one line'
file_has err "^flame: $TMPDIR: cannot keep stacks there, .*: File too large; set TMPDIR" \
    'fold --max-memory on a full disk names the directory'
is_str "$(cat out.folded)" before 'fold --max-memory on a full disk leaves the output unchanged'
ok 'fold --max-memory on a full disk leaves no file in TMPDIR' test -z "$(ls -A tmp)"
run_expect_status 2 'fold --max-memory with a missing TMPDIR ends with status 2' \
    env TMPDIR="$SCRATCH/none" "$FLAME" fold --max-memory 1m hosts/1.folded
file_has err 'none: cannot keep stacks there' 'fold --max-memory with a missing TMPDIR says why'
done_testing
