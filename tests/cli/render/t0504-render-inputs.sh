#!/bin/bash
# Several inputs make one picture; traces are folded on the way.
. "${0%/*}/../lib.sh"

printf '# flame: view=live unit=bytes\nmain;f 1\nmain;g 2\n' >a
printf '# flame: view=live unit=bytes\nmain;g 4\nmain;h 8\n' >b
cat a b >both

run_expect_status 0 'two files' "$FLAME" render a b
is_str "$(cat err)" '' 'nothing to say'
cp out two.svg
run "$FLAME" render both
ok 'are as one' cmp out two.svg
run "$FLAME" render a - <b
ok 'standard input may be one of them' cmp out two.svg
gzip -k b
run "$FLAME" render a b.gz
ok 'and may be packed' cmp out two.svg
run_expect_status 0 'top takes both' "$FLAME" top a b
file_has out ' 6   B .* g$' 'and adds them up'
sed -i 's/unit=bytes/unit=calls/' b
run_expect_status 0 'two units' "$FLAME" render a b
is_str "$(cat err)" 'flame: b:1: unit is calls here and bytes before; sums of both mean little' \
    'are warned of'

cat >app.c <<'END'
#include <stdlib.h>
#include <string.h>
static char *keep[10];
__attribute__((noinline)) static void hold(void)
{
    for (int i = 0; i < 10; i++)
        if ((keep[i] = malloc(100)))
            memset(keep[i], 1, 100);
}
int main(void)
{
    char *volatile p = malloc(5000);
    free(p);
    hold();
    return 0;
}
END
if ! "${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o app app.c; then
    test_fail 'the program is built'
    done_testing
fi
FLAMEMEM_OPTIONS=out=t.flame:quiet=1 LD_PRELOAD=$SHIM ./app
run_expect_status 0 'a trace' "$FLAME" render t.flame
file_has out '>Memory allocated</text>' 'its default view is alloc'
file_has out '<title>hold \(1,000 bytes' 'symbols and bytes'
cp out trace.svg
run "$FLAME" render <t.flame
ok 'from standard input' cmp out trace.svg
# shellcheck disable=SC2002 # the pipe is the point
cat t.flame | run "$FLAME" render -
ok 'from a pipe' cmp out trace.svg
"$FLAME" fold t.flame >t.folded
run "$FLAME" render t.folded
ok 'as its folded text' cmp out trace.svg
run_expect_status 0 '--view' "$FLAME" render --view live t.flame
file_has out '>Memory live at the end</text>' 'another view'
file_has out '<title>main \(1,000 bytes, 100' 'of what was not freed'
run_expect_status 0 'top of a trace' "$FLAME" top --view count t.flame
file_has out '^ *10 .* hold$' 'calls'
run_expect_status 2 'an unknown view' "$FLAME" render -o o.svg --view beige t.flame
file_has err 'beige' 'is named'
head -c 10000 t.flame >cut.flame
run_expect_status 2 'a trace that is cut' "$FLAME" render -o o.svg cut.flame
is_int "$(wc -l <err)" 1 'one line'
ok 'no output' test ! -e o.svg

done_testing
