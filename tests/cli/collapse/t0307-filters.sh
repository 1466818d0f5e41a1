#!/usr/bin/env bash
# The filters that all stages share: the same in each, and noted in their output.
. "${0%/*}/../lib.sh"

cat >folded <<'END'
app;main;draw;draw;malloc (/lib/libc.so.6) 5
app;main;idle 65
app;main;parse;malloc (/lib/libc.so.6) 20
app;main;parse;read (/lib/libc.so.6) 10
END
parse='app;main;parse;malloc (/lib/libc.so.6) 20
app;main;parse;read (/lib/libc.so.6) 10'

# ---- the same in every stage ----

for command in fold collapse; do
    is_str "$("$FLAME" $command --grep 'main;parse' folded)" "# flame: left-out=70
$parse" "$command --grep"
    is_str "$("$FLAME" $command --grep-v 'parse|idle' --collapse-recursion folded)" '# flame: left-out=95
app;main;draw;malloc (/lib/libc.so.6) 5' "$command --grep-v"
    is_str "$("$FLAME" $command --focus '^parse$' --trim-root=parse --by module folded)" \
        '# flame: left-out=70
parse;libc.so.6 30' "$command --focus and --by"
    is_str "$("$FLAME" $command --prune 'parse|draw' --trim-root --from-caller folded)" 'draw 5
idle 65
parse 30' "$command --prune"
done
is_str "$("$FLAME" diff --focus parse --prune parse folded folded)" '# flame: left-out=70,70
app;main;parse 30 30' 'diff --focus --prune'
is_str "$("$FLAME" top --focus parse -s total folded | head -n 1)" \
    'All: 30 samples; 5 symbols; filtered: 70% left out' 'top --focus says how much is filtered out'
is_str "$("$FLAME" top --tree --from-caller --prune parse --grep parse folded | awk '{ print $NF }' | tail -n 3)" \
    "$(printf 'parse\nmain\napp')" 'top --tree --from-caller'
run_expect_status 2 'top --from-caller without --tree ends with status 2' "$FLAME" top --from-caller folded
"$FLAME" render --focus parse --by module -o kept.svg folded
file_has kept.svg '>filtered: 70% left out<' 'the picture says how much is filtered out'
file_has kept.svg '<title>libc.so.6 \(30 samples, 100.00%\)' 'the picture shows what the filter keeps'
file_lacks kept.svg 'idle' 'the picture does not show what is filtered out'
"$FLAME" fold --focus parse folded | "$FLAME" render --by module --subtitle mine -o piped.svg
file_has piped.svg '>mine .* filtered: 70% left out<' 'the picture says how much an earlier stage filtered out'
"$FLAME" render --from-caller -o a.svg folded
"$FLAME" render --reverse -o b.svg folded
ok 'render --from-caller is --reverse' cmp a.svg b.svg
"$FLAME" render --flamechart --grep-v idle --trim-root -o chart.svg folded
file_has chart.svg '<title>parse \(30 samples' 'a filtered flame chart keeps its order'
"$FLAME" render --focus parse -f html -o page.html folded
file_has page.html 'filtered: 70% left out' 'the page says how much is filtered out'

# ---- sums of what is filtered out ----

"$FLAME" fold --grep parse folded >one
"$FLAME" fold --grep parse folded >two
"$FLAME" fold one two >both
is_str "$(head -n 1 both)" '# flame: left-out=140' 'fold sums what was filtered out'
"$FLAME" fold --grep-v read both >less
is_str "$(head -n 1 less)" '# flame: left-out=160' 'fold --grep-v adds to what was filtered out'
is_str "$("$FLAME" collapse both)" "$(cat both)" 'collapse keeps what was filtered out'
is_str "$("$FLAME" diff folded both | head -n 1)" '# flame: left-out=0,140' \
    'diff keeps what was filtered out, by column'
