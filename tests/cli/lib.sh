# shellcheck shell=bash
# lib.sh: functions for all shell tests. Source it first:
#
#     . "${0%/*}/../lib.sh"
#
# It gives a scratch directory ($SCRATCH, the current directory from then on,
# removed at exit), the programs under test ($FLAME, $SHIM), where they were
# built ($BUILD), the root of the sources ($ROOT), and the checks below.
# Results are TAP; no plan is needed, a test ends with done_testing. One that
# stops before that has no plan and fails.
#
#   ok NAME COMMAND...           COMMAND succeeds
#   not_ok NAME COMMAND...       COMMAND fails
#   is_str GOT WANT NAME         equal as text
#   is_int GOT WANT NAME         equal as numbers
#   like TEXT REGEX NAME         TEXT holds a match of the extended REGEX
#   unlike TEXT REGEX NAME
#   file_has FILE REGEX NAME     some line of FILE matches
#   file_lacks FILE REGEX NAME
#   run COMMAND...               $status; output in $SCRATCH/out and $SCRATCH/err
#   run_expect_status N NAME COMMAND...   run, and check the status
#   test_ok NAME, test_fail NAME [WHY]    a result found some other way
#   skip KEY WHY                 one check that cannot be made here
#   skip_all KEY WHY             the whole file, or what is left of it; ends the test
#   again N COMMAND...           COMMAND, which measures and succeeds if the measurement is right, until
#                                it succeeds, N times at most; its last status
#   drop_maps TRACE...           removes the maps for perf that processes of these traces left in /tmp:
#                                another process that gets the number would have the names
#   traces_in FILE               names of the traces in a file, a line each: FILE/1, FILE/2... if it has several
#   until_true COMMAND...        waits until COMMAND succeeds; after a minute the test has failed
#   comes_true COMMAND...        the same as a question: whether it succeeded within a minute
#   until_in_call PID NR...      waits until the process is in the system call of that number, or one of
#                                those; PID/task/TID is a thread
#   until_traced PID             waits until the process has a tracer
#   until_attached PID           waits until a tracer has all threads of the process, all of them sleep,
#                                and so does the tracer, which is idle then
#   is_in_call, is_traced        the same as questions, asked once
#   compile_victim NAME [FLAG...]  builds tests/victims/*/NAME.c or .cc into
#                                $SCRATCH/NAME; a failure to build ends the test
#
# Under CI=true a skip is a failure, unless KEY is in tests/allowed-skips: what a kernel or
# a container may refuse, and no package can bring; or among the words of FLAME_MAY_SKIP,
# where all tests run elsewhere as well.

