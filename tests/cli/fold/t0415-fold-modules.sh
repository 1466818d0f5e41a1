#!/bin/bash
# --modules: folded names that say which module they are in, as other tools can show them, and that
# text without it says nothing of modules.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/placed.sh"

"$FLAME" fold placed.flame placed.2.flame >plain
"$FLAME" fold --modules placed.flame placed.2.flame >marked
file_lacks plain '`|modules' 'not unless asked for'
is_str "$(sed -n 2p marked)" '# flame: modules=prefix' 'a line says so'
file_has marked ';placed`main;libone\.so`take_one;libone\.so`helper 51000$' 'names begin with modules'
file_has marked ';placed`work;libtwo\.so`take_two;libtwo\.so`helper 3000$' 'also in threads'
file_has marked ';libthree\.so`take_three;libthree\.so`\[libthree\.so\+0x[0-9a-f]+\] 700$' \
    'and where no name is known'
file_has marked ";lib<script>alert\(1\):a b \"''\.so\`take_more;lib<script>alert" 'a hostile module is one'
sed -E "s/(lib<[^;\`]*|[^;\` ]*)\`//g; /modules=/d" marked | awk '
    /^#/ { print; next } { n = $NF; sub(/ [0-9]+$/, ""); if (!($0 in sum)) order[++k] = $0; sum[$0] += n }
    END { for (i = 1; i <= k; i++) printf "%s %.0f\n", order[i], sum[order[i]] }' | sort >unmarked
is_str "$(cat unmarked)" "$(sort plain)" 'nothing else is different'
is_str "$(LC_ALL=C sort -c <(grep -v '^#' marked) 2>&1)" '' 'and lines are sorted'
is_str "$(tr -d '\n\t -~' <marked | wc -c | tr -d ' ')" 0 'without a byte that pictures cannot have'

# Folded text as input.
"$FLAME" fold marked >again
is_str "$(cat again)" "$(cat marked)" 'folded again it is the same'
"$FLAME" fold marked <(printf 'other;stack 3\n') >merged
is_str "$(grep -c modules=prefix merged) $(grep -c '^other;stack 3$' merged)" '1 1' 'with others, too'
is_str "$("$FLAME" top -e --by module -n 0 marked)" \
    "$("$FLAME" top -e --by module -n 0 placed.flame placed.2.flame | tr '`' "'")" 'top knows modules of text as of traces'
is_str "$("$FLAME" top -e -n 0 marked)" "$("$FLAME" top -e -n 0 plain)" 'and functions without them'
is_str "$("$FLAME" render -f folded marked)" "$("$FLAME" render -f folded plain)" \
    'pictures by name merge what they would have merged'
is_str "$("$FLAME" fold --focus '^take_two$' --modules placed.flame | grep -vc '^#')" \
    "$("$FLAME" fold --focus '^take_two$' placed.flame | grep -vc '^#')" 'filters are asked of names'
is_str "$("$FLAME" fold --modules --by module placed.flame)" "$("$FLAME" fold --by module placed.flame)" \
    '--by says what frames are'
is_str "$("$FLAME" fold --modules --no-header placed.flame | grep -c '^#')" 0 '--no-header has no line'

# Exports know it.
"$FLAME" render -f csv marked >out.csv
file_has out.csv '^symbol,file,line,module,alloc_self' 'a column of the CSV'
file_has out.csv '^"helper",,,"libone\.so",51000,51000$' 'two functions of one name are two rows'
file_has out.csv '^"helper",,,"libtwo\.so",3200,3200$' 'one for each module'
"$FLAME" render -f csv plain >out.csv
file_lacks out.csv 'module' 'of text without modules there is none'
"$FLAME" render -f callgrind marked >out.callgrind
file_has out.callgrind '^c?ob=\([0-9]+\) libtwo\.so$' "callgrind's objects"
"$FLAME" render -f firefox marked >out.json
is_str "$(python3 -c 'import json
d = json.load(open("out.json")); s = d["shared"]; f = s["funcTable"]
print(" ".join(sorted(s["stringArray"][f["name"][i]] + "@" + d["libs"][s["resourceTable"]["lib"][r]]["name"]
    for i, r in enumerate(f["resource"]) if r >= 0 and s["stringArray"][f["name"][i]] == "helper")))')" \
    "helper@lib<script>alert(1):a b \"''.so helper@libone.so helper@libtwo.so" "Firefox' libraries"

# Comparisons.
"$FLAME" diff --modules placed.flame placed.2.flame >both
file_has both 'libone\.so`helper 1000 50000$' 'of traces'
file_has both '^# flame: modules=prefix$' 'say so'
run_expect_status 0 'text and a trace' "$FLAME" diff --modules marked placed.flame
run_expect_status 2 'with and without' "$FLAME" diff marked plain
is_str "$(cat err)" 'flame: diff: plain does not name the modules and the other one does; fold both with --modules, or neither' 'is told'
is_str "$(cat out)" '' 'and nothing is written'

# perf says the module of each frame.
printf '%s\n' 'app 7/8 [000] 1.0: 3 cycles:' "$(printf '\t10 g+0x1 (/usr/lib/libg.so.1)')" \
    "$(printf '\t20 [unknown] (/usr/lib/libh.so)')" "$(printf '\t25 [unknown] ([unknown])')" \
    "$(printf '\t30 tick`ed (/opt/a b;c.so)')" "$(printf '\t35 inl (inlined)')" \
    "$(printf '\t40 main+0x2 (/usr/bin/app (deleted))')" '' >perf
is_str "$("$FLAME" collapse perf)" 'app;main;inl;tick`ed;[unknown];[libh.so];g 3' 'perf without'
is_str "$("$FLAME" collapse --modules perf)" '# flame: modules=prefix
app;app`main;app`inl;a b:c.so`tick`ed;[unknown];libh.so`[libh.so];libg.so.1`g 3' 'perf with modules'
is_str "$("$FLAME" collapse --modules perf | "$FLAME" top --by module |
    awk 'NR > 2 { sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, ""); print }' | sort | tr '\n' ' ')" \
    '[unknown] a b:c.so app libg.so.1 libh.so ' 'which top reads'

# Nothing in such a text is trusted.
printf '# flame: modules=prefix\n# flame: modules=what\n`a;b`;`;``;x`y`z;;q`f_[k] 3\n' >odd
is_str "$("$FLAME" render -f folded odd)" '`a;b`;`;``;y`z;;q`f_[k] 3' 'what is no module and function stays as it is'
printf '# flame: modules=marked\na\x1flib;b\x1f;c 3\n' >mark
is_str "$("$FLAME" render -f folded mark | tail -1)" 'a;b;c 3' 'marks of others do no harm'
is_str "$("$FLAME" top --by module mark | awk 'NR > 2 { print $1, $NF }')" '3 lib' 'nor in tables'

done_testing