is_str "$("$FLAME" fold --no-header --grep parse folded)" "$parse" 'fold --no-header --grep prints no header'
printf '# flame: view=live unit=bytes\napp;a 1.5\napp;b 2\n' >live
is_str "$("$FLAME" fold --grep b live)" '# flame: view=live unit=bytes
# flame: left-out=1.5
app;b 2' 'what is filtered out has exact fractions beside the view'
"$FLAME" fold --grep b live >live-b
ok 'fold merges filtered and complete files' "$FLAME" fold live live-b
run_expect_status 0 'fold with a filter that keeps nothing succeeds' "$FLAME" fold --grep nix folded -o empty
is_str "$(cat empty)" '# flame: left-out=100' 'fold with a filter that keeps nothing writes its header'
like "$(cat err)" 'fold: the filters leave none of 4 stacks' 'fold with a filter that keeps nothing warns'
is_str "$("$FLAME" fold empty one | head -n 1)" '# flame: left-out=170' 'fold merges a file without stacks'
run_expect_status 0 'collapse of a file without stacks succeeds' "$FLAME" collapse empty one
run_expect_status 2 'render with a filter that keeps nothing ends with status 2' \
    "$FLAME" render --grep nix folded
like "$(cat err)" 'leave none of 4 stacks; there is nothing to show' \
    'render with a filter that keeps nothing says why'
is_int "$(wc -c <out)" 0 'render with a filter that keeps nothing writes nothing'

# ---- the gate applies to what the filter keeps ----

printf 'app;a 100\napp;b 100\n' >before
printf 'app;a 100\napp;b 200\n' >after
run_expect_status 1 'diff --fail-above fails without a filter' "$FLAME" diff --fail-above 10% before after
run_expect_status 0 'diff --fail-above with a filter passes for stacks that did not grow' \
    "$FLAME" diff --grep-v b --fail-above 10% before after
is_str "$("$FLAME" diff -n --grep b before after)" '# flame: left-out=100,100
app;b 200 200' 'diff -n scales after filters'

# ---- wrong usage ----

bad() { # WHY-REGEX ARGUMENT...
    local why=$1
    shift
    run_expect_status 2 "flame $1 with wrong usage ends with status 2: $*" "$FLAME" "$@"
    like "$(cat err)" "$why" "flame $1 with wrong usage says why: $*"
    is_int "$(wc -c <out)" 0 "flame $1 with wrong usage writes nothing: $*"
}
bad "fold: --grep '\(x' is no regular expression: missing closing parenthesis, at its end" \
    fold --grep '(x' folded
bad "render: --prune 'a\*\*\+\*' .*, at character [0-9]" render --prune 'a**+*' folded
bad 'no regular expression behind .:.: .* at character 2' diff --fail-above '5%:a)b' folded folded
bad '--by here: expected module' collapse --by here folded
bad 'top: --focus: needs a value' top --focus
bad 'no frame here says where its code lies' fold --by module live
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "a"; print "b 1" }' >long
bad "fold: --focus '\^\(a\+\)\+\\$' takes too long" fold --focus '^(a+)+$' long
is_str "$("$FLAME" fold --grep $'\xff|b' folded 2>&1 | cut -c 1-63)" \
    "flame: fold: --grep '\xff|b' is no regular expression: UTF-8 er" '--grep with invalid UTF-8 is refused'

# ---- places of other formats ----

cat >perf <<'END'
app 7/8 [000] 1.0: 1 cycles:u:
	1111 read+0x1 (/usr/lib/libc.so.6)
	2222 get (deep)+0x2 (/usr/lib/libapp one.so)
	3333 put+0x2 (/usr/lib/libapp one.so)
	4444 main+0x2 (/usr/bin/app)
	5555 [unknown] ([unknown])

END
is_str "$("$FLAME" collapse --by module perf)" 'app;[unknown];app;libapp one.so;libc.so.6 1' 'perf: --by module'
is_str "$("$FLAME" collapse --focus '^put$' --by module perf)" \
    'app;[unknown];app;libapp one.so;libc.so.6 1' 'perf: --focus finds a function under --by module'
is_str "$("$FLAME" collapse --by thread perf)" 'app-7/8;[unknown];main;put;get (deep);read 1' 'perf: --by thread'
is_str "$("$FLAME" collapse --by process perf)" 'app-7;[unknown];main;put;get (deep);read 1' 'perf: --by process'

cat >inlined <<'END'
app 7/8 [000] 1.0: 1 cycles:u:
	1111 deep+0x1 (inlined)
	1111 outer+0x1 (/usr/bin/app)
	2222 main+0x1 (/usr/lib/libm.so)

END
is_str "$("$FLAME" collapse --by module inlined)" 'app;libm.so;app 1' \
    'perf: an inlined frame has the module that it was inlined into'
