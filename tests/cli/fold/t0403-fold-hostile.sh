#!/bin/bash
# flame fold: hostile symbol names.
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
ok 'prog is built' gcc -O1 -o prog prog.c
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
# One at a time: a name that objcopy rejects must not prevent the others.
while read -r old new; do
    printf '%s %s\n' "$old" "$new" >one
    objcopy --redefine-syms=one prog renamed && mv renamed prog
done <rename
record '' ./prog
run_expect_status 0 'fold of hostile names succeeds' "$FLAME" fold t.flame
sed -n 's/^prog;.*;main;//p' out >leaves
is_int "$(wc -l <leaves)" 8 'fold of hostile names has a line for each function'
is_int "$(grep -c '^.* 1[0-7]$' leaves)" 8 'fold of hostile names has each count'
file_has leaves '^</title><script>alert\(1\)</script> 10$' 'markup in a name is plain text'
file_has leaves '^semi:colon 11$' 'a semicolon in a name becomes a colon'
file_has leaves '^quote"and'"'"'back\\slash 12$' 'quotes in a name stay'
file_has leaves '^bad.*utf8 13$' 'invalid UTF-8 in a name is replaced'
ok 'fold of hostile names prints valid UTF-8' \
    python3 -c 'open("leaves", encoding="utf-8", errors="strict").read()'
file_has leaves '^esc \[31mred bell 14$' 'control characters in a name become blanks'
ok 'a name of a megabyte is printed' grep -qx 'x\{5000\}x* 15' leaves
is_int "$(awk '/^xxx/ { print length($1) }' leaves)" 1000000 'a name of a megabyte is complete'
file_has leaves '^_ZN4evilIS9_Evv 17$' 'a name that cannot be demangled stays'
run_expect_status 0 'hostile names can be drawn' sh -c "'$FLAME' fold t.flame | '$FLAME' render >out.svg"
ok 'the picture of hostile names is well-formed XML' \
    python3 -c 'import xml.dom.minidom as m; m.parse("out.svg")'

done_testing
