#!/bin/bash
# flame view on limited terminals, without a terminal, and without ncurses.
. "${0%/*}/../lib.sh"

printf 'main;parse;n\xc3\xa4me 10\nmain;render 20\n' >a.folded
run_expect_status 2 'flame view without a terminal ends with status 2' "$FLAME" view a.folded
is_str "$(cat err)" "flame: view: standard output is no terminal; 'flame top' lists the symbols as text, 'flame render' draws a picture" \
    'flame view without a terminal says why in one line'
is_str "$(cat out)" '' 'flame view without a terminal prints nothing on standard output'
run_expect_status 2 'flame top -i without a terminal ends with status 2' "$FLAME" top -i a.folded
like "$(cat err)" '^flame: top: standard output is no terminal' 'flame top -i without a terminal says why'
run_expect_status 2 'flame live without a terminal ends with status 2' "$FLAME" live -p $$
like "$(cat err)" '^flame: live: standard output is no terminal' 'flame live without a terminal says why'
run_expect_status 2 'flame top -i -s lived ends with status 2' "$FLAME" top -i -s lived a.folded
like "$(cat err)" '^flame: top: -s lived is not for -i' 'flame top -i -s lived says why'

. "$ROOT/tests/cli/terminal.sh"
term_begin 80 24
type_line 'clear; TERM=dumb flame view a.folded; echo status $?'
sees "^flame: view: a terminal of TERM=dumb cannot show a full screen" 'flame view on TERM=dumb says why it cannot draw'
sees '^status 2$' 'flame view on TERM=dumb ends with status 2'
type_line 'clear; TERM=no-such-terminal flame view a.folded; echo status $?'
sees '^flame: view: TERM=no-such-terminal is no terminal that is known here' 'flame view on an unknown TERM says so'
sees '^status 2$' 'flame view on an unknown TERM ends with status 2'

colors() { # how many cells' colours are changed on the screen
    term capture-pane -e -p | grep -cE $'\x1b\\[[0-9;]*(3|4|9|10)[0-7](;|m)|\x1b\\[[0-9;]*[34]8;5'
}
type_line 'clear; flame view a.folded; echo status $?'
sees 'n.me' 'flame view draws on 256 colours'
ok 'flame view has colours' test "$(colors)" -gt 2
like "$(term capture-pane -e -p)" '48;5;' 'flame view uses 256 colours where there are so many'
press q
sees '^status 0$' 'q ends flame view on 256 colours'
type_line 'clear; TERM=screen flame view a.folded; echo status $?'
sees 'n.me' 'flame view draws on eight colours'
ok 'flame view on eight colours has colours' test "$(colors)" -gt 2
unlike "$(term capture-pane -e -p)" '48;5;' 'flame view on eight colours uses no others'
press q
sees '^status 0$' 'q ends flame view on eight colours'
for plain in 'NO_COLOR=1' 'TERM=vt100'; do
    type_line "clear; $plain flame view a.folded; echo status \$?"
    sees 'n.me' "$plain: flame view draws"
    is_int "$(colors)" 0 "$plain: flame view has no colours"
    press Down
    sees '^total 30 samples \(100.00%\); self 0 samples' "$plain: flame view takes keys"
    press q
    sees '^status 0' "$plain: q ends flame view" # without a screen of its own it ends in the last line
done
type_line 'clear; LC_ALL=C flame view a.folded; echo status $?'
sees '^\|n\\u\{e4\}me' 'flame view in the locale C draws with ASCII'
press q
sees '^status 0$' 'q ends flame view in the locale C'
# If a library cannot be loaded, its package is named.
mkdir lib
echo 'no library' >lib/libncursesw.so.6
type_line 'clear; LD_LIBRARY_PATH=$PWD/lib flame view a.folded; echo status $?'
sees '^flame: view: this needs the library libncursesw; install libncursesw6' 'flame view without ncurses names the package'
sees '^status 2$' 'flame view without ncurses ends with status 2'
type_line 'clear; LD_LIBRARY_PATH=$PWD/lib flame top a.folded; echo status $?'
sees '^status 0$' 'flame top does not need ncurses'
term_end
done_testing
