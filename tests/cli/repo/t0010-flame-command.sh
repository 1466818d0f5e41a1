#!/bin/bash
# The command table: help, version, errors of an unknown command.
. "${0%/*}/../lib.sh"

run_expect_status 0 'flame --help succeeds' "$FLAME" --help
file_has out '^usage: flame' 'flame --help prints the usage on standard output'
is_str "$(cat err)" '' 'flame --help prints nothing on standard error'
run_expect_status 0 'flame help succeeds' "$FLAME" help
run_expect_status 0 'flame --version succeeds' "$FLAME" --version
like "$(cat out)" '^flame [0-9]+\.[0-9]+\.[0-9]+$' 'flame --version prints one line'
listed=$(sed -nE 's/^(## \[|The next release is )([0-9]+(\.[0-9]+)+).*/\2/p' "$ROOT/CHANGELOG.md" | head -1)
is_str "$listed" "$(sed 's/flame //' out)" \
    'CHANGELOG.md has the version of flame --version as the next release or the newest'
run_expect_status 2 'flame without a command ends with status 2' "$FLAME"
file_has err '^usage: flame' 'flame without a command prints the usage on standard error'
is_str "$(cat out)" '' 'flame without a command prints nothing on standard output'
# A newcomer's screen: what, how, how much. The costs are measured ones.
ok 'flame without a command prints at most 24 lines' test "$(wc -l <err)" -le 24
is_str "$(grep -E '.{81}' err)" '' 'flame without a command prints lines of at most 80 columns'
file_has err '^  \$ flame run -o app\.html -- \./app' 'flame without a command has a first command'
# bench ROW REGEX: what the group of REGEX is in that row of bench/README.md.
bench() { sed -nE "/^\\| $1/s/.*$2.*/\\1/p" "$ROOT/bench/README.md"; }
mem=$(bench 'CPU time: jq, sqlite3, CPython, cc1 \(mean\)' '\| ([0-9.]+); sampled')
sampled=$(bench 'CPU time: jq, sqlite3, CPython, cc1 \(mean\)' 'sampled ([0-9.]+) ')
leak=$(bench 'leak check, 40 test cases in one process' '\| ([0-9.]+) \| Leak')
postgres=$(bench 'PostgreSQL' 'in-process ([0-9.]+);')
nginx=$(bench 'nginx' 'in-process ([0-9.]+ and [0-9.]+);')
is_str "$(sed -n '/^Cost/,/^More/p' err | xargs -d '\n' | sed 's/, with -p .*//')" \
    "Cost, times a plain run: mem $mem, with --sample 512k $sampled; leak $leak; off $postgres to ${nginx#* and }" \
    'flame without a command has the costs of bench/README.md'
for cost in "flame mem .*\| $mem times.* $sampled " "flame off .*PostgreSQL $postgres, nginx $nginx times" "flame leak .*\| $leak times"; do
    like "$(head -n 60 "$ROOT/README.md")" "$cost" 'README.md has the costs of bench/README.md'
done
for word in 'flame mem' 'flame off' 'flame leak' 'flame run' 'flame live' 'docs/languages.md' 'docs/services.md' 'docs/img/' \
    '## Install'; do
    like "$(head -n 60 "$ROOT/README.md")" "$word" "README.md: its first screen has $word"
done
run_expect_status 2 'flame with an unknown command ends with status 2' "$FLAME" "$(printf 'fr\x1by')"
is_str "$(cat err)" "flame: unknown command 'fr\x1by'; 'flame help' lists them" \
    'flame with an unknown command names it without control characters'

"$FLAME" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
ok 'flame help lists commands' test -s commands
while read -r command; do
    run_expect_status 0 "flame $command --help succeeds" "$FLAME" "$command" --help
    file_has out "^usage: flame $command" "flame $command --help prints the usage on standard output"
    is_str "$(cat err)" '' "flame $command --help prints nothing on standard error"
    run_expect_status 2 "flame $command --no-such-option ends with status 2" \
        "$FLAME" "$command" --no-such-option
    is_int "$(wc -l <err)" 1 "flame $command --no-such-option prints one line"
    file_has err 'no-such-option' "flame $command --no-such-option names the option"
    ok "flame-$command(1) exists" test -r "$ROOT/man/flame-$command.1"
done <commands

# mdoc treats an argument of punctuation alone as the end of the sentence: "jq ." became
# "jq." in an example.
eaten=$(grep -nE '^\.(Dl|D1) .* [.,:;!?] ' "$ROOT"/man/*)
is_str "$eaten" '' 'no command in a manual page loses a dot'

done_testing
