# shellcheck shell=bash disable=SC2034,SC2153 # status is for the tests, FLAME is lib.sh's
# attach.sh: for the tests of flame mem -p. Source it after lib.sh and mem.sh.
#
#   begin COMMAND...      starts tests/victims/mem/attached.c (built by the caller), or what takes
#                         the same words; $victim is its process
#   tell WORD...          has it do something; returns when that is done
#   attach [OPTION...]    begins to record it into t.flame; returns when it is recorded, or has been
#                         refused (then $status is that, and $SCRATCH/err says why)
#   leave                 ends that; $status and $SCRATCH/err are flame's
#   sum VIEW NAME         sum of the stacks of t.flame with that function

begin() {
    rm -f to from
    mkfifo to from
    "$@" <to >from 2>victim.err &
    victim=$!
    exec 7>to 8<from
}

tell() {
    local answer=
    echo "$*" >&7
    read -r -t 120 answer <&8
    [ "$answer" = "done" ]
}

# records_or_ended FILE: flame's messages there say that it records, which they do when the slots are
# written; or it has ended.
records_or_ended() {
    grep -q 'recording .*process' "$1" || ! kill -0 "$flame" 2>/dev/null
}

attach() {
    rm -f t.flame
    : >err
    "$FLAME" mem "$@" -o t.flame -p "$victim" 2>err &
    flame=$!
    until_true records_or_ended err
    ! grep -q 'recording .*process' err || return 0
    status=0
    wait "$flame" || status=$?
    return 1
}

leave() {
    kill -TERM "$flame" 2>/dev/null
    status=0
    wait "$flame" || status=$?
}

sum() {
    fview "$1" | name=$2 awk 'index(";" $0, ";" ENVIRON["name"]) { sum += $NF } END { printf "%.0f\n", sum }'
}
