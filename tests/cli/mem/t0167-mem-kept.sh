#!/usr/bin/env bash
# flame mem --kept COMMAND: who keeps the blocks that are live when a process ends.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

use_own_tmpdir
compile_victim keeping -pthread -fno-builtin
compile_victim keepingforks -fno-builtin
compile_victim keepingcxx

sum() { awk '!/^#/ { n += $NF } END { printf "%.0f\n", n }' "$@"; }
# kept_by FRAMES [FILE]: bytes of the stacks that have these frames
kept_by() {
    frames=";$1" awk 'index($0, ENVIRON["frames"]) { n += $NF } END { printf "%.0f\n", n }' "${2:-k.folded}"
}
kept() {
    local out=$1
    shift
    run "$FLAME" mem --kept -o "$out" -- "$@"
}

globals='[globals of keeping]'
printf 'before\nwork\nquit\n' >words
for lib in '' libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    what=${lib:-glibc}
    status=0
    LD_PRELOAD=$lib "$FLAME" mem --kept -o k.folded -- ./keeping <words >out 2>err || status=$?
    is_int "$status" 0 "$what: flame mem --kept ends with the command's status"
    is_str "$(tr '\n' ' ' <out)" 'done done ' "$what: the command's output is its own"
    is_str "$(kept_by "$globals;cache;.list;push ")" 1016000 "$what: a list of a variable is one frame"
    is_str "$(kept_by "$globals;cache;.table;[also kept by second];get ")" 104000 \
        "$what: what two variables keep stands on the nearer one, and names the other"
    is_str "$(kept_by "$globals;second;get ")" 5000 "$what: what a variable keeps alone"
    is_str "$(kept_by "$globals;part;get ")" 700 "$what: a pointer to the inside keeps a block, too"
    is_str "$(kept_by "$globals;old_list;push ")" $((2000 * (16 + 100))) "$what: a list with leaves"
    like "$(cat k.folded)" ';\[stack of keeping\];([^ ]*;)?worker;get 30000' \
        "$what: a local variable of a function keeps a block"
    is_str "$(kept_by '[thread-local data];get ')" 7000 "$what: thread-local data keeps a block"
    # tcmalloc's constructor loses 8 bytes on Debian 12, and none on 13.
    lost=$(kept_by '[nothing that was found] ')
    case $lib:$lost in
    libtcmalloc*:10007) lost=9999 ;;
    esac
    is_int "$lost" $((9 * 1111)) \
        "$what: what nothing leads to is counted"
    file_lacks k.folded 'main_and_look' "$what: no frames of the recorder"
    like "$(cat err)" 'keeps most: ' "$what: the summary says who keeps most"
done
is_str "$(find "$TMPDIR" -name 'flame-*' | wc -l)" 0 'nothing is left in TMPDIR'

# The trace has it, too, for all commands.
status=0
"$FLAME" mem --kept -o k.flame -- ./keeping <words >out 2>err || status=$?
is_int "$status" 0 'a trace is written'
is_str "$(find . -name 'k.*' | sort | tr '\n' ' ')" './k.flame ./k.folded ' 'the trace is one file'
"$FLAME" fold --no-header --view kept k.flame >from_trace
is_str "$(sum from_trace)" "$("$FLAME" fold --no-header --view live k.flame | sum)" \
    'the sum is what is live at the end'
ok 'the trace is whole' "$FLAME" dump k.flame
"$FLAME" render --view kept -o k.svg k.flame
file_has k.svg 'old_list' 'a picture has the owners'
"$FLAME" render -o k.html k.flame
file_has k.html '"kept"' 'a page has the view'

# Two stacks in one mapping of the program, and a block that cannot be read in part.
compile_victim lodging -pthread -fno-builtin
status=0
"$FLAME" mem --kept -o k.folded -- ./lodging <words >out 2>err || status=$?
is_int "$status" 0 'a program with a guard page in its heap and stacks of its own'
is_str "$(kept_by '[globals of lodging];behind;get ')" $((1000 * (16 + 500))) \
    'blocks behind a page of the heap that cannot be read'
for function in lower upper; do
    like "$(cat k.folded)" ";\\[stack of lodging\\];([^ ]*;)?$function;get [34]0000" \
        "two stacks in one mapping: what $function keeps"
done

# Several processes: what a process has from the one that forked it is counted there.
kept f.folded ./keepingforks
is_str "$status $(kept_by 'parents_cache;fill ' f.folded) $(kept_by 'childs_cache;fill ' f.folded)" \
    "0 $((1000 * 1008)) $((600 * 108))" 'forked processes: each block is counted once'
