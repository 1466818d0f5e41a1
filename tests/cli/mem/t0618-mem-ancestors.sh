#!/bin/bash
# --ancestors: stacks have the ancestors of their process.
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

# Children are summed while their parents run: the shell waits a little after each.
family='./clan keep:1 fork keep:20 run keep:300; sleep 0.2
./clan keep:4000 double keep:50000 exec keep:600000; sleep 0.2; true'
# exe is the name under which the victim executes itself.
cat >want <<'EOS'
sh;clan 4001
sh;clan;clan (fork) 50020
sh;clan;clan (fork);exe 300
sh;clan;exe 600000
EOS
run_expect_status 0 'flame mem --ancestors succeeds' "$FLAME" mem -q --ancestors -o a.folded -- sh -c "$family"
is_str "$(short a.folded)" "$(cat want)" \
    '--ancestors: forked children and executed programs, equal ones together'
run_expect_status 0 'flame mem without --ancestors succeeds' "$FLAME" mem -q -o n.folded -- sh -c "$family"
is_str "$(short n.folded)" $'clan 54021\nexe 600300' 'processes of one name count together without --ancestors'
for view in peak live; do
    run_expect_status 0 "flame mem --ancestors --view $view succeeds" \
        "$FLAME" mem -q --ancestors --view $view -o v.folded -- \
        sh -c "$family"
    # A process that executes another program has its blocks until then.
    is_str "$(short v.folded)" "$(cat want)" "--ancestors --view $view has each byte once"
done
run_expect_status 0 'flame mem --ancestors --pid succeeds' \
    "$FLAME" mem -q --ancestors --pid -o p.folded -- sh -c "$family"
is_str "$(short p.folded)" 'sh-N;clan-N 1
sh-N;clan-N 4000
sh-N;clan-N;clan-N (fork) 20
sh-N;clan-N;clan-N (fork) 50000
sh-N;clan-N;clan-N (fork);exe-N 300
sh-N;clan-N;exe-N 600000' '--ancestors --pid: each process counts alone'
is_int "$(grep -F ';keep_block' p.folded | grep -oE '^sh-[0-9]+' | sort -u | wc -l)" 1 \
    '--ancestors --pid: all processes have one shell'
run_expect_status 0 'flame mem --ancestors --tid succeeds' "$FLAME" mem -q --ancestors --tid -o t.folded -- \
    sh -c './clan thread:helper:77; true'
like "$(cat t.folded)" '^sh;clan;helper-[0-9]+;.*;keep_block 77' \
    '--ancestors --tid: the thread is above its process'

# Ancestors from traces: in any order, in one command or packed.
run_expect_status 0 'flame mem -o t.flame of a family succeeds' "$FLAME" mem -q -o t.flame -- sh -c "$family"
traces=$(traces_in t.flame)
# shellcheck disable=SC2046,SC2086 # several names
{
    "$FLAME" fold --ancestors $traces >f
    is_str "$(short f)" "$(cat want)" 'fold --ancestors of all traces has the ancestors'
    "$FLAME" fold --ancestors $(tac <<<"$traces") >f
    is_str "$(short f)" "$(cat want)" 'fold --ancestors does not depend on the order of traces'
    run_expect_status 0 'render --ancestors succeeds' "$FLAME" render --ancestors -f folded -o f $traces
    is_str "$(short f)" "$(cat want)" 'render --ancestors has the ancestors'
    run_expect_status 0 'render --ancestors --by process succeeds' \
        "$FLAME" render --ancestors --by process -f folded -o f $traces
    is_str "$(short f)" "$(short p.folded)" 'render --ancestors --by process is --pid'
    "$FLAME" top --ancestors -n 0 $traces >f
    file_has f ' clan \(fork\)$' 'top --ancestors has a forked child'
    for n in $(seq "$(wc -l <<<"$traces")"); do
        "$FLAME" pack -q -o "alone.$n.flame" "t.flame/$n"
    done
    gzip -k alone.*.flame
    "$FLAME" fold --ancestors alone.*.flame.gz >f
    is_str "$(short f)" "$(cat want)" 'fold --ancestors of packed traces has the ancestors'
    for picture in svg html; do
        run_expect_status 0 "render --ancestors -o x.$picture succeeds" \
            "$FLAME" render --ancestors -o x.$picture $traces
        file_has x.$picture 'clan \(fork\)' "x.$picture of --ancestors has the frames of ancestors"
    done
}
run_expect_status 0 'fold --ancestors of one trace succeeds' "$FLAME" fold --ancestors t.flame/2
is_str "$(short out)" 'sh;clan 1' 'fold --ancestors of one trace in a file has the ancestors from that file'
run_expect_status 0 'fold --ancestors of one file succeeds' "$FLAME" fold --ancestors alone.2.flame
is_str "$(short out)" 'clan 1' 'fold --ancestors of one file has no process of another'
run_expect_status 0 'fold --ancestors of a pipe succeeds' "$FLAME" fold --ancestors - <alone.2.flame
is_str "$(short out)" 'clan 1' 'fold --ancestors of a pipe has no other process'
"$FLAME" dump -s header t.flame/3 >facts
file_has facts "fork_pid=$("$FLAME" dump -s header t.flame/2 | grep -oE '\bpid=[0-9]+' | cut -d= -f2)( |$)" \
    "a forked child's trace names its parent's process"

