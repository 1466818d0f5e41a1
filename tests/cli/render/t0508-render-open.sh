#!/bin/bash
# --open: the desktop's browser shows the result, and has nothing of the recording's environment.
. "${0%/*}/../lib.sh"

unset DISPLAY WAYLAND_DISPLAY BROWSER SSH_CONNECTION SSH_TTY SSH_CLIENT
mkdir bin
# A browser that prints its arguments and state, all at once when it is done.
cat >bin/xdg-open <<'END_SH'
#!/bin/bash
# The shell itself has its script open, as 255.
ls -l "/proc/$$/fd" >"$FAKE_OUT.fds"
cat /proc/self/status >"$FAKE_OUT.status"
{
    echo "called ${0##*/}"
    printf 'word %s\n' "$@"
    sed -nE 's/.* ([0-9]+) -> (.*)/descriptor \1 \2/p' "$FAKE_OUT.fds" | grep -v '^descriptor 255 '
    [ "$(cut -d' ' -f6 "/proc/$$/stat")" != "$FAKE_SESSION" ] && echo 'session own'
    sed -n 's/^SigBlk:[[:blank:]]*/blocked /p' "$FAKE_OUT.status"
    echo "preload ${LD_PRELOAD-none}"
    echo "options ${FLAMEMEM_OPTIONS-none}"
    grep -q libflame "/proc/$$/maps" && echo recorded
    echo end
} >"$FAKE_OUT.part"
mv "$FAKE_OUT.part" "$FAKE_OUT"
END_SH
chmod +x bin/xdg-open
cp bin/xdg-open bin/my-browser
FAKE_OUT=$SCRATCH/opened FAKE_SESSION=$(cut -d' ' -f6 /proc/$$/stat)
export FAKE_OUT FAKE_SESSION
PATH=$SCRATCH/bin:$PATH

# Output of the browser, once it is there; it comes in its own time.
opened() {
    local i
    for ((i = 0; i < 1200; i++)); do
        [ -e opened ] && break
        sleep 0.05
    done
    cat opened 2>/dev/null
    rm -f opened
}
words() {
    opened | sed -n 's/^word //p' | tr '\n' ' '
}

here=$(pwd -P)
printf 'main;parse 3\nmain;emit 2\n' >x.folded
export DISPLAY=:7

run_expect_status 0 'render --open succeeds' "$FLAME" render --open -o x.html x.folded
is_str "$(cat out err)" '' 'render --open with a browser prints nothing'
said=$(opened)
is_str "$(grep -E '^(called|word)' <<<"$said")" "called xdg-open
word file://$here/x.html" 'render --open gives the address of the page to xdg-open'
is_str "$(grep -E '^(descriptor|session|recorded|end)' <<<"$said")" 'descriptor 0 /dev/null
descriptor 1 /dev/null
descriptor 2 /dev/null
session own
end' 'the browser has no stream, descriptor or session of flame'
ok 'render --open writes the page' grep -q '</html>' x.html

run_expect_status 0 'render --open without -o succeeds' "$FLAME" render --open x.folded
is_str "$(words)" "file://$here/flame.html " 'render --open without -o opens flame.html'
is_str "$(cat out)" '' 'render --open without -o prints nothing on standard output'
run_expect_status 0 'render --open -f svg succeeds' "$FLAME" render --open -f svg <x.folded
is_str "$(words)" "file://$here/flame.svg " 'render --open -f svg opens flame.svg'
run_expect_status 0 'render --open with a name of special characters succeeds' \
    "$FLAME" render --open -o 'a b#1?%41;$(x).svg' x.folded
is_str "$(words)" "file://$here/a%20b%231%3F%2541%3B%24%28x%29.svg " \
    'render --open with a name of special characters encodes the address'

# A file that no browser shows is an error, found before a file is read.
for words in '-o y.folded' '-f pprof' '-o y.pb.gz' '-o -'; do
    # shellcheck disable=SC2086 # two words
    run_expect_status 2 "render --open $words ends with status 2" "$FLAME" render --open $words missing.folded
    file_has err '^flame: render: --open: a browser does not show .*html' \
        "render --open $words names formats that a browser shows"
done
for command in mem off run leak; do
    run_expect_status 2 "$command --open -o y.folded ends with status 2" \
        "$FLAME" "$command" --open -o y.folded touch ran
    file_has err "^flame: $command: --open: a browser does not show y.folded; " \
        "$command --open -o y.folded says why"
done
not_ok 'refused --open does not run the command' test -e ran
run_expect_status 2 'render --open of a missing file ends with status 2' "$FLAME" render --open missing.folded
not_ok 'render --open of a missing file opens no browser' test -e opened

# Recorders: the program keeps its streams and status, the browser is not recorded.
for command in mem off run; do
    run_expect_status 3 "$command --open ends with the command's status" \
        "$FLAME" "$command" --open -q sh -c 'echo mine; exit 3'
    is_str "$(cat out err)" mine "$command --open passes the command's output"
    said=$(opened)
    is_str "$(grep '^word' <<<"$said")" "word file://$here/sh-$command.html" "$command --open opens its page"
    is_str "$(grep -E '^(blocked|preload|options|recorded|end)' <<<"$said")" 'blocked 0000000000000000
