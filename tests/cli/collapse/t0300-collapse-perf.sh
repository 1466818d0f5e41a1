#!/usr/bin/env bash
# perf script's text: the meaning of each kind of line, and each option.
. "${0%/*}/../lib.sh"

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
is_int "$status" 0 'collapse recognises perf script'
cat >want <<'EOF'
V8_Worker;[unknown];[libkmod.so.2.3.6];LazyCompile:~fn "it's";tcp_sendmsg;native_safe_halt 250
app;[app];gone;Ptr::operator->();outer;inner_[i];a:b;void ns::(anonymous namespace)::i<int>(int);(anonymous namespace)::h(std::function<void ()>);(anonymous namespace)::g(int);ns::f(int, char)::{lambda()#1}::operator()(long) const;net/http.(*Client).Do 1
app;__libc_start_main;main 2000
java;call_stub;Local;org/x/Main:::run 5
EOF
is_str "$(cat out)" "$(cat want)" 'perf: stacks, names, and a last sample without an empty line'
like "$(cat err)" 'several events; cycles:u \(5\) is counted, not instructions:u \(1\)' \
    'perf: a second event is reported'

collapse() {
    "$FLAME" collapse --from perf "$@" perf.txt 2>/dev/null
}
like "$(collapse --compat perl)" '^app;\[app\];gone;Ptr::operator->;outer;inner_\[i\];a:b;void ns::\(anonymous namespace\)::i<int>;\(anonymous namespace\)::h;\(anonymous namespace\)::g;ns::f;net/http.\(\*Client\).Do 1$' \
    'perf: --compat perl truncates names'
run_expect_status 2 'collapse --compat python ends with status 2' "$FLAME" collapse --compat python perf.txt
like "$(cat err)" "collapse: --compat python: expected perl" 'collapse --compat python says what it expects'
like "$(collapse --pid)" '^app-100;__libc_start_main;main 2000' 'perf: --pid'
like "$(collapse --pid)" '^app-\?;\[app\];gone' 'perf: --pid with a thread id only'
like "$(collapse --tid)" '^V8_Worker-200/201;' 'perf: --tid'
is_str "$(collapse --event instructions:u)" 'app;main 7' 'perf: --event counts that event'
is_str "$(collapse --event-filter=instructions:u)" 'app;main 7' 'perf: --event-filter is --event'
like "$(collapse --kernel)" 's";tcp_sendmsg_\[k\];native_safe_halt_\[k\] 250' 'perf: --kernel'
unlike "$(collapse --kernel)" '_\[j\]' 'perf: --kernel marks no JIT frames'
like "$(collapse --jit)" ';LazyCompile:~fn "it.s"_\[j\];tcp_sendmsg;' 'perf: --jit'
like "$(collapse --all)" 's"_\[j\];tcp_sendmsg_\[k\]' 'perf: --all'
like "$(collapse --addrs)" 'V8_Worker;\[unknown <0>\];\[libkmod.so.2.3.6 <1234>\]' 'perf: --addrs'

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
    'app;[unknown];start:libc-2.33.so;main:app.cpp:137;read_it:reader.h:300 3' 'perf: --srcline'

# Megabytes of them, so that the lines of a frame are on both sides of a read, and its module's
# name stays correct; from a file, from a pipe, and from a pipe in pieces.
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 4000; i++) {
        printf "prog %d 1.%06d: %d cycles:\n", 1000 + i % 7, i, 1 + int(rand() * 9999)
        for (k = int(rand() * 12); k >= 0; k--) {
            name = sprintf("%c%0*d", 97 + int(rand() * 20), 1 + int(rand() * 60), int(rand() * 50))
            if (rand() < 0.1)
                name = name "->" name "z"
            line = sprintf("file_%s.c:%d", substr(name, 1, 1), 1 + int(rand() * 900))
            module = sprintf("lib%0*d.so", 1 + int(rand() * 90), 7)
            printf "\t%x %s+0x1f (/usr/lib/%s)\n  %s\n", 4096 + k, name, module, line
            sub(/.*->/, "", name)
            print module >"modules"
            print name (index(name, "z") ? "_[i]" : "") ":" line >"names"
        }
        print ""
    }
}' >large.txt
collapse_large() {
    "$FLAME" collapse --from perf --srcline "$@"
}
collapse_large --by module large.txt >by-module
collapse_large large.txt >by-name
tr ';' '\n' <by-module | sed 's/ [0-9]*$//' | sort -u | grep -v '^prog$' >got
ok 'perf: a large input has exactly the modules that were written' cmp got <(sort -u modules)
tr ';' '\n' <by-name | sed 's/ [0-9]*$//' | sort -u | grep -v '^prog$' | grep : >got
ok 'perf: a large input has exactly the names that were written' cmp got <(sort -u names)
ok 'perf: a large input from a pipe gives the same stacks' \
    cmp by-module <(collapse_large --by module - < <(cat large.txt))
