#!/bin/bash
# Several inputs make one picture; traces are folded on the way.
. "${0%/*}/../lib.sh"

printf '# flame: view=live unit=bytes\nmain;f 1\nmain;g 2\n' >a
printf '# flame: view=live unit=bytes\nmain;g 4\nmain;h 8\n' >b
cat a b >both

run_expect_status 0 'render of two files succeeds' "$FLAME" render a b
is_str "$(cat err)" '' 'render of two files prints nothing on standard error'
cp out two.svg
run "$FLAME" render both
ok 'render of two files equals render of one with both' cmp out two.svg
run "$FLAME" render a - <b
ok 'render takes a file and standard input' cmp out two.svg
gzip -k b
run "$FLAME" render a b.gz
ok 'render takes a packed file' cmp out two.svg
run_expect_status 0 'top of two files succeeds' "$FLAME" top a b
file_has out ' 6   B .* g$' 'top sums two files'
sed -i 's/unit=bytes/unit=calls/' b
run_expect_status 0 'render of two units succeeds' "$FLAME" render a b
is_str "$(cat err)" 'flame: b:1: unit is calls here and bytes before; sums of both mean little' \
    'render of two units warns'

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
    test_fail 'app is built'
    done_testing
fi
FLAMEMEM_OPTIONS=out=t.flame:quiet=1 LD_PRELOAD=$SHIM ./app
run_expect_status 0 'render of a trace succeeds' "$FLAME" render t.flame
file_has out '>Memory allocated</text>' 'render of a trace has the view alloc by default'
file_has out '<title>hold \(1,000 bytes' 'render of a trace has symbols and bytes'
cp out trace.svg
run "$FLAME" render <t.flame
ok 'render of a trace from standard input is the same' cmp out trace.svg
# shellcheck disable=SC2002 # the pipe is the point
cat t.flame | run "$FLAME" render -
ok 'render of a trace from a pipe is the same' cmp out trace.svg
"$FLAME" fold t.flame >t.folded
run "$FLAME" render t.folded
ok 'render of a trace equals that of its folded text' cmp out trace.svg
run_expect_status 0 'render --view live succeeds' "$FLAME" render --view live t.flame
file_has out '>Memory live at the end</text>' 'render --view live has the title of that view'
file_has out '<title>main \(1,000 bytes, 100' 'render --view live has the live bytes'
run_expect_status 0 'top --view count of a trace succeeds' "$FLAME" top --view count t.flame
file_has out '^ *10 .* hold$' 'top --view count of a trace has the calls'
run_expect_status 2 'render --view beige ends with status 2' "$FLAME" render -o o.svg --view beige t.flame
file_has err 'beige' 'render --view beige names the view'
head -c 10000 t.flame >cut.flame
run_expect_status 2 'render of a truncated trace ends with status 2' "$FLAME" render -o o.svg cut.flame
is_int "$(wc -l <err)" 1 'render of a truncated trace prints one line'
ok 'render of a truncated trace writes no output' test ! -e o.svg

done_testing