set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
O=${O:-build}
case $O in
/*) BUILD=$O ;;
*) BUILD=$ROOT/$O ;;
esac
FLAME=${FLAME:-$BUILD/flame}
SHIM=${SHIM:-$BUILD/libflamemem.so}
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/flame-test.XXXXXX") || exit 1
FLAME_MAKE=${FLAME_MAKE:-make --no-print-directory O=$O}
# 1: try all that a test has, as `make check FULL=1` does; else what a gate of minutes has time for.
FLAME_TEST_FULL=${FLAME_TEST_FULL:-0}
export ROOT BUILD FLAME SHIM SCRATCH FLAME_MAKE FLAME_TEST_FULL

# A setting of the caller must not change the results of the tests.
unset DEBUGINFOD_URLS FLAME_DEBUG_DIRS LD_PRELOAD FLAMEMEM_OPTIONS FLAME_MEM_SHIM FLAME_LEAK_SUPPRESSIONS LSAN_OPTIONS
# valgrind brings the debug file of the C library. To read it is a quarter of the time of all tests, and
# none is about it.
[ "$FLAME_TEST_FULL" = 1 ] || export FLAME_DEBUG_DIRS=none

# A compiler of several words, as "gcc -m64", becomes a program: tests run "$CC".
case ${CC-} in
*' '*)
    printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$SCRATCH/.cc"
    chmod +x "$SCRATCH/.cc"
    export CC=$SCRATCH/.cc
    ;;
esac

tap_count=0
tap_failed=0
status=0

# A child of bash that gets a signal before it has become another program, or has set its own traps,
# follows ours: `sleep 60 & kill $!` would end the test's jobs and remove what they work in. (By case,
# as the status of a command is not to be relied on in there: bash 5.2 goes on behind a `[` that failed.)
tap_owner=$BASHPID
tap_cleanup() {
    case $BASHPID in
        "$tap_owner")
            # shellcheck disable=SC2046 # a list of process ids
            kill -9 $(jobs -p) 2>/dev/null
            cd / && chmod -R u+rwX "$SCRATCH" 2>/dev/null
            rm -rf "$SCRATCH"
            ;;
    esac
}
trap tap_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
tap_begun_in=$PWD
cd "$SCRATCH" || exit 1

test_ok() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s\n' "$tap_count" "${1//[#$'\n']/ }"
}

test_fail() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_count" "${1//[#$'\n']/ }"
    shift
    [ $# -eq 0 ] || diag "$@"
}

drop_maps() {
    local trace part pid
    for trace; do
        for part in $(traces_in "$trace"); do
            for pid in $("$FLAME" dump "$part" 2>/dev/null | grep -oE '\<pid=[0-9]+' | sort -u); do
                rm -f "/tmp/perf-${pid#pid=}.map"
            done
        done
    done
}

traces_in() {
    local n
    n=$("$FLAME" dump -s header "$1" 2>/dev/null | grep -oE '\<traces=[0-9]+')
    if [ "${n#*=}" -gt 1 ]; then
        seq -f "$1/%.0f" "${n#*=}"
    else
        echo "$1"
    fi
}

diag() {
    printf '%s\n' "$*" | sed 's/^/#   /' >&2
}

ok() {
    local name=$1
    shift
    if "$@" >"$SCRATCH/.ok.out" 2>&1; then
        test_ok "$name"
    else
        test_fail "$name" "status $? from: $*
$(head -c 2000 "$SCRATCH/.ok.out")"
    fi
}

not_ok() {
    local name=$1
    shift
    if "$@" >"$SCRATCH/.ok.out" 2>&1; then
        test_fail "$name" "should have failed: $*"
    else
        test_ok "$name"
    fi
}

is_str() {
    if [ "$1" = "$2" ]; then
        test_ok "$3"
    else
        test_fail "$3" "got  '$1'
want '$2'"
    fi
}

is_int() {
    if [ "$1" -eq "$2" ] 2>/dev/null; then
        test_ok "$3"
    else
        test_fail "$3" "got '$1', want '$2'"
    fi
}

like() {
    if printf '%s\n' "$1" | grep -Eq -- "$2"; then
        test_ok "$3"
    else
        test_fail "$3" "no match of '$2' in:
$1"
    fi
}

unlike() {
    if printf '%s\n' "$1" | grep -Eq -- "$2"; then
        test_fail "$3" "'$2' must not be in:
$1"
    else
        test_ok "$3"
    fi
}

file_has() {
    if grep -Eq -- "$2" "$1"; then
        test_ok "$3"
    else
        test_fail "$3" "no line of $1 matches '$2'; it begins:
$(head -c 2000 "$1" 2>&1)"
    fi
}

file_lacks() {
    if [ ! -r "$1" ]; then
        test_fail "$3" "cannot read $1"
    elif grep -Eq -- "$2" "$1"; then
        test_fail "$3" "$1 must not match '$2':
$(grep -E -m 3 -- "$2" "$1" | head -c 2000)"
    else
        test_ok "$3"
    fi
}

# In a subshell, so that bash prints nothing in the test if the command dies by a signal.
run() {
    status=0
    { "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"; } 2>/dev/null || status=$?
}

run_expect_status() {
    local want=$1 name=$2
    shift 2
    run "$@"
    if [ "$status" -eq "$want" ]; then
        test_ok "$name"
    else
        test_fail "$name" "status $status, want $want, from: $*
$(head -c 2000 "$SCRATCH/err")"
    fi
}

skip_allowed() {
    [ "${CI-}" != true ] || grep -qsx -- "$1" "$ROOT/tests/allowed-skips" ||
        case " ${FLAME_MAY_SKIP-} " in *" $1 "*) true ;; *) false ;; esac
}

skip() {
    if skip_allowed "$1"; then
        tap_count=$((tap_count + 1))
        printf 'ok %d # SKIP %s\n' "$tap_count" "$2"
    else
        test_fail "must run, but is skipped: $2"
    fi
}

skip_all() {
    if [ "$tap_count" -gt 0 ]; then
        skip "$@"
        done_testing
    fi
    if skip_allowed "$1"; then
        printf '1..0 # SKIP %s\n' "$2"
        exit 0
    fi
    test_fail "must run, but is skipped: $2"
    done_testing
}

comes_true() {
    local until_looks=0
    until "$@"; do
        sleep 0.02
        until_looks=$((until_looks + 1))
        [ "$until_looks" -lt 3000 ] || return
    done
}

# Programs that tests have built, by compiler and arguments: 66 of 191 are built with the same arguments by
# two tests or more, and all of them in the next run. FILE.sources has the checksums of what one was built
# from; it is used while these are the same.
KEPT_VICTIMS=$BUILD/victims

# is_kept FILE: it exists, and its sources are unchanged.
is_kept() {
    [ -s "$1" ] && [ -s "$1.sources" ] &&
        cut -d ' ' -f 3- "$1.sources" | xargs cksum 2>/dev/null | cmp -s - "$1.sources"
}

# may_keep ARGUMENT...: none of them names a file of this test, a second source or another result.
may_keep() {
    local argument found=0
    for argument; do
        case $argument in
        *"$SCRATCH"* | -o | -L[!/]* | -I[!/]* | @*) return 1 ;;
        *.c | *.cc) found=$((found + 1)) ;;
        /*.[ao] | /*.so) return 1 ;;
        /* | -*) ;;
        *) [ ! -e "$argument" ] || return 1 ;;
        esac
    done
    [ "$found" -eq 1 ]
}

# build_kept FILE COMPILER ARGUMENT...: builds FILE, or copies an earlier result of the same build; the compiler's
# status and messages.
build_kept() {
    local file=$1 compiler=$2 kept=
    shift 2
    if may_keep "$compiler" "$@"; then
        kept=$KEPT_VICTIMS/${file##*/}-$({ "$compiler" --version && printf '%s\n' "$compiler" "$@"; } | cksum | tr ' ' -)
        : >"$SCRATCH/.kept.began"
    fi
    if [ -n "$kept" ] && is_kept "$kept" && cp "$kept" "$file"; then
        return
    fi
    "$compiler" -o "$file" ${kept:+-MMD -MF "$SCRATCH/.kept.d"} "$@" || return
    [ -z "$kept" ] || keep "$kept" "$file"
    return 0
}

