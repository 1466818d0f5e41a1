#!/bin/bash
# flame render takes title, unit and palette from the "# flame:" line.
. "${0%/*}/../lib.sh"

text() {
    printf '# flame: view=%s unit=%s\nmain;f 1572864\nmain;g 512\n' "$1" "$2"
}

run_expect_status 0 'render of a live view succeeds' "$FLAME" render < <(text live bytes)
cp out live.svg
file_has out '>Memory live at the end</text>' 'a live view has its title'
file_has out 'f \(1\.50 MiB, 1,572,864 bytes, 99\.97%\)' 'bytes are shown in human and exact form'
file_has out 'g \(512 bytes, 0\.03%\)' 'bytes below 1 KiB are shown once'
run "$FLAME" render --colors mem < <(text live bytes)
ok 'a view of memory has the palette mem' cmp out live.svg
run "$FLAME" render < <(text count calls)
file_has out '>Allocation calls</text>' 'a view of calls has its title'
file_has out 'f \(1,572,864 calls, ' 'a view of calls has its unit'
for view in alloc peak temp; do
    run "$FLAME" render < <(text $view bytes)
    file_lacks out '>Flame Graph</text>' "the view $view has its own title"
done
run "$FLAME" render < <(text 'brandnew' '</title><script>')
file_has out '>Flame Graph</text>' 'an unknown view has the default title'
file_lacks out '</title><script>' 'a hostile unit is escaped'
run "$FLAME" render --title T --countname C --colors hot < <(text live bytes)
file_has out '>T</text>' "--title overrides the view's title"
file_has out 'f \(1,572,864 C, ' "--countname overrides the view's unit"
not_ok "--colors overrides the view's palette" cmp -s out live.svg

run_expect_status 0 'render of two counts succeeds' \
    "$FLAME" render < <(printf 'a;b 10 30\na;c 40 10\na;d 10 10\n')
file_has out 'b \(30 samples, 60\.00%; \+33\.33% of all before\)' \
    'two counts: the second is the width, growth is in the tooltip'
file_has out 'c \(10 samples, 20\.00%; -50\.00% of all before\)' 'two counts: decline is in the tooltip'
fill_of() {
    sed -n "s/.*<title>$1 .*fill=\"\(#[0-9a-f]*\)\".*/\1/p" out
}
is_str "$(fill_of b)" '#fc9769' 'two counts: growth is orange-red'
is_str "$(fill_of c)" '#3fb3ff' 'two counts: decline is blue'

run "$FLAME" render < <(printf 'a 9007199254740993\n')
file_has out '9,007,199,254,740,993 samples' 'counts beyond 2^53 are exact'

done_testing
