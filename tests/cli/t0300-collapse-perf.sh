#!/usr/bin/env bash
# perf script's text: what each kind of line means, and every option.
. "${0%/*}/lib.sh"

cat >perf.txt <<'EOF'
# ========
# cmdline : /usr/bin/perf record -g -- ./app
# ========
app 100/101 [000] 12.345678:       1000 cycles:u: 
	    55d0c0de main+0x1e (/opt/app)
	    7f001234 __libc_start_main+0xf3 (/lib/libc-2.31.so)

V8 Worker 200/201 [001] 12.5:  250 cycles:u:
	ffffffff8103ce3b native_safe_halt ([kernel.kallsyms])
	    8c3453 tcp_sendmsg+0x1f (/lib/modules/6.1/build/vmlinux)
	    3bf2 LazyCompile:~fn "it's" (/tmp/perf-200.map)
	    1234 [unknown] (/usr/lib/libkmod.so.2.3.6)
	    0 [unknown] ([unknown])

app 100/101 [000] 13.0:        7 instructions:u:
	    55d0c0de main+0x1e (/opt/app)

app 100 13.5:          cycles:u:
	    1 net/http.(*Client).Do+0x3 (/opt/app)
	    2 ns::f(int, char)::{lambda()#1}::operator()(long) const (/opt/app)
	    3 (anonymous namespace)::g(int) (/opt/app)
	    4 (anonymous namespace)::h(std::function<void ()>) (/opt/app)
	    5 void ns::(anonymous namespace)::i<int>(int) (/opt/app)
	    6 a;b (/opt/app)
	    7 outer->inner (/opt/app)
	    8 Ptr::operator->() (/opt/app)
	    9 gone+0x4 (/tmp/x (deleted))
	    a (/opt/app)

java 300/300 14.0: 5 cycles:u:
	    1 Lorg/x/Main;::run (/tmp/perf-300.map)
	    2 Local (/opt/jvm)
	    3 call_stub (/tmp/perf-300.map)

app 100/101 15.0: 1000 cycles:u:
	    55d0c0de main+0x44 (/opt/app)
	    7f001234 __libc_start_main+0xf3 (/lib/libc-2.31.so)
EOF

run "$FLAME" collapse perf.txt
is_int "$status" 0 'perf script is recognised'
cat >want <<'EOF'
V8_Worker;[unknown];[libkmod.so.2.3.6];LazyCompile:~fn its;tcp_sendmsg;native_safe_halt 250
app;[app];gone;Ptr::operator->;outer;inner_[i];a:b;void ns::(anonymous namespace)::i<int>;(anonymous namespace)::h;(anonymous namespace)::g;ns::f;net/http.(*Client).Do 1
app;__libc_start_main;main 2000
java;call_stub;Local;org/x/Main:::run 5
EOF
is_str "$(cat out)" "$(cat want)" 'stacks, names, the last sample without an empty line'
like "$(cat err)" 'only cycles:u is counted' 'a second event is told'

collapse() {
    "$FLAME" collapse --from perf "$@" perf.txt 2>/dev/null
}
like "$(collapse --pid)" '^app-100;__libc_start_main;main 2000' '--pid'
like "$(collapse --pid)" '^app-\?;\[app\];gone' '--pid with a thread id only'
like "$(collapse --tid)" '^V8_Worker-200/201;' '--tid'
is_str "$(collapse --event instructions:u)" 'app;main 7' '--event'
is_str "$(collapse --event-filter=instructions:u)" 'app;main 7' 'by its other name'
like "$(collapse --kernel)" 'its;tcp_sendmsg_\[k\];native_safe_halt_\[k\] 250' '--kernel'
unlike "$(collapse --kernel)" '_\[j\]' '--kernel marks no JIT frames'
like "$(collapse --jit)" ';LazyCompile:~fn its_\[j\];tcp_sendmsg;' '--jit'
like "$(collapse --all)" 'its_\[j\];tcp_sendmsg_\[k\]' '--all'
like "$(collapse --addrs)" 'V8_Worker;\[unknown <0>\];\[libkmod.so.2.3.6 <1234>\]' '--addrs'

cat >srcline.txt <<'EOF'
app 1 1.0: 3 cycles:
	408ebb read_it+0x8b (/opt/app)
  reader.h:300
	4069f5 main+0x935 (/opt/app)
  app.cpp:137
	7f6d2148eb25 start+0xd5 (/lib64/libc-2.33.so)
  libc-2.33.so[27b25]
	0 [unknown] ([unknown])

EOF
is_str "$("$FLAME" collapse --srcline srcline.txt)" \
    'app;[unknown];start:libc-2.33.so;main:app.cpp:137;read_it:reader.h:300 3' '--srcline'

sed 's/$/\r/' perf.txt >crlf.txt
ok 'carriage returns' cmp <("$FLAME" collapse perf.txt 2>/dev/null) \
    <("$FLAME" collapse crlf.txt 2>/dev/null)
gzip -k perf.txt
cat perf.txt.gz perf.txt.gz >twice.gz
ok 'gzip' cmp <(collapse) <("$FLAME" collapse perf.txt.gz 2>/dev/null)
is_str "$("$FLAME" collapse twice.gz 2>/dev/null)" "$(sed 's/ 2000/ 4000/;s/ 250/ 500/;s/ 5$/ 10/;s/ 1$/ 2/' want)" \
    'gzip of two members, the empty line between samples lost'
head -c 200 perf.txt.gz >cut.gz
run_expect_status 2 'gzip cut short' "$FLAME" collapse cut.gz
like "$(cat err)" 'cut.gz: cannot read: its compressed data is cut short' 'and says so'
is_int "$(wc -c <out)" 0 'and nothing is written'
"$FLAME" collapse - <perf.txt.gz >piped 2>/dev/null
ok 'gzip from standard input' cmp piped <(collapse)

printf 'app 1 1.0: 3 cycles:\n\tzz\n\t1 f (m)\nwhat is this\n\n' >odd.txt
run "$FLAME" collapse odd.txt
is_str "$(cat out)" 'app;f 3' 'lines that are no frames are left out'
like "$(cat err)" 'odd.txt: 2 lines were not understood, the first is line 2: \?zz' \
    'counted, the first shown'

cp perf.txt.gz trailing.gz
echo 'what is this' >>trailing.gz
run_expect_status 0 'bytes behind the gzip data' "$FLAME" collapse trailing.gz
ok 'are left out' cmp out <(collapse)
like "$(cat err)" 'trailing.gz: what follows its gzip data is no gzip data' 'which is told'
cp perf.txt.gz padded.gz
head -c 512 /dev/zero >>padded.gz
run "$FLAME" collapse padded.gz
unlike "$(cat err)" 'follows' 'zeros are padding'

printf 'java 19983 cycles:\nffffffff8103d0ca write_msr ([kernel.kallsyms])\n7f72421d2d76 main(int) (/opt/java)\n\n' >flush.txt
is_str "$("$FLAME" collapse flush.txt 2>&1)" 'java;main;write_msr 1' 'frames that lost their indent are still known for perf'

run_expect_status 2 'no stack at all' "$FLAME" collapse "$ROOT/LICENSE"
like "$(cat err)" 'LICENSE: holds no stack in any format that was tried \(.*perf, .*folded' \
    'names the formats tried'
: >empty
run_expect_status 2 'an empty file' "$FLAME" collapse empty
run_expect_status 2 'a file that is not there' "$FLAME" collapse nowhere
run_expect_status 2 'a directory' "$FLAME" collapse .
run_expect_status 2 'an unknown format' "$FLAME" collapse --from nonsense perf.txt
like "$(cat err)" "no format 'nonsense'; --from takes" 'lists the formats'
run_expect_status 2 'no stack on the output' "$FLAME" collapse --from perf -o no.folded "$ROOT/LICENSE"
not_ok 'no file either' test -e no.folded
ok 'an output file' "$FLAME" collapse -o yes.folded perf.txt
ok 'is what standard output has' cmp yes.folded <(collapse)

done_testing