preload none
options none
end' "$command --open does not record the browser"
done
run_expect_status 0 'run --open with several outputs succeeds' \
    "$FLAME" run --open -q -o r.folded -o r.svg -o r.html sh -c :
is_str "$(words)" "file://$here/r.svg " 'run --open with several outputs opens the first that a browser shows'
run_expect_status 2 'run --open with no output for a browser ends with status 2' \
    "$FLAME" run --open -q -o r.folded -o r.pb.gz true
file_has err '--open: a browser does not show r.folded' 'run --open with no output for a browser says why'

cat >leaky.c <<'END_C'
#include <stdlib.h>
void *volatile kept;
int main(void)
{
    kept = malloc(1000);
    kept = NULL;
    return 0;
}
END_C
"${CC:-cc}" -O1 -o leaky leaky.c
run_expect_status 23 'leak --open ends with status 23' "$FLAME" leak --open ./leaky
is_str "$(words)" "file://$here/leak.html " 'leak --open opens its page'
file_has err 'all of them in leak.html' 'leak --open names its page'
mkdir results
run_expect_status 23 'leak --open -o of a directory ends with status 23' \
    "$FLAME" leak --open -q -o results ./leaky
like "$(words)" "^file://$here/results/leaky-[^/]*/leak.html \$" \
    'leak --open -o of a directory opens the page in it'
run_expect_status 0 'leak --open without leaks succeeds' "$FLAME" leak --open true
not_ok 'leak --open without leaks opens nothing' test -e opened
run_expect_status 23 'leak without --open ends with status 23' "$FLAME" leak ./leaky
ok 'leak without --open draws leak.svg' test -s leak.svg

# If flame itself is recorded, the browser is not.
run_expect_status 0 'render --open in a recording succeeds' \
    env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/own.%p.flame" \
    "$FLAME" render --open -o x.html x.folded
is_str "$(opened | grep -E '^(preload|options|recorded|end)')" 'preload none
options none
end' 'render --open in a recording does not record the browser'
# The browser does not hold the pipe of standard output: cat ends when flame does.
cat >bin/slow-browser <<'END_SH'
#!/bin/bash
while ! [ -e "$FAKE_OUT.go" ]; do sleep 0.05; done
my-browser "$@"
END_SH
chmod +x bin/slow-browser
BROWSER=slow-browser "$FLAME" mem --open -q -o s.html echo through | cat >piped
is_str "$(cat piped)" through 'a browser that stays does not hold standard output'
not_ok 'flame does not wait for the browser' test -e opened
touch opened.go
is_str "$(words)" "file://$here/s.html " 'a browser that stays opens the page later'

# Which browser.
BROWSER='missing-one:my-browser --new %s --last:xdg-open' "$FLAME" render --open x.folded
said=$(opened)
is_str "$(grep -E '^(called|word)' <<<"$said" | tr '\n' ' ')" \
    "called my-browser word --new word file://$here/flame.html word --last " 'BROWSER precedes xdg-open'
mkdir few
for tool in ls cat sed cut grep mv; do
    ln -s "$(type -P "$tool")" few
done
cp bin/xdg-open few/sensible-browser
run_expect_status 0 'render --open without xdg-open succeeds' \
    env PATH="$SCRATCH/few" "$FLAME" render --open x.folded
is_str "$(cat err)" '' 'render --open without xdg-open prints nothing'
is_str "$(opened | head -1)" 'called sensible-browser' 'render --open without xdg-open calls sensible-browser'

# Without a browser, one line has the address, and all else is as without --open.
line="flame: --open: open file://$here/flame.html yourself: "
none() {
    local what=$1 why=$2
    shift 2
    rm -f flame.html
    run_expect_status 0 "render --open with $what succeeds" env "$@" "$FLAME" render --open x.folded
    is_str "$(cat out err)" "$line$why" "render --open with $what prints address and reason"
    ok "render --open with $what writes the page" test -s flame.html
}
none 'no desktop' 'there is no desktop (DISPLAY, WAYLAND_DISPLAY)' -u DISPLAY
none 'an empty DISPLAY' 'there is no desktop (DISPLAY, WAYLAND_DISPLAY)' DISPLAY=
none 'an ssh session' "this is another machine than the desktop's (SSH_CONNECTION)" SSH_CONNECTION='1 2 3 4'
none 'no browser' 'neither xdg-open nor sensible-browser is there, and BROWSER is not set' PATH=/nowhere
none 'a wrong BROWSER' 'what BROWSER names is not there' BROWSER=/nowhere/firefox:/tmp
not_ok 'render --open without a browser opens nothing' test -e opened
run_expect_status 0 'mem -q --open without a desktop succeeds' env -u DISPLAY "$FLAME" mem -q --open sh -c :
is_str "$(cat err)" "flame: --open: open file://$here/sh-mem.html yourself: there is no desktop \
(DISPLAY, WAYLAND_DISPLAY)" 'mem -q --open without a desktop prints address and reason'
BROWSER=my-browser SSH_CONNECTION='1 2 3 4' DISPLAY='' "$FLAME" render --open x.folded
is_str "$(words)" "file://$here/flame.html " 'BROWSER is used without a desktop and over ssh'
WAYLAND_DISPLAY=wayland-0 DISPLAY='' PATH=/nowhere "$FLAME" render --open x.folded 2>err
file_has err 'neither xdg-open' 'Wayland counts as a desktop'

done_testing
