#!/bin/bash
# Errors of flame render and flame top: one line, status 2, no file left. Empty input is no error:
# it is an empty profile, and its picture has that text.
. "${0%/*}/../lib.sh"

refused() {
    local name=$1 pattern=$2
    shift 2
    run "$@"
    is_int "$status" 2 "$name: the command ends with status 2"
    is_int "$(wc -l <err)" 1 "$name: the command prints one line"
    file_has err "$pattern" "$name: the error says why"
    is_str "$(cat out)" '' "$name: nothing is on standard output"
}

printf 'main;f 1\n' >good
printf 'main;f\nnonsense\n' >bad
printf '# only a comment\n\n' >comments
: >empty
echo '# flame: view=live unit=bytes' >view-only
printf 'main;f 0\n' >zero

for command in render top; do
    refused "$command bad" "^flame: bad: 2 of 2 lines are no folded stacks, .*; the first is line 1: main;f$" "$FLAME" "$command" bad
    refused "$command zero" "every count is 0" "$FLAME" "$command" zero
    refused "$command missing" "^flame: no-such-file: cannot read: No such file" "$FLAME" "$command" no-such-file
    refused "$command directory" "^flame: \.: cannot read: Is a directory; name a file in it" "$FLAME" "$command" .
    refused "$command second file" "^flame: bad: 2 of 2 lines are no folded stacks" "$FLAME" "$command" good bad
done

empty() { # NAME WORDS COMMAND...
    local name=$1 words=$2
    shift 2
    run_expect_status 0 "$name: the command ends with status 0" "$@"
    is_str "$(cat err)" "flame: $words" "$name: the command says that the profile is empty"
}
for command in render top; do
    empty "$command empty" 'empty: the profile is empty' "$FLAME" "$command" empty
    empty "$command comments" 'comments: the profile is empty' "$FLAME" "$command" comments
    empty "$command several" 'empty: the profile is empty' "$FLAME" "$command" empty comments
    empty "$command empty view" 'view-only: the live view is empty' "$FLAME" "$command" view-only
    empty "$command empty pipe" 'standard input: the profile is empty' "$FLAME" "$command" </dev/null
done
gzip -c empty >empty.gz
empty 'top of a packed empty file' 'empty.gz: the profile is empty' "$FLAME" top empty.gz
is_str "$(cat out)" 'All: 0 samples; 0 symbols
      self    self%       total   total%  symbol' 'top of an empty profile prints a table without rows'
empty 'top --tree of an empty file' 'empty: the profile is empty' "$FLAME" top --tree empty
for way in '' --reverse --inverted --flamechart '--minwidth 1%' '--total 5'; do
    # shellcheck disable=SC2086 # words
    empty "render $way of an empty file" 'empty: the profile is empty' "$FLAME" render $way -o empty.svg empty
    file_has empty.svg '>the profile is empty</text>' "render $way of an empty file: the picture says so"
    file_lacks empty.svg 'nan|inf' "render $way of an empty file: the picture has only finite numbers"
done
empty 'render of an empty view' 'view-only: the live view is empty' \
    "$FLAME" render --subtitle ./app -o empty.svg view-only
file_has empty.svg '>./app .* the live view is empty</text>' 'render of an empty view: the picture says so'
empty 'render -f html of an empty view' 'view-only: the live view is empty' "$FLAME" render -f html view-only
file_has out '"subtitle":"the live view is empty"' 'render -f html of an empty view: the page says so'
empty 'render -f png of an empty file' 'empty: the profile is empty' "$FLAME" render -f png -o empty.png empty
ok 'render -f png of an empty file writes a picture' test -s empty.png
for format in folded pprof otlp speedscope d3 grafana firefox chrome callgrind massif text csv; do
    empty "render -f $format of an empty file" 'empty: the profile is empty' "$FLAME" render -f "$format" -o "empty.$format" empty
    case $format in
    folded) is_int "$(wc -c <empty.folded)" 0 'render -f folded of an empty file is empty' ;;
    chrome | massif) ok "$format of an empty profile is read by collapse" "$FLAME" collapse "empty.$format" ;;
    d3 | grafana | firefox | speedscope | pprof | otlp | csv | callgrind)
        ok "$format of an empty profile is well-formed" \
            python3 "$ROOT/tests/cli/export_read.py" "$format" "empty.$format"
        is_str "$(python3 "$ROOT/tests/cli/export_read.py" "$format" "empty.$format")" '' \
            "$format of an empty profile has no stacks" ;;
    esac
done

"$FLAME" render -o picture.svg good
"$FLAME" render -o page.html good
"$FLAME" render -o pixels.png good
for command in render top 'fold' 'collapse' 'diff good'; do
    for file in 'picture.svg: is a picture \(SVG\)' 'page.html: is a page \(HTML\)' \
        'pixels.png: is a picture \(PNG\)'; do
        # shellcheck disable=SC2086 # diff has two arguments
        refused "$command ${file%%:*}" "^flame: $file, which has no stacks to read; take the trace" \
            "$FLAME" $command "${file%%:*}"
    done
    # shellcheck disable=SC2086
    refused "$command a program" '^flame: .*/flame: is a program' "$FLAME" $command "$FLAME"
done

refused 'top sort' 'self, total, name, self-change, change, size, lived, young, p50, p95, p99, max, rate or total-rate' "$FLAME" top --sort sizes good
refused 'top sort of lifetimes' 'of traces with lifetimes' "$FLAME" top --sort size good
refused 'top rows' 'expected a number' "$FLAME" top -n -3 good
refused 'format' '\-f gif: expected svg, html, .* or csv' "$FLAME" render -f gif good
refused 'palette' '\-\-colors beige: expected hot, mem, .* or hotcold' "$FLAME" render --colors beige good
refused 'width' '\-\-width 0:' "$FLAME" render --width 0 good
refused 'width text' '\-\-width wide:' "$FLAME" render --width wide good
refused 'width nan' '\-\-width nan:' "$FLAME" render --width nan good
refused 'minwidth' '\-\-minwidth 200%:' "$FLAME" render --minwidth 200% good
refused 'no such directory' '^flame: no/such/o.svg: cannot write: No such file or directory' \
    "$FLAME" render -o no/such/o.svg good

run "$FLAME" render -o o.svg bad
ok 'render of a bad input writes no output' test ! -e o.svg
is_str "$(echo o.svg*)" 'o.svg*' 'render of a bad input writes no partial output'
echo old >o.svg
run "$FLAME" render -o o.svg bad
is_str "$(cat o.svg)" old 'render of a bad input keeps an older output'

printf 'main;f 1\nwhat\nmain;g 2\n' >some
run_expect_status 0 'render of one wrong line among good ones succeeds' "$FLAME" render -o o.svg some
is_str "$(cat err)" 'flame: some: 1 of 3 lines not understood and left out, the first is line 2' \
    'one wrong line among good ones is counted in a warning'
if [ -w /dev/full ]; then
    "$FLAME" render good >/dev/full 2>err
    is_int $? 1 'render on a full disk ends with status 1'
    file_has err 'No space left' 'render on a full disk says so'
fi

done_testing
