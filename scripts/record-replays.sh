#!/bin/bash
# record-replays.sh [PATTERN...]: records again the logs of tests/corpus/events whose names match a
# pattern, which tests/unit/tracer/test_replay.c runs the state machine over. It needs what `make
# build-tests` makes, and takes a minute or more.
#
# A log is stored if the test passes with it, and recorded again if not, up to 20 times: on a busy
# machine a waker may come before the sleeper, and calls that a thread logged itself have estimated
# times of the scheduler. The errors of rejected logs are printed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
corpus=$root/tests/corpus/events
flame=${FLAME:-$root/build/flame}
check=${CHECK:-$root/build/tests/unit/tracer/test_replay}
work=$(mktemp -d "${TMPDIR:-/tmp}/flame-replays.XXXXXX")
busy=()
stop_busy() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    busy=()
}
trap 'stop_busy; rm -rf "$work"' EXIT
mkdir -p "$corpus"
cd "$work"
wanted=("$@")

# is_wanted NAME
is_wanted() {
    local w
    [ ${#wanted[@]} -gt 0 ] || return 0
    for w in "${wanted[@]}"; do
        # shellcheck disable=SC2254 # a pattern
        case $1 in $w) return 0 ;; esac
    done
    return 1
}

build() { # PROGRAM
    [ -x "$1" ] || "${CC:-gcc}" -O1 -g -fno-optimize-sibling-calls -pthread -I"$root" -o "$1" \
        "$root/tests/victims/off/$1.c" -lrt
}

# once NAME OPTIONS PROGRAM [ARGUMENT...]: the program's truths, what was run, and the log. Paths of
# this machine would be useless elsewhere.
once() {
    local name=$1 how=$2 program=$3
    shift 3
    local options=(off -q --min-block 0 -o t.flame)
    read -ra words <<<"$how"
    options+=("${words[@]}")
    rm -f truths
    if [ "${attach:-}" ]; then
        TRUTH=truths "./$program" "$@" >/dev/null &
        sleep 0.03
        FLAME_DEBUG=replay "$flame" "${options[@]}" -p $! 2>err
        wait $!
    else
        TRUTH=truths FLAME_DEBUG=replay "$flame" "${options[@]}" -- "./$program" "$@" >/dev/null 2>err
    fi || true
    {
        echo "# flame off --min-block 0 $how ${attach:+-p} ./$program $*" | sed 's/ $//'
        sed 's/^/# /' truths
        sed -n 's/^flame: replay: //p' err | sed "s|$work|/work|g; s|name=\[untraced: [^]]*\]|name=[untraced: other]|"
    } >"$corpus/$name.log"
}

# record NAME OPTIONS PROGRAM [ARGUMENT...]
record() {
    local name=$1
    is_wanted "$name" || return 0
    build "$3"
    for _ in {1..20}; do
        once "$@"
        if (cd "$root" && RENEW_REPLAYS=1 "$check" "$name") >checked 2>&1; then
            echo "$name: $(wc -c <"$corpus/$name.log") bytes"
            return
        fi
        sed -n "s/^# /$name: not kept: /p" checked
    done
    echo "$name: none of 20 recordings is kept" >&2
    return 1
}

# attached NAME OPTIONS PROGRAM [ARGUMENT...]: like once, for a program that runs already.
attached() {
    attach=1 record "$@"
}

# both NAME PROGRAM [ARGUMENT...]: by stops, and logged in-process.
both() {
    local name=$1
    shift
    record "stops-$name" --no-in-process "$@"
    record "inside-$name" --in-process "$@"
}

sleeps() { # PREFIX KIND...
    local prefix=$1 kind
    shift
    for kind; do
        both "$prefix$kind" sleeps "$kind" 5 10
    done
}

build sleeps
# shellcheck disable=SC2046 # words
sleeps '' $(./sleeps list | cut -d ' ' -f 1)
both convoy convoy 20
for kind in java python plain mutex; do
    both "lock-$kind" monitors "$kind" 30
done
for how in killed busy exit exec fatal robust pidfd poller closed polled cloexec flock; do
    record "stops-end-$how" --no-in-process endings "$how"
done
record inside-end-exec --in-process endings exec
record inside-end-exit --in-process endings exit
attached attached-leftasleep '-d 0.1' leftasleep
attached attached-mutex '-d 0.1' sleeps mutex 20 10
attached quiet-nanosleep '--min-block 2ms --no-stops -d 0.1' sleeps nanosleep 20 10
record stops-sampled '--no-in-process --hz 200' sleeps mutex 5 10
both inner inner
both leftasleep leftasleep
both swaps swaps 5
both ownstacks ownstacks 8
both sendsfile sendsfile 5

# Beside four that are busy there is often no CPU to go on with.
for _ in 1 2 3 4; do
    (while :; do :; done) &
    busy+=($!)
done
sleeps busy- mutex cond pipe epoll sigwait child timerfd nanosleep
both busy-convoy convoy 20
both busy-lock-mutex monitors mutex 30
both busy-lock-java monitors java 30
stop_busy
