#!/bin/bash
# The command table: help, version, what is wrong with a wrong command.
. "${0%/*}/../lib.sh"

run_expect_status 0 'flame --help' "$FLAME" --help
file_has out '^usage: flame' 'help is on standard output'
is_str "$(cat err)" '' 'and nothing on standard error'
run_expect_status 0 'flame help' "$FLAME" help
run_expect_status 0 'flame --version' "$FLAME" --version
like "$(cat out)" '^flame [0-9]+\.[0-9]+\.[0-9]+$' 'the version is one line'
listed=$(sed -nE 's/^(## \[|The next release is )([0-9]+(\.[0-9]+)+).*/\2/p' "$ROOT/CHANGELOG.md" | head -1)
is_str "$listed" "$(sed 's/flame //' out)" 'CHANGELOG.md has this version as the next release or the newest'
run_expect_status 2 'no command' "$FLAME"
file_has err '^usage: flame' 'usage is on standard error'
is_str "$(cat out)" '' 'and nothing on standard output'
run_expect_status 2 'an unknown command' "$FLAME" "$(printf 'fr\x1by')"
is_str "$(cat err)" "flame: unknown command 'fr\x1by'; 'flame help' lists them" \
    'is named, without its control characters'

"$FLAME" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
ok 'there are commands' test -s commands
while read -r command; do
    run_expect_status 0 "flame $command --help" "$FLAME" "$command" --help
    file_has out "^usage: flame $command" "$command's help is on standard output"
    is_str "$(cat err)" '' "and nothing on standard error"
    run_expect_status 2 "flame $command --no-such-option" "$FLAME" "$command" --no-such-option
    is_int "$(wc -l <err)" 1 'one line says what is wrong'
    file_has err 'no-such-option' 'it names the option'
    ok "flame-$command(1) exists" test -r "$ROOT/man/flame-$command.1"
done <commands

# mdoc takes an argument that is nothing but punctuation for the sentence's: "jq ." became
# "jq." in an example.
eaten=$(grep -nE '^\.(Dl|D1) .* [.,:;!?] ' "$ROOT"/man/*)
is_str "$eaten" '' 'no command in a manual page loses a dot'

done_testing
