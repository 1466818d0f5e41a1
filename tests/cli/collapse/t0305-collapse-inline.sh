#!/usr/bin/env bash
# perf script --inline: functions inlined at an address, from the debug information.
. "${0%/*}/../lib.sh"

cat >app.c <<'EOF'
volatile int sink;
static inline __attribute__((always_inline)) void leaf(int i)
{
    sink += i; /* line 4 */
}
static inline __attribute__((always_inline)) void middle(int i)
{
    leaf(i); /* line 8 */
}
__attribute__((noinline)) void work(int n)
{
    middle(n); /* line 12 */
}
int main(void)
{
    work(1);
    return 0;
}
EOF

# The address of the instruction that stores to sink, and work's own.
kinds='pie no-pie'
for kind in $kinds; do
    "${CC:-gcc}" -O1 -g -fcf-protection=none "-$kind" -o "$kind" app.c || exit 1
done
# Output of gcc 10.
if [ "$(uname -m)" = x86_64 ]; then
    gcc -no-pie -o gcc10 "$ROOT/tests/victims/collapse/gcc10_inlines.s" || exit 1
    kinds="$kinds gcc10"
fi
for kind in $kinds; do
    start=$(nm "$kind" | awk '$3 == "work" { print $1 }')
    offset=$(objdump -d --disassemble=work "$kind" | awk '/sink/ { sub(":", "", $1); print $1; exit }')
    offset=$((0x$offset - 0x$start))
    pc=$((0x$start + offset))
    [ "$kind" != pie ] || pc=$((pc + 0x555500000000))
    printf 'app 1/1 1.0: 1 cycles:\n\t%x work+0x%x (%s)\n\t1 main+0x9 ([kernel.kallsyms])\n\n' \
        "$pc" "$offset" "$PWD/$kind" >"$kind.txt"
    is_str "$("$FLAME" collapse --inline "$kind.txt")" 'app;main;work;middle;leaf 1' "perf --inline of $kind"
    is_str "$("$FLAME" collapse --inline --context "$kind.txt")" \
        'app;main;work:app.c:12;middle:app.c:8;leaf:app.c:4 1' "perf --inline of $kind, with lines"
    is_str "$("$FLAME" collapse "$kind.txt")" 'app;main;work 1' "perf --inline of $kind, not asked for"
done
sed "s#$PWD/pie#/nowhere/pie#" pie.txt >gone.txt
is_str "$("$FLAME" collapse --inline gone.txt)" 'app;main;work 1' 'perf --inline: a missing module'

done_testing
