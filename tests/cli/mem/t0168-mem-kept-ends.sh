#!/usr/bin/env bash
# The search at the end of a process, for who keeps memory or for leaks, with programs that end in
# unusual ways: they end as without it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

use_own_tmpdir
compile_victim ending -pthread -fno-builtin

# A context that was saved has a register that leads to the list, too.
kept() { awk '/;\[globals of ending\];.*fill / { n += $NF } END { printf "%.0f\n", n }' k.folded; }
for how in handler child threads other; do
    run timeout 60 "$FLAME" mem --kept -o k.folded -- ./ending $how
    is_int "$status" 3 "$how: the program ends as without flame"
    is_str "$(kept)" 4800000 "$how: its memory is searched"
done
for how in cut wiped; do
    run timeout 60 "$FLAME" mem --kept -o k.html -- ./ending $how
    is_int "$status" 3 "the trace is $how: the program ends as without flame"
    run timeout 60 "$FLAME" leak -- ./ending $how
    is_int "$status" 3 "the trace is $how: and under flame leak"
done
run timeout 60 "$FLAME" leak -- ./ending handler
is_int "$status" 3 'a handler that waits for a thread: and under flame leak'
run timeout 60 "$FLAME" mem --rss -o k.html -- ./ending handler
is_int "$status" 3 'a handler that waits for a thread: and under flame mem --rss'

# A killed program leaves nothing in the directory of snapshots.
cat >killed.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "preload/flamemem.h"
void **kept;
static void *end(void *arg)
{
    usleep(60000);
    raise(SIGKILL);
    return arg;
}
int main(void)
{
    pthread_t t;
    for (int i = 0; i < 1000000; i++) {
        void **node = malloc(24);
        node[0] = kept;
        kept = node;
    }
    pthread_create(&t, NULL, end, NULL);
    for (;;)
        flamemem_snapshot("now");
}
END
ok 'the program that is killed is built' "${CC:-gcc}" -O1 -fno-builtin -pthread -I"$ROOT" -o killed killed.c
mkdir shots
run timeout 60 "$FLAME" mem --kept --snapshots shots -o k.html -- ./killed
is_int "$status" 137 'a program that is killed while its copy writes'
is_str "$(find shots -type f ! -name '*.flame')" '' 'nothing but traces is left'
done_testing
