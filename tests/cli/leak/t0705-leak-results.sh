#!/bin/bash
# flame leak: a directory of results that no run overwrites, and errors before
# the command runs.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/refused.sh"
compile_victim leakers -O0 -pthread

files() { find "$1" -type f | sed 's|.*/||' | sort | tr '\n' ' '; }
runs() { find "$1" -mindepth 1 -maxdepth 1 | wc -l; }

run_expect_status 23 'flame leak -o of a missing directory ends with status 23' \
    "$FLAME" leak -o results/ -- ./leakers
is_str "$(files results)" 'leak.folded leak.html leak.json leak.svg ' \
    'flame leak -o of a missing directory writes four results'
like "$(ls results)" '^leakers-[0-9]{8}T[0-9]{6}Z-[0-9]+$' 'a directory of results has name, time and process'
like "$(tail -1 err)" "leak: all of them in results/$(ls results)/leak.html, .svg, .folded and .json$" \
    'the last line names the directory of results'
file_has results/*/leak.folded 'worker_leaks 5000$' 'a directory of results has folded text'
file_has results/*/leak.svg 'chain_leaks' 'a directory of results has a picture'
file_has results/*/leak.html 'chain_leaks' 'a directory of results has a page'
file_has results/*/leak.json '"function": "chain_leaks"' 'a directory of results has leak.json'
run_expect_status 23 'flame leak -o of an existing directory ends with status 23' \
    "$FLAME" leak -o results --name 'suite: a/b "c"' -- ./leakers
is_int "$(runs results)" 2 'an existing directory gets a second result'
is_int "$(find results -name 'suite__a_b__c_-*' -type d | wc -l)" 1 \
    'a directory of results has the sanitized name'
run_expect_status 23 'flame leak --name with a path ends with status 23' \
    "$FLAME" leak -o results --name '../../x' -- ./leakers
is_int "$(runs results)" 3 'a name with a path stays within the directory'
run_expect_status 0 'flame leak -o clean/ without leaks ends with status 0' \
    "$FLAME" leak -o clean/ -- ./leakers many:0
not_ok 'flame leak -o clean/ without leaks creates no directory' test -e clean
run_expect_status 5 'flame leak -o of a command that fails ends with its status' \
    "$FLAME" leak -o failed/ -- ./leakers fail
is_str "$(files failed)" 'leak.folded leak.html leak.json leak.svg ' \
    'a command that fails with leaks leaves results'

# One test many times at once: the same name in the same second.
printf '%s\n' 1 2 3 4 5 6 7 8 | xargs -P 8 -I @ "$FLAME" leak -q -o many/ --tap many -- ./leakers 2>many.err
is_int "$(find many -name leak.json -size +0 | wc -l)" 8 'eight runs at once leave eight results'
is_int "$(find many -name '*.tap' -size +0 | wc -l)" 8 'eight runs at once leave eight reports'
is_int "$(find many -name '*tmp*' | wc -l)" 0 'eight runs at once leave no partial file'
# Without a difference in time and process: name spaces have the same process numbers.
fresh=$(date -u +%s)
mkdir taken
for second in $(seq "$fresh" $((fresh + 30))); do
    for pid in 1 2 3; do mkdir "taken/leakers-$(date -u -d "@$second" +%Y%m%dT%H%M%SZ)-$pid"; done
done
before=$(runs taken)
if unshare -Urpf true 2>/dev/null; then
    unshare -Urpf "$FLAME" leak -q -o taken -- ./leakers 2>err
    is_int "$(runs taken)" $((before + 1)) 'a name that is in use is not used again'
else
    skip pid-namespace 'no name spaces for processes here'
fi

# ---- errors ----

refused 'a directory in a missing one' 'none/dir/: cannot write: No such file' leak -o none/dir/ -- ./touch.sh
echo text >file
refused 'a file as a directory' 'file/: cannot write: Not a directory' leak -o file/ -- ./touch.sh
refused 'a directory below a file' 'file/dir/: cannot write: Not a directory' leak -o file/dir/ -- ./touch.sh
is_str "$(cat file)" text 'a file named as a directory is unchanged'
refused 'a file system that takes no files' '/proc/: cannot write: ' leak -o /proc/ -- ./touch.sh
refused 'a report in a file system that takes no files' '/proc/x.tap: cannot write: ' leak --tap /proc/x.tap -- ./touch.sh
refused 'a report in a missing directory' 'none/x.xml: cannot write: No such file' leak --junit none/x.xml -- ./touch.sh
refused 'a report below a file' 'file/x.xml: cannot write: Not a directory' leak --sarif file/x.xml -- ./touch.sh
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 0555 locked
    refused 'an unwritable directory' 'locked: cannot write: Permission denied' leak -o locked -- ./touch.sh
    refused 'a report in an unwritable directory' 'locked/x: cannot write: Permission denied' leak --json locked/x -- ./touch.sh
fi
refused 'two formats in one file' '--tap x, --junit x: one file for two formats; name two' \
    leak --junit x --tap x -- ./touch.sh
refused 'two formats in one file by two names' '--tap ./file, --junit file: one file for two formats' \
    leak --tap ./file --junit file -- ./touch.sh
refused 'two formats on standard output' '--tap -, --github -: one file for two formats' \
    leak --tap - --github - -- ./touch.sh
refused 'a report in the file of the picture' '-o x.folded, --json x.folded: one file for two results' \
    leak -o x.folded --json x.folded -- ./touch.sh
refused 'a missing command' 'no-such-command: no such program in PATH' \
    leak -o gone/ --tap gone.tap -- no-such-command
not_ok 'a missing command leaves no directory' test -e gone
not_ok 'a missing command leaves no report' test -e gone.tap
printf 'int main(void) { return 0; }\n' >nothing.c
if "${CC:-gcc}" -static -o static nothing.c 2>/dev/null; then
    refused 'a static program' 'linked statically' leak -o x.svg -- ./static
else
    skip static 'no static C library here'
fi
if "${CC:-gcc}" -fsanitize=address -o asan nothing.c 2>/dev/null; then
    refused 'a program with AddressSanitizer' 'built with a sanitizer' leak -o x.svg -- ./asan
fi
if "${CC:-gcc}" -fsanitize=leak -o lsan nothing.c 2>/dev/null; then
    refused 'a program with LeakSanitizer' 'LeakSanitizer, which keeps' leak -o x.svg -- ./lsan
fi
# A directory becomes unwritable while the command runs.
run_expect_status 1 'flame leak with a directory that disappears ends with status 1' \
    "$FLAME" leak --tap there/ -- sh -c 'echo text >there'
file_has err 'there/: cannot write: ' 'flame leak with a directory that disappears says so'
is_str "$(cat there)" text "a file in place of a report's directory is unchanged"

done_testing
