# shellcheck shell=bash disable=SC2034 # status is for the tests
# off.sh: for the tests of the off-CPU tracer. Source it after lib.sh.
#
#   off [OPTION...] COMMAND...  runs COMMAND under `flame off`, trace in t.flame;
#                               $status, out and err as run leaves them
#   oview V [OPTION...]         folded stacks of a view of t.flame
#   sum [REGEX]                 sum of the counts of the lines (that match), us
#   near GOT WANT NAME          both in us, above 0: within 2 % or 1 ms

off() {
    rm -f "$SCRATCH/t.flame"
    run timeout 60 "$FLAME" off -q -o "$SCRATCH/t.flame" "$@"
}

oview() {
    local v=$1
    shift
    "$FLAME" fold --no-header --view "$v" "$@" "$SCRATCH/t.flame"
}

sum() {
    awk -v re="${1:-.}" '$0 ~ re { sum += $NF } END { printf "%.0f\n", sum }'
}

near() {
    local got=$1 want=$2 off allowed
    off=$((got > want ? got - want : want - got))
    allowed=$((want / 50 > 1000 ? want / 50 : 1000))
    if [ "$want" -gt 0 ] && [ "$got" -gt 0 ] && [ "$off" -le "$allowed" ]; then
        test_ok "$3"
    else
        test_fail "$3" "$got us, and by the program's own clock $want us"
    fi
}
