#!/bin/bash
# flame fold: symbol names made to break what reads them.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >prog.c <<'END'
#include <stdlib.h>
void *volatile keep;
#define F(n) __attribute__((noinline)) void victim_##n(void) { keep = malloc(10 + n); __asm__ volatile(""); }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
int main(void)
{
    victim_0(); victim_1(); victim_2(); victim_3();
    victim_4(); victim_5(); victim_6(); victim_7();
    return 0;
}
END
ok 'a program is built' gcc -O1 -o prog prog.c
long=$(printf '%*s' 1000000 '' | tr ' ' x)
{
    printf 'victim_0 </title><script>alert(1)</script>\n'
    printf 'victim_1 semi;colon\n'
    printf 'victim_2 quote"and'\''back\\slash\n'
    printf 'victim_3 bad\xff\xfe\xc0utf8\n'
    printf 'victim_4 esc\x1b[31mred\x07bell\n'
    printf 'victim_5 %s\n' "$long"
    printf 'victim_6 \xe2\x80\xa8line\xc2\x85sep\n'
    printf 'victim_7 _ZN4evilIS9_Evv\n'
} >rename
# Each on its own: a name objcopy cannot take must not hide the others.
while read -r old new; do
    printf '%s %s\n' "$old" "$new" >one
    objcopy --redefine-syms=one prog renamed && mv renamed prog
done <rename
record '' ./prog
run_expect_status 0 'it folds' "$FLAME" fold t.flame
sed -n 's/^prog;.*;main;//p' out >leaves
is_int "$(wc -l <leaves)" 8 'a line for each function'
is_int "$(grep -c '^.* 1[0-7]$' leaves)" 8 'each with its count'
file_has leaves '^</title><script>alert\(1\)</script> 10$' 'markup is text'
file_has leaves '^semi:colon 11$' 'a semicolon becomes a colon'
file_has leaves '^quote"and'"'"'back\\slash 12$' 'quotes stay'
file_has leaves '^bad.*utf8 13$' 'bytes that are no UTF-8'
ok 'are UTF-8 now' python3 -c 'open("leaves", encoding="utf-8", errors="strict").read()'
file_has leaves '^esc \[31mred bell 14$' 'control characters are blanks'
ok 'a name of a megabyte is whole' grep -qx 'x\{5000\}x* 15' leaves
is_int "$(awk '/^xxx/ { print length($1) }' leaves)" 1000000 'to the letter'
file_has leaves '^_ZN4evilIS9_Evv 17$' 'what cannot be demangled stays'
run_expect_status 0 'and it can be drawn' sh -c "'$FLAME' fold t.flame | '$FLAME' render >out.svg"
ok 'as XML' python3 -c 'import xml.dom.minidom as m; m.parse("out.svg")'

done_testing
