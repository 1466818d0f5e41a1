#!/bin/bash
# --modules: folded names with their module, as other tools can show them, and
# text without modules.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/placed.sh"

"$FLAME" fold placed.flame placed.flame/2 >plain
"$FLAME" fold --modules placed.flame placed.flame/2 >marked
file_lacks plain '`|modules' 'fold without --modules has no modules'
is_str "$(sed -n 2p marked)" '# flame: modules=prefix' 'fold --modules: a header line says so'
file_has marked ';placed`main;libone\.so`take_one;libone\.so`helper 51000$' \
    'fold --modules: names begin with modules'
file_has marked ';placed`work;libtwo\.so`take_two;libtwo\.so`helper 3000$' \
    'fold --modules: names of threads begin with modules'
file_has marked ';libthree\.so`take_three;libthree\.so`\[libthree\.so\+0x[0-9a-f]+\] 700$' \
    'fold --modules: unnamed frames begin with modules'
file_has marked ";lib<script>alert\(1\):a b \"''\.so\`take_more;lib<script>alert" \
    'fold --modules: a hostile module is one prefix'
sed -E "s/(lib<[^;\`]*|[^;\` ]*)\`//g; /modules=/d" marked | awk '
    /^#/ { print; next } { n = $NF; sub(/ [0-9]+$/, ""); if (!($0 in sum)) order[++k] = $0; sum[$0] += n }
    END { for (i = 1; i <= k; i++) printf "%s %.0f\n", order[i], sum[order[i]] }' | sort >unmarked
is_str "$(cat unmarked)" "$(sort plain)" 'fold --modules differs from fold only by the modules'
is_str "$(LC_ALL=C sort -c <(grep -v '^#' marked) 2>&1)" '' 'fold --modules sorts its lines'
is_str "$(tr -d '\n\t -~' <marked | wc -c | tr -d ' ')" 0 \
    'fold --modules prints no byte that pictures cannot have'

# Folded text as input.
"$FLAME" fold marked >again
is_str "$(cat again)" "$(cat marked)" 'fold of text with modules is unchanged'
"$FLAME" fold marked <(printf 'other;stack 3\n') >merged
is_str "$(grep -c modules=prefix merged) $(grep -c '^other;stack 3$' merged)" '1 1' \
    'fold of text with and without modules has both'
is_str "$("$FLAME" top -e --by module -n 0 marked)" \
    "$("$FLAME" top -e --by module -n 0 placed.flame placed.flame/2 | tr '`' "'")" \
    'top --by module is the same for text and traces'
is_str "$("$FLAME" top -e -n 0 marked)" "$("$FLAME" top -e -n 0 plain)" \
    'top of functions is the same with and without modules'
is_str "$("$FLAME" render -f folded marked)" "$("$FLAME" render -f folded plain)" \
    'render by name is the same with and without modules'
is_str "$("$FLAME" fold --focus '^take_two$' --modules placed.flame | grep -vc '^#')" \
    "$("$FLAME" fold --focus '^take_two$' placed.flame | grep -vc '^#')" 'filters match names without modules'
is_str "$("$FLAME" fold --modules --by module placed.flame)" "$("$FLAME" fold --by module placed.flame)" \
    'fold --by module ignores --modules'
is_str "$("$FLAME" fold --modules --no-header placed.flame | grep -c '^#')" 0 \
    'fold --modules --no-header prints no header'

# Exports have the module.
"$FLAME" render -f csv marked >out.csv
file_has out.csv '^symbol,file,line,module,alloc_self' 'csv has a column of modules'
file_has out.csv '^"helper",,,"libone\.so",51000,51000$' 'csv has two rows for two functions of one name'
file_has out.csv '^"helper",,,"libtwo\.so",3200,3200$' 'csv has a row for each module'
"$FLAME" render -f csv plain >out.csv
file_lacks out.csv 'module' 'csv of text without modules has no such column'
"$FLAME" render -f callgrind marked >out.callgrind
file_has out.callgrind '^c?ob=\([0-9]+\) libtwo\.so$' 'callgrind has objects of modules'
"$FLAME" render -f firefox marked >out.json
is_str "$(python3 -c 'import json
d = json.load(open("out.json")); s = d["shared"]; f = s["funcTable"]
print(" ".join(sorted(s["stringArray"][f["name"][i]] + "@" + d["libs"][s["resourceTable"]["lib"][r]]["name"]
    for i, r in enumerate(f["resource"]) if r >= 0 and s["stringArray"][f["name"][i]] == "helper")))')" \
    "helper@lib<script>alert(1):a b \"''.so helper@libone.so helper@libtwo.so" \
    'Firefox has libraries of modules'

# Comparisons.
"$FLAME" diff --modules placed.flame placed.flame/2 >both
file_has both 'libone\.so`helper 1000 50000$' 'diff --modules has the modules of two traces'
file_has both '^# flame: modules=prefix$' 'diff --modules: a header line says so'
run_expect_status 0 'diff --modules of text and a trace succeeds' "$FLAME" diff --modules marked placed.flame
run_expect_status 2 'diff of text with and without modules ends with status 2' "$FLAME" diff marked plain
is_str "$(cat err)" 'flame: diff: plain does not name the modules and the other one does; fold both with --modules, or neither' \
    'diff of text with and without modules says why'
is_str "$(cat out)" '' 'diff of text with and without modules prints nothing'

# perf prints the module of each frame.
printf '%s\n' 'app 7/8 [000] 1.0: 3 cycles:' "$(printf '\t10 g+0x1 (/usr/lib/libg.so.1)')" \
    "$(printf '\t20 [unknown] (/usr/lib/libh.so)')" "$(printf '\t25 [unknown] ([unknown])')" \
    "$(printf '\t30 tick`ed (/opt/a b;c.so)')" "$(printf '\t35 inl (inlined)')" \
    "$(printf '\t40 main+0x2 (/usr/bin/app (deleted))')" '' >perf
is_str "$("$FLAME" collapse perf)" 'app;main;inl;tick`ed;[unknown];[libh.so];g 3' \
    'collapse of perf without --modules'
is_str "$("$FLAME" collapse --modules perf)" '# flame: modules=prefix
app;app`main;app`inl;a b:c.so`tick`ed;[unknown];libh.so`[libh.so];libg.so.1`g 3' 'collapse --modules of perf'
is_str "$("$FLAME" collapse --modules perf | "$FLAME" top --by module |
    awk 'NR > 2 { sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, ""); print }' | sort | tr '\n' ' ')" \
    '[unknown] a b:c.so app libg.so.1 libh.so ' 'top --by module reads collapse --modules of perf'

# Such text may be hostile.
printf '# flame: modules=prefix\n# flame: modules=what\n`a;b`;`;``;x`y`z;;q`f_[k] 3\n' >odd
is_str "$("$FLAME" render -f folded odd)" '`a;b`;`;``;y`z;;q`f_[k] 3' \
    'names without module and function stay unchanged'
printf '# flame: modules=marked\na\x1flib;b\x1f;c 3\n' >mark
is_str "$("$FLAME" render -f folded mark | tail -1)" 'a;b;c 3' \
    'internal marks of modules in text have no effect in pictures'
is_str "$("$FLAME" top --by module mark | awk 'NR > 2 { print $1, $NF }')" '3 lib' \
    'internal marks of modules in text have no effect in tables'

done_testing
