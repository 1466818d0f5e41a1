#!/bin/bash
# flame render takes title, unit and palette from the "# flame:" line.
. "${0%/*}/../lib.sh"

text() {
    printf '# flame: view=%s unit=%s\nmain;f 1572864\nmain;g 512\n' "$1" "$2"
}

run_expect_status 0 'a live view' "$FLAME" render < <(text live bytes)
cp out live.svg
file_has out '>Memory live at the end</text>' 'its title'
file_has out 'f \(1\.50 MiB, 1,572,864 bytes, 99\.97%\)' 'bytes in human and exact form'
file_has out 'g \(512 bytes, 0\.03%\)' 'few bytes once'
run "$FLAME" render --colors mem < <(text live bytes)
ok 'mem is the palette' cmp out live.svg
run "$FLAME" render < <(text count calls)
file_has out '>Allocation calls</text>' 'calls have their title'
file_has out 'f \(1,572,864 calls, ' 'and their unit'
for view in alloc peak temp; do
    run "$FLAME" render < <(text $view bytes)
    file_lacks out '>Flame Graph</text>' "$view has a title of its own"
done
run "$FLAME" render < <(text 'brandnew' '</title><script>')
file_has out '>Flame Graph</text>' 'an unknown view has the plain title'
file_lacks out '</title><script>' 'a hostile unit is harmless'
run "$FLAME" render --title T --countname C --colors hot < <(text live bytes)
file_has out '>T</text>' 'options win: title'
file_has out 'f \(1,572,864 C, ' 'unit'
not_ok 'palette' cmp -s out live.svg

run_expect_status 0 'two counts' "$FLAME" render < <(printf 'a;b 10 30\na;c 40 10\na;d 10 10\n')
file_has out 'b \(30 samples, 60\.00%; \+33\.33% of all before\)' 'width by the second, growth in the tooltip'
file_has out 'c \(10 samples, 20\.00%; -50\.00% of all before\)' 'and shrinkage'
fill_of() {
    sed -n "s/.*<title>$1 .*fill=\"\(#[0-9a-f]*\)\".*/\1/p" out
}
is_str "$(fill_of b)" '#fc9769' 'growth is orange-red'
is_str "$(fill_of c)" '#3fb3ff' 'less is blue'

run "$FLAME" render < <(printf 'a 9007199254740993\n')
file_has out '9,007,199,254,740,993 samples' 'counts beyond 2^53 are exact'

done_testing
