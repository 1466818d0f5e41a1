#!/usr/bin/env bash
# Tools that find heap errors without flame find them with flame: glibc's checks are the next
# definition, though their malloc is no default version.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >errs.c <<'EOF'
#include <mcheck.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *volatile p;

    (void)argv;
    if (argc > 1)
        mtrace();
    p = malloc(10);
    /* The check takes 1 for the distance to its mark, which is never 1; so none is found. With
       what malloc left in the block it would be, once in some hundred places. */
    if (argc == 1)
        memset(p, 1, 11);
    free(p);
    p = malloc(4711);
    return 0;
}
EOF
ok 'errs is built' "${CC:-gcc}" -O0 -g -w -o errs errs.c
debug=$(gcc -print-file-name=libc_malloc_debug.so.0)
[ -e "$debug" ] || skip_all malloc-debug "this C library has no libc_malloc_debug.so.0"

export MALLOC_CHECK_=3
ulimit -c 0
status=0
{ LD_PRELOAD=$debug ./errs >out 2>err; } 2>/dev/null || status=$?
is_int "$status" 134 'MALLOC_CHECK_ without flame ends a program that wrote past a block'
BENEATH=$debug record "" ./errs
is_int "$status" 134 'MALLOC_CHECK_ under flame ends a program that wrote past a block'
file_has err 'free\(\): invalid pointer' 'MALLOC_CHECK_ under flame prints its own message'
is_int "$(fview count | grep -c ';main ')" 1 'a block that MALLOC_CHECK_ rejects is recorded'
unset MALLOC_CHECK_

export MALLOC_TRACE=$SCRATCH/mtrace.out
BENEATH=$debug record "" ./errs trace
is_int "$status" 0 'mtrace under flame ends with status 0'
file_has mtrace.out '\+ 0x[0-9a-f]+ 0x1267$' 'mtrace under flame reports the block that is left'
unset MALLOC_TRACE

# The first library in link order is the next definition, whether its malloc has a version or not.
jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1)
[ -n "$jemalloc" ] || skip_all jemalloc "no libjemalloc.so.2"
first() {
    BENEATH="$1 $2" record "" env MALLOC_CONF=stats_print:true MALLOC_CHECK_=3 ./errs
    grep -q 'Begin jemalloc' err && echo jemalloc || echo "$status"
}
is_str "$(first "$jemalloc" "$debug")" jemalloc \
    'an allocator without symbol versions comes first if it is first in link order'
is_str "$(first "$debug" "$jemalloc")" 134 "glibc's checks come first if they are first in link order"
done_testing
