#!/usr/bin/env bash
# Every other format: a sample of it is recognised and gives what it should. The
# samples are what the programs wrote, or were written after their
# documentation where the program does not run on Linux.
. "${0%/*}/lib.sh"

samples=$ROOT/tests/corpus/collapse
for file in "$samples"/*; do
    name=${file##*/}
    case $name in
    perf-srcline) set -- --srcline ;;
    *) set -- ;;
    esac
    run "$FLAME" collapse "$@" "$file"
    if [ "$status" -eq 0 ] && [ ! -s err ] && cmp -s out "$samples-want/$name"; then
        test_ok "$name"
    else
        test_fail "$name" "$(cat err; diff out "$samples-want/$name" | head -n 10)"
    fi
done

# Each format has a name, and nothing of another format is taken for it.
for pair in aix:aix bcc:bcc bpftrace:bpftrace chrome:chrome dhat:dhat dtrace:dtrace \
    eu-stack:eu-stack faulthandler:faulthandler gdb:gdb go:go instruments:instruments \
    instruments-csv:instruments-csv java-exceptions:java-exceptions javacore:javacore \
    jstack:jstack ljp:ljp massif:massif perf:perf pmc:pmc sample:sample stap:stap stap:ktap \
    vsprof:vsprof vtune:vtune vtune-memory:vtune wcp:wcp wpa:wpa xdebug:xdebug \
    heaptrack:heaptrack heaptrack:async-profiler heaptrack:folded; do
    file=$samples/${pair%%:*}
    kind=${pair##*:}
    "$FLAME" collapse --from "$kind" "$file" >named 2>err
    ok "--from $kind" cmp named "$samples-want/${pair%%:*}"
    sed 's/$/\r/' "$file" >crlf
    "$FLAME" collapse "--from=$kind" crlf >out 2>err
    case $kind in
    chrome | dhat | instruments) ;;
    *) ok "$kind with carriage returns" cmp out "$samples-want/${pair%%:*}" ;;
    esac
done

is_str "$("$FLAME" collapse --pid --tid "$samples/eu-stack" | head -n 1 | cut -d';' -f1,2 | tr -d 0-9)" \
    'PID=;TID=' 'eu-stack: --pid --tid'
like "$("$FLAME" collapse --pid "$samples/bcc")" '^sshd-1234;main' 'bcc: --pid'
like "$("$FLAME" collapse --tid "$samples/javacore")" 'thread-149164-0x3158;' 'javacore: --tid'

cat >nested.json <<'EOF'
[{"ph":"B","name":"a\u00e9;","ts":0,"pid":"x","tid":1},
 {"ph":"X","name":"b","ts":1.5,"dur":2.25,"pid":"x","tid":1,"args":{"deep":[[{"x":[1,2,{"y":null}]}]]}},
 {"ph":"M","name":"process_name"},
 {"ph":"E","ts":10,"pid":"x","tid":1},
 {"ph":"X","name":"other","ts":2,"dur":1e3,"pid":"y","tid":1}
EOF
run "$FLAME" collapse nested.json
is_str "$(cat out)" "$(printf 'a\303\251: 7.75\na\303\251:;b 2.25\nother 1000')" \
    'chrome: B and E events, fractions, escapes, other threads'

cat >gdb-names.txt <<'EOF'
Thread 1 (process 1):
#0  0x1 in operator<< (os=...) at x.cc:1
#1  0x2 in std::function<void (int)>::operator()(int) const (this=0x1, a=2) at f.h:2
#2  <signal handler called>
#3  (anonymous namespace)::f<(anonymous namespace)::T> (x=1) at x.cc:3
    at continued.cc:4
#4  main () at x.cc:5
EOF
is_str "$("$FLAME" collapse gdb-names.txt)" \
    'main;(anonymous namespace)::f<(anonymous namespace)::T>;<signal handler called>;std::function<void (int)>::operator()(int) const;operator<< 1' \
    'gdb: C++ names'

done_testing