# keep KEPT FILE: whole or not at all, as other tests look for it, and not if a source has changed since the
# compiler began. It need not succeed.
keep() {
    local source built_from
    # shellcheck disable=SC2207 # names without blanks
    built_from=($(sed 's/^[^:]*://; s/\\$//' "$SCRATCH/.kept.d"))
    for source in "${built_from[@]}"; do
        [ ! "$source" -nt "$SCRATCH/.kept.began" ] || return
    done
    mkdir -p "${1%/*}"
    if ! { cksum "${built_from[@]}" >"$1.sources.$$" && cp "$2" "$1.$$" &&
        mv "$1.$$" "$1" && mv "$1.sources.$$" "$1.sources"; }; then
        rm -f "$1.sources.$$" "$1.$$"
    fi
    rm -f "$SCRATCH/.kept.d" "$SCRATCH/.kept.began"
} 2>/dev/null

until_true() {
    comes_true "$@" || {
        test_fail "waited for: $*"
        done_testing
    }
}

# By a builtin: a security module may allow the read only to an ancestor of the process.
is_in_call() {
    local call pid=$1
    shift
    read -r call _ 2>/dev/null <"/proc/$pid/syscall" || return
    case " $* " in *" $call "*) ;; *) return 1 ;; esac
}

is_traced() {
    grep -qs '^TracerPid:[[:space:]]*[1-9]' "/proc/$1/status"
}

until_in_call() {
    until_true is_in_call "$@"
}

until_traced() {
    until_true is_traced "$1"
}

all_sleep_traced() {
    awk '/^State:/ && $2 != "S" || /^TracerPid:/ && !$2 { bad = 1 } END { exit bad }' \
        "/proc/$1/task/"*/status 2>/dev/null
}

# A thread that is being stopped does not sleep, so the tracer is checked in between.
is_attached() {
    local tracer
    all_sleep_traced "$1" &&
        tracer=$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$1/status") &&
        grep -qs '^State:[[:space:]]*S' "/proc/$tracer/status" &&
        all_sleep_traced "$1"
}

until_attached() {
    until_true is_attached "$1"
}

# A measurement may go wrong because the machine is busy. Only this function repeats such a run, and it
# reports that: a growing number of tries shows a test that begins to fail. $TEST_TRIES, if it is
# set, is a file for one line of each measurement that was repeated. (The names are unlike all that
# COMMAND may use, which is a function of the test's.)
again() {
    local again_most=$1 again_try again_status
    shift
    for ((again_try = 1; ; again_try++)); do
        again_status=0
        "$@" || again_status=$?
        if [ "$again_status" -eq 0 ] || [ "$again_try" -ge "$again_most" ]; then break; fi
    done
    if [ "$again_try" -gt 1 ]; then
        if [ "$again_status" -eq 0 ]; then
            printf '# took %d tries\n' "$again_try"
        else
            printf '# failed %d tries\n' "$again_try"
        fi
        [ -z "${TEST_TRIES-}" ] ||
            printf 'TRIES %d %s\n' "$again_try" "$(test_name)" >>"$TEST_TRIES"
    fi
    return "$again_status"
}

# The file of the test, as of the root of the sources.
test_name() {
    local file
    file=$(cd "$tap_begun_in" && realpath -- "${FLAME_TEST_NAME:-$0}")
    printf '%s\n' "${file#"$ROOT"/}"
}

compile_victim() {
    local name=$1 source compiler
    shift
    source=$(echo "$ROOT"/tests/victims/*/"$name".c*)
    compiler=${CC:-gcc}
    case $source in
    *.cc) compiler=${CXX:-g++} ;;
    esac
    # The source comes before the caller's flags, which may name libraries.
    if ! build_kept "$SCRATCH/$name" "$compiler" -O1 -g -fno-optimize-sibling-calls -I"$ROOT" "$source" \
        "$@" >"$SCRATCH/.cc.out" 2>&1; then
        test_fail "$name is built" "$(head -c 4000 "$SCRATCH/.cc.out")"
        done_testing
    fi
}

done_testing() {
    printf '1..%d\n' "$tap_count"
    [ "$tap_failed" -eq 0 ] || diag "$tap_failed of $tap_count failed"
    [ "$tap_failed" -eq 0 ] && [ "$tap_count" -gt 0 ]
    exit
}
