#!/bin/bash
# --ancestors: whose child a process is stands in its stacks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim clan -pthread
use_own_tmpdir

# The frames below the program's own, and the bytes of keep_block.
short() {
    grep -F ';keep_block' "$1" |
        sed -E 's/;(_start|__libc_start_main|\[)[^ ]*( \(fork\))?;keep_block//' |
        sed -E 's/-[0-9]+/-N/g' | sort
}

# Children are added up while their parents run: the shell waits a little after each.
family='./clan keep:1 fork keep:20 run keep:300; sleep 0.2
./clan keep:4000 double keep:50000 exec keep:600000; sleep 0.2; true'
# exe is what the victim executes itself as.
cat >want <<'EOS'
sh;clan 4001
sh;clan;clan (fork) 50020
sh;clan;clan (fork);exe 300
sh;clan;exe 600000
EOS
run_expect_status 0 'mem' "$FLAME" mem -q --ancestors -o a.folded -- sh -c "$family"
is_str "$(short a.folded)" "$(cat want)" 'forked children, executed programs, and equal ones together'
run_expect_status 0 'without' "$FLAME" mem -q -o n.folded -- sh -c "$family"
is_str "$(short n.folded)" $'clan 54021\nexe 600300' 'all of a name are one'
for view in peak live; do
    run_expect_status 0 "--view $view" "$FLAME" mem -q --ancestors --view $view -o v.folded -- \
        sh -c "$family"
    # A process that executes another program has its blocks until then.
    is_str "$(short v.folded)" "$(cat want)" 'has each byte once'
done
run_expect_status 0 'with --pid' "$FLAME" mem -q --ancestors --pid -o p.folded -- sh -c "$family"
is_str "$(short p.folded)" 'sh-N;clan-N 1
sh-N;clan-N 4000
sh-N;clan-N;clan-N (fork) 20
sh-N;clan-N;clan-N (fork) 50000
sh-N;clan-N;clan-N (fork);exe-N 300
sh-N;clan-N;exe-N 600000' 'none is added to another'
is_int "$(grep -F ';keep_block' p.folded | grep -oE '^sh-[0-9]+' | sort -u | wc -l)" 1 'all of one shell'
run_expect_status 0 'with --tid' "$FLAME" mem -q --ancestors --tid -o t.folded -- \
    sh -c './clan thread:helper:77; true'
like "$(cat t.folded)" '^sh;clan;helper-[0-9]+;.*;keep_block 77' 'the thread stands on the process'

# Ancestors from traces: in any order, in one command or packed.
run_expect_status 0 'traces' "$FLAME" mem -q -o t.flame -- sh -c "$family"
traces=$(ls t.flame t.*.flame)
# shellcheck disable=SC2046,SC2086 # several names
{
    "$FLAME" fold --ancestors $traces >f
    is_str "$(short f)" "$(cat want)" 'fold'
    "$FLAME" fold --ancestors $(ls -r $traces) >f
    is_str "$(short f)" "$(cat want)" 'whichever is read first'
    run_expect_status 0 'render' "$FLAME" render --ancestors -f folded -o f $traces
    is_str "$(short f)" "$(cat want)" 'render'
    run_expect_status 0 'render by process' "$FLAME" render --ancestors --by process -f folded -o f $traces
    is_str "$(short f)" "$(short p.folded)" '--by process is --pid'
    "$FLAME" top --ancestors -n 0 $traces >f
    file_has f ' clan \(fork\)$' 'top'
    gzip -k $traces
    "$FLAME" fold --ancestors $(printf '%s.gz ' $traces) >f
    is_str "$(short f)" "$(cat want)" 'packed ones'
    for picture in svg html; do
        run_expect_status 0 "$picture" "$FLAME" render --ancestors -o x.$picture $traces
        file_has x.$picture 'clan \(fork\)' 'has the frames'
    done
}
run_expect_status 0 'one trace' "$FLAME" fold --ancestors t.2.flame
is_str "$(short out)" 'clan 1' 'knows of no other'
run_expect_status 0 'a pipe' "$FLAME" fold --ancestors - <t.2.flame
is_str "$(short out)" 'clan 1' 'the same'
"$FLAME" dump -s header t.3.flame >facts
file_has facts "fork_pid=$("$FLAME" dump -s header t.2.flame | grep -oE '\bpid=[0-9]+' | cut -d= -f2)( |$)" \
    'a forked child names the trace of who forked it'

# A process that is not recorded has no frame, and its children no ancestors.
if ${CC:-cc} -static -o fixed "$ROOT/tests/victims/mem/clan.c" -pthread 2>/dev/null; then
    run_expect_status 0 'a static program between' "$FLAME" mem -q --ancestors -o s.folded -- \
        sh -c './fixed run:./clan keep:7; true'
    is_str "$(short s.folded)" 'clan 7' 'is a gap'
else
    skip static 'no static C library'
fi

run_expect_status 23 'leak' "$FLAME" leak --live --ancestors -o l.folded -- sh -c './clan fork keep:20'
like "$(short l.folded)" 'clan \(fork\) 20' 'in its picture'
run_expect_status 0 'run' "$FLAME" run -q --ancestors -o r.folded -o r.html -- sh -c "$family"
is_str "$(short r.folded)" "$(cat want)" 'in views of memory'
run_expect_status 0 'run' "$FLAME" run -q --ancestors --view off -o w.folded -- sh -c 'sleep 0.1; true'
file_has w.folded '^sh;' 'and not in those of waiting'
run "$FLAME" off -q -o off.flame -- sleep 0.1
run_expect_status 2 'of a trace of waiting' "$FLAME" fold --ancestors off.flame
is_str "$(cat err)" "flame: off.flame: a trace of waiting; --ancestors is for traces of 'flame mem'" \
    'refused'
run_expect_status 2 'of folded text' "$FLAME" render --ancestors -o x.svg a.folded
file_has err '--ancestors is of traces, and this is folded already' 'refused, too'

# A name may be anything.
evil=$'a;b\nc\e[3<&"'
for ending in folded svg html; do
    run_expect_status 0 "a hostile name: $ending" "$FLAME" mem -q --ancestors -o e.$ending -- \
        ./clan "name:$evil" keep:1 fork keep:5 fork keep:6
    is_str "$(tr -d '\n\t\040-\176\200-\377' <e.$ending | od -An -c)" '' 'hurts no terminal'
done
is_str "$(short e.folded)" 'clan 1
clan;a:b c [3<&" (fork) 5
clan;a:b c [3<&" (fork);a:b c [3<&" (fork) 6' 'and is one frame'
ok 'a picture is XML' python3 -c 'import xml.dom.minidom as m; m.parse("e.svg")'

# A build, as people have it.
if command -v make gcc >/dev/null && [ "$(gcc --version | grep -ic clang)" = 0 ]; then
    printf 'int f(void){return 1;}\n' >one.c
    cp one.c two.c
    printf 'all: one.o two.o\n%%.o: %%.c\n\t@cd . && gcc -c -o $@ $<; true\n' >Makefile
    run_expect_status 0 'make' env -u MAKEFLAGS -u MAKELEVEL PATH="/usr/bin:/bin:$PATH" \
        "$FLAME" mem -q --ancestors -o m.folded -- make -j2
    like "$(cut -d';' -f1-4 m.folded | sort -u)" '^make;sh;[^;]*gcc[^;]*;cc1$' 'who started the compiler'
    is_int "$(grep -cE '^(sh|gcc|cc1|as)[; ]' m.folded)" 0 'and none stands by itself'
else
    skip gcc 'no gcc and make'
fi

done_testing
