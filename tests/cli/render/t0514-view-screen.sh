#!/bin/bash
# flame view on a terminal: the graph, the table with flame top's numbers, callers and callees,
# search, views, sizes, and names with control characters.
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
sees '^.all$' 'flame view shows the root'
sees '^Memory allocated: 76.34 KiB, 78,173 bytes .*a.folded$' 'flame view shows view, total and file'
sees '^ *.grow +.std::vector<int>::push_back' 'flame view shows frames side by side'
press Down Down
sees '^total 49.80 KiB, 51,000 bytes \(65.24%\); self 1,000 bytes \(1.28%\)$' 'flame view shows the counts of the chosen frame'
press Enter
sees '^.render$' 'Enter zooms flame view'
press 0

# The table has the numbers of flame top, row by row.
press t
sees 'selfv +total +symbol' 't shows the table'
"$FLAME" top -n 0 a.folded | sed 1,2d | awk '{ $1 = $1; print }' >want
screen | sed 1,2d | head -n "$(wc -l <want)" | awk '{ $1 = $1; print }' >got
ok 'flame top has at least nine symbols' test "$(wc -l <want)" -ge 9
is_str "$(cat got)" "$(cat want)" 'the table of flame view equals flame top'
press s
"$FLAME" top -s total -n 0 a.folded | sed 1,2d | awk '{ $1 = $1; print }' >want
sees 'self +totalv +symbol' 's sorts the table by total'
screen | sed 1,2d | head -n "$(wc -l <want)" | awk '{ $1 = $1; print }' >got
is_str "$(cat got)" "$(cat want)" 'the table sorted by total equals flame top -s total'

press g Down c
sees '^.main$' 'c shows callers and callees'
press t / parse Enter
sees '^parse: 1 name, in 34.76% of all; n next, N before$' '/ searches in flame view'
sees '^parse$' 'a search goes to the match'
press '?'
sees '^ +Tab, g, t +graph or table' '? shows the help'
press x g f
sees '^From here to the root:' 'f shows complete names'
press x
term resize-window -x 40 -y 10
sees '^.main +.$' 'flame view redraws on a smaller screen'
is_int "$(screen | wc -l)" 10 'flame view fills a smaller screen'
term resize-window -x 300 -y 80
sees '^.main {200,}.thread' 'flame view redraws on a larger screen'
press q
sees '^status 0$' 'q ends flame view with status 0'
is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 \
    'flame view restores the screen'
term resize-window -x 100 -y 24

# Standard input, keys from the terminal; no file; flame top -i.
type_line 'clear; cat a.folded | flame view -; echo status $?'
sees 'standard input$' 'flame view reads a pipe'
press q
sees '^status 0$' 'flame view of a pipe takes keys from the terminal'
type_line 'clear; flame top -i -s total a.folded; echo status $?'
sees 'self +totalv +symbol' 'flame top -i shows the table'
press q
sees '^status 0$' 'q ends flame top -i with status 0'
type_line 'clear; flame view missing; echo status $?'
sees '^flame: missing: cannot read' 'flame view of a missing file says so'
sees '^status 2$' 'flame view of a missing file ends with status 2'

# Names.
printf 'main;\x1b]2;pwned\x07\x1b[2Jevil;\xff\x80 500\nmain;\xe2\x80\xaexyz;\xe5\x90\x8d\xe5\x89\x8d\xe5\x90\x8d 600\n' >evil.folded
before=$(term_flag pane_title)
type_line 'clear; flame view evil.folded; echo status $?'
sees '^.\\x1b\]2 ' 'flame view shows control characters escaped'
sees '^.pwned\\x07\\x1b\[2Jevil ' 'flame view shows each control character escaped'
sees '\\u\{202e\}xyz' 'flame view shows a direction mark escaped'
sees '名前名' 'flame view shows wide characters'
is_str "$(term_flag pane_title)" "$before" "a hostile name does not change the terminal's title"
press q
sees '^status 0$' 'q ends flame view of hostile names'

# All views of a trace.
if [ -z "${SAN-}" ]; then
    run "$FLAME" mem -q -o t.flame -- "$FLAME" --version
    is_int "$status" 0 'flame mem -o t.flame ends with status 0'
    "$FLAME" top --view count -e -n 1 t.flame >want
    type_line 'clear; flame view t.flame; echo status $?'
    sees 'view 1/[0-9]+ alloc$' 'flame view of a trace shows its first view'
    press v
    sees "^$(sed -n '1s/;.*//p' want | sed 's/ *$//')" "v shows the next view, with flame top's total"
    press V
    sees 'view 1/[0-9]+ alloc$' 'V shows the view before'
    press q
    sees '^status 0$' 'q ends flame view of a trace'
fi
term_end
done_testing
