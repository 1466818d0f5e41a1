#!/usr/bin/env bash
# Every other format: a sample of it is recognised and gives what it should. The
# samples are what the programs wrote, or were written after their
# documentation where the program does not run on Linux.
. "${0%/*}/../lib.sh"

samples=$ROOT/tests/corpus/collapse
for file in "$samples"/*; do
    name=${file##*/}
    case $name in
    perf-srcline) set -- --srcline ;;
    sched) set -- --event sched:sched_switch ;;
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

# Names with blanks and brackets are whole in all of them, and cut for who compares with scripts.
both() { # NAME WHOLE CUT: of the text on standard input
    cat >text
    is_str "$("$FLAME" collapse text 2>&1)" "$2" "$1: whole names"
    is_str "$("$FLAME" collapse --compat perl text 2>&1)" "$3" "$1: --compat perl"
}
both dtrace 'app`main;app`ns::A<int>::f(int, char);app`ns::operator+(A, A);app`ns::P::operator->() const;app`Lx/Y:::a;b_[i] 2' \
    'app`main;app`ns::A<int>::f;app`ns::operator;app`ns::P::operator;app`Lx/Y:::a;b_[i] 2' <<'END'

              app`Lx/Y;::a->b+0x1
              app`ns::P::operator->() const+0x1f
              app`ns::operator+(A, A)
              app`ns::A<int>::f(int, char)+0x2
              app`main+0x1c
                2
END
both stap 'main;ns::operator+(A, B);f(int, char) 3' 'main;ns::operator;f(int, char) 3' <<'END'
 0xffffffff81000001 : f(int, char)+0x1f/0x30 [app]
 0xffffffff81000002 : ns::operator+(A, B)
 0xffffffff81000003 : main+0x1/0x2 [app]
        3
END
both pmc 'main;ns::f(int, char) 4' 'main;ns::f(int, 4' <<'END'
 70.59%  [4]        ns::f(int, char) @ /opt/app
  100.0%  [4]        main
END
both sample 'Thread_1.main;app`ns::f(int, char, long);AppKit`-[A.b:] 3' \
    'Thread_1.main;app`ns::f(int,.char,;AppKit`-[A.b:] 3' <<'END'
Call graph:
    3 Thread_1 main
    + 3 ns::f(int, char, long)  (in app) + 13  [0x7fff]
    +   3 -[A b:]  (in AppKit) + 1  [0x7]

Total number in stack (recursive counted multiple, when >=5):
END

# jstack -l says behind each thread which locks it owns.
printf '"worker" #2 prio=5 tid=0x1 nid=0x2 runnable [0x3]\n   java.lang.Thread.State: RUNNABLE\n\tat a.W.run(W.java:1)\n\n   Locked ownable synchronizers:\n\t- <0x71> (a java.util.X)\n\n' >locks
run "$FLAME" collapse --from jstack locks
is_str "$(cat out err)" 'worker;a.W.run 1' 'jstack -l: locks that threads own are no frames'

done_testing
