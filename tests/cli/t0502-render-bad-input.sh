#!/bin/bash
# What flame render and flame top refuse: one line, status 2, no file left.
. "${0%/*}/lib.sh"

refused() {
    local name=$1 pattern=$2
    shift 2
    run "$@"
    is_int "$status" 2 "$name: status 2"
    is_int "$(wc -l <err)" 1 "$name: one line"
    file_has err "$pattern" "$name: says what"
    is_str "$(cat out)" '' "$name: nothing on standard output"
}

printf 'main;f 1\n' >good
printf 'main;f\nnonsense\n' >bad
printf '# only a comment\n\n' >comments
: >empty
echo '# flame: view=live unit=bytes' >view-only
printf 'main;f 0\n' >zero

for command in render top; do
    refused "$command bad" "^flame: bad: no stack in 2 lines" "$FLAME" "$command" bad
    refused "$command empty" "^flame: empty: no stack" "$FLAME" "$command" empty
    refused "$command comments" "^flame: comments: no stack" "$FLAME" "$command" comments
    refused "$command zero" "every count is 0" "$FLAME" "$command" zero
    refused "$command missing" "no-such-file: No such file" "$FLAME" "$command" no-such-file
    refused "$command directory" "^flame: \.: " "$FLAME" "$command" .
    refused "$command second file" "^flame: bad: no stack" "$FLAME" "$command" good bad
    refused "$command empty view" "view-only: the live view is empty" "$FLAME" "$command" view-only
    refused "$command empty pipe" "^flame: standard input: no stack" "$FLAME" "$command" </dev/null
done
refused 'top sort' 'self, total or name' "$FLAME" top --sort size good
refused 'top rows' 'expected a number' "$FLAME" top -n -3 good
refused 'format' "unknown format 'gif'; there are: svg" "$FLAME" render -f gif good
refused 'palette' "unknown palette 'beige'; there are: hot mem" "$FLAME" render --colors beige good
refused 'width' '\-\-width 0:' "$FLAME" render --width 0 good
refused 'width text' '\-\-width wide:' "$FLAME" render --width wide good
refused 'width nan' '\-\-width nan:' "$FLAME" render --width nan good
refused 'minwidth' '\-\-minwidth 200%:' "$FLAME" render --minwidth 200% good
refused 'no such directory' 'no/such/o.svg: No such file or directory' \
    "$FLAME" render -o no/such/o.svg good

run "$FLAME" render -o o.svg bad
ok 'no output of a bad input' test ! -e o.svg
is_str "$(echo o.svg*)" 'o.svg*' 'nor a part of it'
echo old >o.svg
run "$FLAME" render -o o.svg bad
is_str "$(cat o.svg)" old 'an older output stays'

printf 'main;f 1\nwhat\nmain;g 2\n' >some
run_expect_status 0 'one wrong line among good ones' "$FLAME" render -o o.svg some
is_str "$(cat err)" 'flame: some: 1 of 3 lines not understood and left out, the first is line 2' \
    'is counted in a warning'
if [ -w /dev/full ]; then
    "$FLAME" render good >/dev/full 2>err
    is_int $? 1 'a full disk is noticed'
    file_has err 'No space left' 'and named'
fi

done_testing