ok 'perf: a large input from a pipe in pieces gives the same stacks' cmp by-module <(python3 -c '
import os, random, sys
random.seed(7)
data = open("large.txt", "rb").read()
while data:
    n = random.choice((1, 100, 5000, 60000))
    os.write(1, data[:n])
    data = data[n:]' | collapse_large --by module -)

# Functions whose names differ only after a parenthesis are different functions.
cat >alike.txt <<'END'
run<main::{lambda()#1}>(main::{lambda()#1})
run<main::{lambda()#2}>(main::{lambda()#2})
run<main()::Task>
std::function<int ()>::operator()() const
std::function<int (char)>::operator()(char) const
decltype (p->begin()) first<Pool>(Pool&)
bool ns::operator< <(anonymous namespace)::Key>((anonymous namespace)::Key)
f(int)
f(char const*)
operator->*(A, B)
END
awk '{ printf "app 1 1.%06d: 1 cycles:\n\t%x %s+0x1f (/opt/app)\n\n", NR, NR, $0 }' alike.txt >alike
is_str "$("$FLAME" collapse alike)" "$(sed 's/.*/app;& 1/' alike.txt | sort)" \
    'perf: names that differ after a parenthesis stay separate'
is_str "$("$FLAME" collapse --compat perl alike | grep -c 'app;run<main\|app;std::function<int \|app;f')" 4 \
    'perf: --compat perl merges names that differ after a parenthesis'

sed 's/$/\r/' perf.txt >crlf.txt
ok 'perf: carriage returns are ignored' cmp <("$FLAME" collapse perf.txt 2>/dev/null) \
    <("$FLAME" collapse crlf.txt 2>/dev/null)
gzip -k perf.txt
cat perf.txt.gz perf.txt.gz >twice.gz
ok 'perf: gzip is unpacked' cmp <(collapse) <("$FLAME" collapse perf.txt.gz 2>/dev/null)
is_str "$("$FLAME" collapse twice.gz 2>/dev/null)" "$(sed 's/ 2000/ 4000/;s/ 250/ 500/;s/ 5$/ 10/;s/ 1$/ 2/' want)" \
    'perf: gzip of two members, without the empty line between samples'
head -c 200 perf.txt.gz >cut.gz
run_expect_status 2 'collapse of truncated gzip ends with status 2' "$FLAME" collapse cut.gz
like "$(cat err)" 'cut.gz: cannot read: its compressed data is cut short' 'collapse of truncated gzip says so'
is_int "$(wc -c <out)" 0 'collapse of truncated gzip writes nothing'
"$FLAME" collapse - <perf.txt.gz >piped 2>/dev/null
ok 'collapse unpacks gzip from standard input' cmp piped <(collapse)

printf 'app 1 1.0: 3 cycles:\n\tzz\n\t1 f (m)\nwhat is this\n\n' >odd.txt
run "$FLAME" collapse odd.txt
is_str "$(cat out)" 'app;f 3' 'perf: lines that are no frames are left out'
like "$(cat err)" 'odd.txt: 2 lines were not understood, the first is line 2: \\x09zz' \
    'perf: lines that are no frames are counted, the first is shown'

cp perf.txt.gz trailing.gz
echo 'what is this' >>trailing.gz
run_expect_status 0 'collapse of gzip with trailing bytes succeeds' "$FLAME" collapse trailing.gz
ok 'collapse of gzip with trailing bytes leaves them out' cmp out <(collapse)
like "$(cat err)" 'trailing.gz: the bytes after its gzip data are not gzip data' \
    'collapse of gzip with trailing bytes reports them'
cp perf.txt.gz padded.gz
head -c 512 /dev/zero >>padded.gz
run "$FLAME" collapse padded.gz
unlike "$(cat err)" 'follows' 'collapse of gzip with trailing zeros does not report them'

printf 'java 19983 cycles:\nffffffff8103d0ca write_msr ([kernel.kallsyms])\n7f72421d2d76 main(int) (/opt/java)\n\n' >flush.txt
is_str "$("$FLAME" collapse flush.txt 2>&1)" 'java;main(int);write_msr 1' \
    'perf: frames without indentation are recognised'

run_expect_status 2 'collapse of a text without stacks ends with status 2' "$FLAME" collapse "$ROOT/LICENSE"
like "$(cat err)" "LICENSE: begins with 'MIT License', and holds no stack in any format that was tried \(.*perf, .*folded" \
    'collapse of a text without stacks shows its beginning and the formats tried'
: >empty
printf '# captured on: x\n#\n\n' >comments
for file in empty comments /dev/null; do
    for from in '' '--from perf' '--from folded' '--from dhat'; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "collapse $from of comments only is an empty profile: $file" \
            "$FLAME" collapse $from $file
        is_str "$(cat out err)" "flame: $file: the profile is empty" \
            "collapse $from of comments only says that the profile is empty: $file"
    done
done
run_expect_status 0 'collapse of an empty pipe, drawn, succeeds' \
    sh -c ': | "$FLAME" collapse --all | "$FLAME" render -o nothing.svg'
file_has nothing.svg 'the profile is empty' 'the picture of an empty pipe says that the profile is empty'
run_expect_status 0 'collapse of an empty file and another succeeds' "$FLAME" collapse empty perf.txt
ok "collapse of an empty file and another gives the other's stacks" cmp out <(collapse)
run_expect_status 2 'collapse --event without such events ends with status 2' \
    "$FLAME" collapse --event nix perf.txt
echo '{"traceEvents":[]}' >no-events.json
run_expect_status 0 'collapse of trace events without an event succeeds' "$FLAME" collapse no-events.json
echo '[ ]' >no-array.json
printf 'Attaching 1 probe...\n\n\n' >idle.bpftrace
echo 'Sampling at 49 Hertz of all threads by user + kernel stack for 5 secs.' >idle.profile
printf 'Tracing off-CPU time (us) of all threads... Hit Ctrl-C to end.\n\n' >idle.offcputime
for idle in no-array.json:chrome idle.bpftrace:bpftrace idle.profile:bcc idle.offcputime:bcc; do
    for from in '' "--from ${idle#*:}"; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "collapse $from of an idle machine succeeds: $idle" \
            "$FLAME" collapse $from "${idle%:*}"
        is_str "$(cat out err)" "flame: ${idle%:*}: the profile is empty" \
            "collapse $from of an idle machine says that the profile is empty: $idle"
    done
done
printf 'Tracing off-CPU time\n\n    schedule\n    read\n' >cut.bcc
run_expect_status 2 'collapse of a truncated bcc output ends with status 2' "$FLAME" collapse --from bcc cut.bcc
run_expect_status 2 'collapse --from chrome of perf script ends with status 2' \
    "$FLAME" collapse --from chrome perf.txt
run_expect_status 2 'collapse --from wcp of perf script ends with status 2' \
    "$FLAME" collapse --from wcp perf.txt
run_expect_status 2 'collapse of a missing file ends with status 2' "$FLAME" collapse nowhere
run_expect_status 2 'collapse of a directory ends with status 2' "$FLAME" collapse .
run_expect_status 2 'collapse --from nonsense ends with status 2' "$FLAME" collapse --from nonsense perf.txt
like "$(cat err)" '^flame: collapse: --from nonsense: expected perf, .* or heaptrack$' \
    'collapse --from nonsense lists the formats'
run_expect_status 2 'collapse -o without a stack ends with status 2' \
    "$FLAME" collapse --from perf -o no.folded "$ROOT/LICENSE"
not_ok 'collapse -o without a stack writes no file' test -e no.folded
ok 'collapse -o succeeds' "$FLAME" collapse -o yes.folded perf.txt
ok 'collapse -o writes what it prints on standard output' cmp yes.folded <(collapse)

done_testing