# A process that is not recorded has no frame, and its children no ancestors.
if ${CC:-cc} -static -o fixed "$ROOT/tests/victims/mem/clan.c" -pthread 2>/dev/null; then
    run_expect_status 0 'flame mem --ancestors with a static program between succeeds' \
        "$FLAME" mem -q --ancestors -o s.folded -- \
        sh -c './fixed run:./clan keep:7; true'
    is_str "$(short s.folded)" 'clan 7' '--ancestors: an unrecorded process between is a gap'
else
    skip static 'no static C library'
fi

run_expect_status 23 'flame leak --live --ancestors ends with status 23' \
    "$FLAME" leak --live --ancestors -o l.folded -- sh -c './clan fork keep:20'
like "$(short l.folded)" 'clan \(fork\) 20' 'flame leak --ancestors has the forked child in its picture'
run_expect_status 0 'flame run --ancestors succeeds' \
    "$FLAME" run -q --ancestors -o r.folded -o r.html -- sh -c "$family"
is_str "$(short r.folded)" "$(cat want)" 'flame run --ancestors: views of memory have the ancestors'
run_expect_status 0 'flame run --ancestors --view off succeeds' \
    "$FLAME" run -q --ancestors --view off -o w.folded -- sh -c 'sleep 0.1; true'
file_has w.folded '^sh;' 'flame run --ancestors: views of waiting have no ancestors'
run "$FLAME" off -q -o off.flame -- sleep 0.1
run_expect_status 2 'fold --ancestors of an off-CPU trace ends with status 2' \
    "$FLAME" fold --ancestors off.flame
is_str "$(cat err)" "flame: off.flame: a trace of waiting; --ancestors is for traces of 'flame mem'" \
    'fold --ancestors of an off-CPU trace says why'
run_expect_status 2 'render --ancestors of folded text ends with status 2' \
    "$FLAME" render --ancestors -o x.svg a.folded
file_has err '--ancestors is of traces, and this is folded already' 'render --ancestors of folded text says why'

# A name may be anything.
evil=$'a;b\nc\e[3<&"'
for ending in folded svg html; do
    run_expect_status 0 "flame mem --ancestors -o e.$ending with a hostile name succeeds" \
        "$FLAME" mem -q --ancestors -o e.$ending -- \
        ./clan "name:$evil" keep:1 fork keep:5 fork keep:6
    is_str "$(tr -d '\n\t\040-\176\200-\377' <e.$ending | od -An -c)" '' \
        "e.$ending with a hostile name has no control characters"
done
is_str "$(short e.folded)" 'clan 1
clan;a:b c [3<&" (fork) 5
clan;a:b c [3<&" (fork);a:b c [3<&" (fork) 6' 'a hostile process name is one frame'
ok 'the picture with a hostile process name is well-formed XML' \
    python3 -c 'import xml.dom.minidom as m; m.parse("e.svg")'

# A typical build.
if command -v make gcc >/dev/null && [ "$(gcc --version | grep -ic clang)" = 0 ]; then
    printf 'int f(void){return 1;}\n' >one.c
    cp one.c two.c
    printf 'all: one.o two.o\n%%.o: %%.c\n\t@cd . && gcc -c -o $@ $<; true\n' >Makefile
    run_expect_status 0 'flame mem --ancestors of make succeeds' \
        env -u MAKEFLAGS -u MAKELEVEL PATH="/usr/bin:/bin:$PATH" \
        "$FLAME" mem -q --ancestors -o m.folded -- make -j2
    like "$(cut -d';' -f1-4 m.folded | sort -u)" '^make;sh;[^;]*gcc[^;]*;cc1$' \
        '--ancestors of make shows what started the compiler'
    is_int "$(grep -cE '^(sh|gcc|cc1|as)[; ]' m.folded)" 0 \
        '--ancestors of make: no compiler process is at the root'
else
    skip gcc 'no gcc and make'
fi

done_testing
