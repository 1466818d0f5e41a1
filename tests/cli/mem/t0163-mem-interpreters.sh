#!/usr/bin/env bash
# Programs of Ruby, PHP, Perl, Lua, PyPy and Erlang: what is recorded of them without names of their
# functions, and the line that says what has these (docs/languages.md). Interpreters that are not here are
# left out.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

tried=0

# has NAME: whether the interpreter is here.
has() {
    command -v "$1" >/dev/null || return
    tried=$((tried + 1))
}

# sum_of FILE: sum of all of its stacks.
sum_of() {
    "$FLAME" fold "$@" 2>/dev/null | awk '{ sum += $NF } END { printf "%.0f", sum }'
}

# strings NAME WHAT TOOL COMMAND...: the command allocates 1000 strings of 20000 bytes and more, and sleeps
# for 0.2 s. Its summaries say that functions have no names, and which tool has them.
strings() {
    local name=$1 what=$2 tool=$3
    shift 3
    run_expect_status 0 "flame mem records $name" "$FLAME" mem -o "$name.flame" -- "$@"
    file_has err "^flame: $what have no names in .*, whose own frames are here instead;? ?$tool.*\(docs/languages.md\)" \
        "$name: the summary says what has the names"
    ok "$name: each string has its bytes" test "$(sum_of "$name.flame")" -ge 20000000
    run_expect_status 0 "flame off records $name" "$FLAME" off -o "$name-off.flame" -- "$@"
    file_has err "^flame: $what have no names in " "$name: the summary of waits says so, too"
    ok "$name: the sleep has its time" test "$(sum_of "$name-off.flame")" -ge 190000
}

# attached NAME WHAT COMMAND...: the line is there when the command, which sleeps for long, runs already.
attached() {
    local name=$1 what=$2 pid
    shift 2
    "$@" >/dev/null &
    pid=$!
    until_true grep -qE "^[0-9]+ \($name\) S" "/proc/$pid/stat"
    if run "$FLAME" mem -p "$pid" -d 0.1 -o "$name-p.flame" && [ "$status" = 0 ]; then
        file_has err "^flame: $what have no names in " "$name: flame mem -p says so, too"
    else
        skip ptrace "$(head -n 1 err)"
    fi
    kill "$pid"
    wait "$pid" || true
}

if has ruby; then
    cat >app.rb <<'E2'
$kept = (1..1000).map { |i| "x" * (20000 + i) }
sleep(ARGV[0] ? 60 : 0.2)
E2
    strings ruby 'methods of Ruby' 'rbspy' ruby app.rb
    attached ruby 'methods of Ruby' ruby app.rb stay
fi

if has php; then
    cat >app.php <<'E2'
<?php
for ($i = 0; $i < 1000; $i++) $kept[] = str_repeat("x", 20000 + $i);
usleep(200000);
E2
    USE_ZEND_ALLOC=0 strings php 'functions of PHP' 'excimer and phpspy' php -n app.php
    run "$FLAME" mem -q -o own.flame -- php -n app.php
    ok "PHP's own allocator is not malloc" test "$(sum_of own.flame)" -lt 20000000
fi

if has perl; then
    cat >app.pl <<'E2'
my @kept = map { "x" x (20000 + $_) } 1..1000;
select undef, undef, undef, $ARGV[0] ? 60 : 0.2;
E2
    strings perl 'functions of Perl' 'Devel::NYTProf' perl app.pl
    attached perl 'functions of Perl' perl app.pl stay
fi

if has lua5.4; then
    cat >app.lua <<'E2'
kept = {}
for i = 1, 1000 do kept[i] = string.rep("x", 20000 + i) end
os.execute("sleep 0.2")
E2
    strings lua 'functions of Lua' '' lua5.4 app.lua
fi

if has pypy3; then
    cat >app.py <<'E2'
import time
kept = [bytearray(20000 + i) for i in range(1000)]
time.sleep(0.2)
E2
    strings pypy 'functions of PyPy' 'vmprof' pypy3 app.py
fi

if has erl && has erlc; then
    cat >app.erl <<'E2'
-module(app).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
kept() -> [binary:copy(<<"x">>, 20000 + I) || I <- lists:seq(1, 1000)].
main() -> K = kept(), timer:sleep(200), fib(30 + length(K) div 1000), init:stop().
E2
    run_expect_status 0 'a program of Erlang is compiled' erlc app.erl
    run_expect_status 0 'flame mem records Erlang' "$FLAME" mem -o erl.flame -- erl -noshell -s app main
    file_has err '^flame: functions of Erlang have no names in beam.smp: start it with \+JPperf map' \
        'the summary says what gives functions of Erlang names'
    bytes=$(sum_of erl.flame)
    run_expect_status 0 'flame mem records Erlang with its allocators off' \
        "$FLAME" mem -o min.flame -- erl +Mea min +JPperf map -noshell -s app main
    file_lacks err 'have no names' 'with +JPperf map the summary says nothing of names'
    "$FLAME" fold min.flame >out
    ok 'binaries have names of generated code above them' \
        test "$(awk '/\$global::[a-z_]+/ { sum += $NF } END { printf "%.0f", sum }' out)" -ge 20000000
    ok 'with +Mea min all blocks are recorded' test "$(sum_of min.flame)" -ge $((bytes + 15000000))
    drop_maps min*.flame
    run_expect_status 0 'flame off records Erlang' \
        "$FLAME" off --hz 200 -o erl-off.flame -- erl +JPperf map -noshell -s app main
    "$FLAME" fold --view oncpu erl-off.flame >out
    ok 'functions of Erlang that run have their callers' grep -q '\$app:main/0.*;\$app:fib/1' out
    drop_maps erl-off.flame
fi

[ "$tried" -gt 0 ] || skip_all interpreters 'none of these interpreters is here'
done_testing
