#!/bin/bash
# flame leak: the class of every block of the cases in tests/victims/leak/kinds_*.c: pointers to
# blocks and within them, roots, threads in each stage of life, ends and children.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/leak.sh"

for name in blocks roots threads ends; do
    build_kinds $name -ldl -lrt
    check_kinds ./kinds_$name
done
ok 'the cases are more than a hundred' test \
    "$(for name in blocks roots threads ends; do ./kinds_$name --list; done | wc -l)" -gt 100

run_expect_status 23 'a pointer with a tag in its high bits is none: status 23' \
    "$FLAME" leak -q -- ./kinds_blocks tagged_high
run_expect_status 0 '--tagged-pointers accepts tags in pointers: status 0' \
    "$FLAME" leak -q --tagged-pointers -- ./kinds_blocks tagged_high tagged_low
is_str "$(FLAMEMEM_OPTIONS=tagged=1 judged ./kinds_blocks tagged_low tagged_high | known ./kinds_blocks)" \
    'definite_tagged_high reachable
inner_tagged_low reachable' 'tagged=1 accepts tags in pointers to the start of a block'
run_expect_status 23 '--tagged-pointers does not accept an inverted pointer' \
    "$FLAME" leak -q --tagged-pointers -- ./kinds_blocks inverted

# docs/leaks.md compares flame with other tools; its column of flame is checked here.
while read -r block class; do
    is_str "${block%%_*}" "$class" "docs/leaks.md has the class of $block"
    ok "$block of docs/leaks.md is in the cases" grep -qrw -- "$block" kinds_rows
done < <(
    {
        for name in blocks roots threads ends; do ./kinds_$name --list; done
        cat "$ROOT/tests/victims/leak/kinds_cxx.cc"
    } >kinds_rows
    sed -n '/^### Beside LeakSanitizer and memcheck/,/^## /p' "$ROOT/docs/leaks.md" |
        awk -F ' [|] ' '/^[|] [a-z]+_/ {
            n = split(substr($1, 3), blocks, ", ")
            m = split($2, classes, ", ")
            for (i = 1; i <= n; i++)
                print blocks[i], classes[m == n ? i : 1]
        }'
)

done_testing