kept f.folded ./keepingforks killed
is_str "$(kept_by 'childs_cache;fill ' f.folded)" $((300 * 108)) 'a killed child is not there'
like "$(cat err)" 'who keeps memory is not known of 1 process, .*: keepingforks [0-9]+' 'and is named'
kept e.folded sh -c './keepingforks; exec ./keepingforks'
is_str "$(kept_by 'parents_cache;fill ' e.folded)" $((2000 * 1008)) 'programs that are executed'
file_lacks err 'not known of' 'a program that executes another needs no search'
kept none.folded sh -c 'kill -9 $$'
is_int "$status" 137 'a command that is killed: its status'
file_has err 'recorded without a search for who keeps blocks' 'a command that is killed: why there is no view'
like "$(cat err)" 'the recording is kept in ' 'a command that is killed: its recording is not lost'
ok 'a command that is killed: the recording has other views' \
    "$FLAME" fold --view alloc "$(sed -n 's/.* is kept in \([^;]*\);.*/\1/p' err)"/*.flame

kept p.folded python3 -c 'x = [{i: str(i)} for i in range(1000)]'
like "$(cat err)" 'objects of python[0-9.]* all lead to one another by its own lists; objgraph and guppy know who keeps them' \
    'a command of an interpreter: what knows its objects'
"$FLAME" run --view kept -o r.folded -- ./keepingforks killed >out 2>err || true
file_has r.folded 'parents_cache;fill ' 'flame run has the view'
file_has err 'who keeps memory is not known of 1 process' 'flame run names a process that was not searched'

# C++, whose containers end in pointers behind their blocks.
for lib in '' libjemalloc.so.2; do
    LD_PRELOAD=$lib "$FLAME" mem --kept -o c.folded -- ./keepingcxx >out 2>err
    is_str "truth $(kept_by '[globals of keepingcxx];all()::r;' c.folded)" "$(cat out)" \
        "${lib:-glibc}: all of a C++ object's containers"
done

# The first member of a member has the offset 0, which compilers write in several ways.
cat >first.cc <<'END'
#include <stdlib.h>
struct inner { char *first, *second; };
struct outer { inner impl; } whole;
int main() { whole.impl.first = (char *)malloc(500); whole.impl.second = (char *)malloc(1000); return 0; }
END
for version in 4 5; do
    ok "a program with DWARF $version is built" "${CXX:-g++}" -O0 -g -gdwarf-$version -o first first.cc
    kept o.folded ./first
    is_str "$(kept_by '[globals of first];whole;.impl;.first;main ' o.folded) $(
        kept_by '[globals of first];whole;.impl;.second;main ' o.folded)" '500 1000' "DWARF $version: members of a member"
done

# At a moment: a snapshot that the program asks for, with other threads running.
cat >moment.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "preload/flamemem.h"
void **early;
static volatile int stop;
static void *spin(void *arg)
{
    void *volatile held = malloc(70);
    while (!stop)
        ;
    free(held);
    return arg;
}
int main(void)
{
    pthread_t t;

    early = malloc(100 * sizeof *early);
    for (int i = 0; early && i < 100; i++)
        early[i] = malloc(50);
    pthread_create(&t, NULL, spin, NULL);
    usleep(20000);
    if (!flamemem_snapshot("now"))
        return 1;
    for (int i = 0; early && i < 100; i++)
        free(early[i]);
    free(early);
    early = NULL;
    stop = 1;
    pthread_join(t, NULL);
    return 0;
}
END
ok 'the program with a snapshot is built' "${CC:-gcc}" -O1 -g -fno-builtin -pthread -I"$ROOT" -o moment moment.c
mkdir shots
run "$FLAME" mem --kept --snapshots shots -o m.folded -- ./moment
is_int "$status" 0 'a program that asks for a snapshot ends as before'
file_lacks m.folded early 'what is freed is not there at the end'
is_str "$(find shots -type f | sed 's/moment[.0-9]*/moment./')" 'shots/moment.snapshot-1-now.flame' \
    'a snapshot is one file'
"$FLAME" fold --view kept shots/*.flame >s.folded
is_str "$(kept_by '[globals of moment];early;main ' s.folded)" $((100 * 58)) 'a snapshot has who kept it then'

like "$(cat s.folded)" ';\[stack of moment\];.*spin;spin 70' 'a snapshot has the stacks of other threads, by name'

# The file of pointers may be refused: the command does not notice.
run bash -c "ulimit -f 64; '$FLAME' mem --kept -o l.folded -- ./keepingforks"
is_int "$status" 0 'with a limit of the size of files the command ends as before'

run_expect_status 2 '--kept with --sample ends with status 2' "$FLAME" mem --kept --sample 1k ./keeping
file_has err 'view kept needs every block' '--kept with --sample: the reason'
done_testing