cat >srcline <<'END'
app 7/8 [000] 1.0: 1 cycles:u:
	1111 deep(int)+0x1
  deep.h:5 (inlined)
	1111 outer+0x1 (/usr/bin/app)
  app.c:12
	3333 main+0x1 (/usr/bin/app)
  app.c:7

END
is_str "$("$FLAME" collapse --srcline srcline 2>&1)" 'app;main:app.c:7;outer:app.c:12;deep(int):deep.h:5 1' \
    'source lines of inlined frames'
is_str "$("$FLAME" collapse --srcline --by line srcline)" 'app;app.c:7;app.c:12;deep.h:5 1' 'perf: --by line'
is_str "$("$FLAME" collapse --srcline --by file srcline)" 'app;app.c;deep.h 1' 'perf: --by file'

cat >massif <<'END'
desc: x
cmd: app
time_unit: i
#-----------
snapshot=0
#-----------
time=1
mem_heap_B=30
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=peak
n2: 30 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n1: 20 0x10916A: grab (pool.c:7)
  n0: 20 0x1091E6: main (app.c:9)
 n0: 10 0x4844: strdup (in /usr/lib/libc.so.6)
END
is_str "$("$FLAME" collapse --by line massif)" $'[libc.so.6];[heap] 10\napp.c:9;pool.c:7;[heap] 20' 'massif by line'
is_str "$("$FLAME" collapse --by file massif)" $'[libc.so.6];[heap] 10\napp.c;pool.c;[heap] 20' 'massif by file'
is_str "$("$FLAME" collapse --by module massif)" $'libc.so.6;heap 10\nmain;grab;heap 20' 'massif by module'
dhat=$ROOT/tests/corpus/collapse/dhat go=$ROOT/tests/corpus/collapse/go
like "$("$FLAME" collapse --by line "$dhat")" '[a-z]\.c:[0-9]+.* [0-9]+$' 'dhat by line'
like "$("$FLAME" collapse --by file --inline "$go")" '^proc\.go;g\.go 30$' 'go by file'
like "$("$FLAME" collapse --by line --inline "$go")" '^proc\.go:250;g\.go:5;g\.go:4;g\.go:3 ' 'go by line'

# ---- traces ----

compile_victim known
"$FLAME" mem -q -o t.flame ./known >/dev/null
for by in module file line; do
    "$FLAME" fold --by "$by" t.flame >"by-$by"
done
like "$(cat by-module)" '^known;.*known(;libc\.so\.6)? [0-9]+$' 'a trace by module'
like "$(cat by-file)" ';known\.c [0-9]+$' 'a trace by file'
like "$(cat by-line)" ';known\.c:[0-9]+ [0-9]+$' 'a trace by line'
unlike "$(cat by-module by-file by-line)" $'\x1f' 'names of a trace by module, file and line have no separator'
total() { awk '!/^#/ { s += $NF } END { print s + 0 }' "$1"; }
"$FLAME" fold t.flame >plain
is_str "$(total by-module) $(total by-file) $(total by-line)" "$(total plain) $(total plain) $(total plain)" \
    'a trace by module, file and line has the same sum'
run_expect_status 0 'fold --focus of an empty view succeeds' \
    "$FLAME" fold --no-header --view temp --focus x t.flame
"$FLAME" fold --by process t.flame >by-process
is_str "$(cat by-process)" "$("$FLAME" fold --pid t.flame)" '--by process is --pid'
is_str "$("$FLAME" fold --by thread t.flame)" "$("$FLAME" fold --tid t.flame)" '--by thread is --tid'
"$FLAME" render --by file -o t.svg t.flame
file_has t.svg '<title>known\.c' 'a picture of a trace, by file'
"$FLAME" fold --focus '^main$' '--trim-root=^main$' t.flame >focused
like "$(cat focused)" '^main(;| )' 'a trace, focused'

# ---- help ----

for command in mem leak fold collapse diff render top; do
    run_expect_status 1 "$command --help on a full disk ends with status 1" \
        sh -c "\"\$FLAME\" $command --help >/dev/full"
    like "$(cat err)" 'standard output: cannot write' "$command --help on a full disk says so"
done
for command in fold collapse diff render top; do
    like "$("$FLAME" $command --help)" '--from-caller' "$command --help lists the filters"
done

done_testing
