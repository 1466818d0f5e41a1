#!/bin/bash
# Names from outside: markup, controls, broken UTF-8, a megabyte of them.
. "${0%/*}/../lib.sh"

# shellcheck disable=SC2317 # called through ok
well_formed() {
    python3 - "$1" <<'END'
import sys, xml.etree.ElementTree as tree
doc = tree.parse(sys.argv[1]).getroot()
# By local names: a script of another namespace runs as well.
def named(name, elements=None):
    return [e for e in (doc.iter() if elements is None else elements) if e.tag.rpartition("}")[2] == name]
assert len(named("script")) == 1
assert len(named("style")) == 1
assert not named("image")
links = named("a")
assert links == [link for e in doc.iter() if e.get("id") == "findings" for link in named("a", e)]
for link in links:
    assert link.get("href").startswith("#") and len(link.attrib) == 1
END
}

{
    printf 'main;</title><script>alert(1)</script> 5\n'
    printf 'main;]]></style><svg onload=alert(1)> 5\n'
    printf 'main;"onmouseover="alert(1) 5\n'
    printf "main;'&amp;&#x41; 5\n"
    printf 'main;\033[31mred\007\001\177 5\n'
    printf 'main;\377\300\257\355\240\200\364\220\200\200 5\n'
    printf 'main;nul\000inside 5\n'
    printf 'main;\342\200\256gnp.exe 5\n'
    printf 'main;\357\277\276 5\n'
} >hostile
run_expect_status 0 'render of hostile names succeeds' "$FLAME" render hostile
cp out hostile.svg
ok 'hostile names make well-formed XML with one script' well_formed hostile.svg
file_has hostile.svg '&lt;/title&gt;&lt;script&gt;alert\(1\)' 'markup in a name is escaped'
not_ok 'hostile names leave no control characters' grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' hostile.svg
ok 'hostile names make valid UTF-8' iconv -f UTF-8 -t UTF-8 hostile.svg

python3 -c 'print("main;" + "x" * 1000000 + ";leaf 5")' >long
run_expect_status 0 'render of a name of a megabyte succeeds' "$FLAME" render long
ok 'a name of a megabyte makes a small picture' test "$(wc -c <out)" -lt 50000
file_has out '<title>x*… \(5 samples' 'the tooltip of a name of a megabyte is truncated'

python3 -c 'print("f;" * 100000 + "leaf 5")' >deep
run_expect_status 0 'render of a stack of 100,000 frames succeeds' "$FLAME" render deep
ok 'the picture of a stack of 100,000 frames is well-formed' well_formed out
run_expect_status 0 'top of a stack of 100,000 frames succeeds' "$FLAME" top deep

run "$FLAME" top hostile
not_ok 'top of hostile names prints no raw control characters' \
    grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out
file_has out '\\x1b\[31mred\\x07\\x01\\x7f' 'top shows control characters escaped'
file_has out '\\u\{202e\}gnp' 'top shows a character that changes the direction of text escaped'

done_testing
