#!/bin/bash
# flame view on a terminal: the graph, the table with flame top's numbers, callers and callees,
# search, views, sizes, and names that must not reach the terminal.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/terminal.sh"

cat >a.folded <<'END'
# flame: view=alloc unit=bytes
main;parse;read_file 4096
main;parse;tokenize;grow 20000
main;render;draw;std::vector<int>::push_back 50000
main;render 1000
thread;work;parse;read_file 3000
main;main;parse;read_file 77
END

term_begin 100 24
type_line 'flame view a.folded; echo status $?'
sees '^.all$' 'the root'
sees '^Memory allocated: 76.34 KiB, 78,173 bytes .*a.folded$' 'what it is, and how much'
sees '^ *.grow +.std::vector<int>::push_back' 'frames side by side'
press Down Down
sees '^total 49.80 KiB, 51,000 bytes \(65.24%\); self 1,000 bytes \(1.28%\)$' 'the chosen frame'
press Enter
sees '^.render$' 'zoomed in'
press 0

# The table has the numbers of flame top, row by row.
press t
sees 'selfv +total +symbol' 'a table'
"$FLAME" top -n 0 a.folded | sed 1,2d | awk '{ $1 = $1; print }' >want
screen | sed 1,2d | head -n "$(wc -l <want)" | awk '{ $1 = $1; print }' >got
ok 'has symbols' test "$(wc -l <want)" -ge 9
is_str "$(cat got)" "$(cat want)" "which are flame top's, with its numbers"
press s
"$FLAME" top -s total -n 0 a.folded | sed 1,2d | awk '{ $1 = $1; print }' >want
sees 'self +totalv +symbol' 'sorted by total'
screen | sed 1,2d | head -n "$(wc -l <want)" | awk '{ $1 = $1; print }' >got
is_str "$(cat got)" "$(cat want)" 'as flame top sorts'

press g Down c
sees '^.main$' 'callers and callees'
press t / parse Enter
sees '^parse: 1 name, in 34.76% of all; n next, N before$' 'a search'
sees '^parse$' 'goes to it'
press '?'
sees '^ +Tab, g, t +graph or table' 'help'
press x g f
sees '^From here to the root:' 'all names in full'
press x
term resize-window -x 40 -y 10
sees '^.main +.$' 'a smaller screen'
is_int "$(screen | wc -l)" 10 'has ten lines'
term resize-window -x 300 -y 80
sees '^.main {200,}.thread' 'a larger one'
press q
sees '^status 0$' 'q ends it'
is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 \
    'and the screen is as it was'
term resize-window -x 100 -y 24

# Standard input, keys from the terminal; no file; flame top -i.
type_line 'clear; cat a.folded | flame view -; echo status $?'
sees 'standard input$' 'from a pipe'
press q
sees '^status 0$' 'with keys from the terminal'
type_line 'clear; flame top -i -s total a.folded; echo status $?'
sees 'self +totalv +symbol' 'flame top -i is the table'
press q
sees '^status 0$' 'and ends'
type_line 'clear; flame view missing; echo status $?'
sees '^flame: missing: cannot read' 'a file that is not there'
sees '^status 2$' 'is wrong usage'

# Names.
printf 'main;\x1b]2;pwned\x07\x1b[2Jevil;\xff\x80 500\nmain;\xe2\x80\xaexyz;\xe5\x90\x8d\xe5\x89\x8d\xe5\x90\x8d 600\n' >evil.folded
before=$(term_flag pane_title)
type_line 'clear; flame view evil.folded; echo status $?'
sees '^.\\x1b\]2 ' 'controls are shown'
sees '^.pwned\\x07\\x1b\[2Jevil ' 'all of them'
sees '\\u\{202e\}xyz' 'and what turns text'
sees '名前名' 'wide characters stay'
is_str "$(term_flag pane_title)" "$before" 'the terminal did none of it'
press q
sees '^status 0$' 'the end'

# All views of a trace.
if [ -z "${SAN-}" ]; then
    run "$FLAME" mem -q -o t.flame -- "$FLAME" --version
    is_int "$status" 0 'a trace'
    "$FLAME" top --view count -e -n 1 t.flame >want
    type_line 'clear; flame view t.flame; echo status $?'
    sees 'view 1/[0-9]+ alloc$' 'has views'
    press v
    sees "^$(sed -n '1s/;.*//p' want | sed 's/ *$//')" "the next, with flame top's total"
    press V
    sees 'view 1/[0-9]+ alloc$' 'and back'
    press q
    sees '^status 0$' 'the end'
fi
term_end
done_testing
