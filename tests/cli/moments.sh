# shellcheck shell=bash
# moments.sh: for tests of moments, the victim staged under flame, which does what it is told. Source
# it behind lib.sh:
#
#   begin NAME ARGUMENT...   runs `flame ARGUMENT... -- ./staged`; its messages go to NAME.err, its
#                            directory lies in tmp, its PID is $recorder
#   stage WORD...            staged does it (see there), and it is done
#   moment [N]               flame takes moments of N processes (1), by USR1
#   wait_moments N           until N more have been taken since the last call
#   finish                   staged ends, and flame: $status
#   four_moments             blocks that come, more, some that go and one more, a mapping: a moment
#                            after each, and finish

compile_victim staged -O1
export TMPDIR=$SCRATCH/tmp
mkdir tmp

begin() {
    rm -f to from
    mkfifo to from
    run_name=$1
    shift
    "$FLAME" "$@" -- ./staged <to >from 2>"$run_name.err" &
    recorder=$!
    exec 7>to 8<from
    moments=0
}

stage() {
    echo "$*" >&7
    read -r -t 60 answer <&8
    [ "$answer" = ok ] || test_fail "staged does $*" "it said '$answer'"
}

# How many moments there are by now of all traces of the run.
kept() {
    for file in tmp/flame-*/*.flame.moments; do
        [ -e "$file" ] && "$FLAME" dump -s moment "$file"
    done | grep -c ' monotonic_ns='
}

# wait_moments N: until there are N more than at the last call.
wait_moments() {
    moments=$((moments + $1))
    until_true have_moments "$moments"
}
have_moments() {
    [ "$(kept)" -ge "$1" ]
}

moment() {
    kill -USR1 "$recorder"
    wait_moments "${1:-1}"
}

finish() {
    echo q >&7
    exec 7>&- 8<&-
    wait "$recorder"
    # shellcheck disable=SC2034 # for the test
    status=$?
}

four_moments() {
    stage a 10
    moment 1
    stage b 20
    moment 1
    stage f 5
    stage a 1
    moment 1
    stage m
    moment 1
    finish
}
