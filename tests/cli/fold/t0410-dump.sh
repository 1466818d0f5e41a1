#!/bin/bash
# flame dump: a trace as text and as JSON, and the domains of FLAME_DEBUG.
. "${0%/*}/../lib.sh"

run_expect_status 0 'flame mem -o x.flame succeeds' "$FLAME" mem -q -o x.flame -- ls /
run_expect_status 0 'flame dump succeeds' "$FLAME" dump x.flame
mv out all
is_str "$(cut -d' ' -f1 all | uniq | tr '\n' ' ')" 'header module thread node row name ' \
    'flame dump has the sections in order'
file_has all '^header recorder=mem version=[0-9]+ ' 'flame dump has recorder and version'
file_has all '^header argument=0 text=ls$' 'flame dump has the command'
file_has all '^module start=0x[0-9a-f]* .*build_id=[0-9a-f]{40} path=/.*libc' \
    'flame dump has modules with build-ids'
file_has all '^node id=[0-9]+ parent=[0-9]+ kind=pc addr=0x' 'flame dump has return addresses'
like "$(grep '^row' all)" ' flags=none alloc_bytes=[0-9]+ alloc_calls=[0-9]+ free_bytes=[0-9]+' \
    'flame dump has the counters of rows'

# Its sums are those of the folded stacks.
sum=$(sed -nE 's/^row .* alloc_bytes=([0-9]+) .*/\1/p' all | awk '{ s += $1 } END { print s }')
is_int "$sum" "$("$FLAME" fold x.flame | awk '!/^#/ { s += $NF } END { print s }')" \
    'flame dump: the rows sum to the folded stacks'
is_str "$(sed -nE 's/^row id=[0-9]+ node=([0-9]+) .*/\1/p' all | sort -u |
    comm -23 - <(sed -nE 's/^node id=([0-9]+) .*/\1/p' all | sort))" '' "flame dump: each row's node exists"

run_expect_status 0 'flame dump --json succeeds' "$FLAME" dump --json -o x.json x.flame
cat >compare.py <<'EOF'
import json, sys
data = json.load(open(sys.argv[1]))
lines = [line.split(" ") for line in open(sys.argv[2]).read().splitlines()]
for section in ("header", "module", "origin", "inherited", "thread", "node", "row"):
    records = [dict(f.split("=", 1) for f in line[1:]) for line in lines if line[0] == section]
    assert len(records) == len(data[section]), section
    for text, record in zip(records, data[section]):
        assert list(text) == list(record), (text, record)
        for key, value in record.items():
            assert text[key] == str(value) or "\\" in text[key], (text[key], value)
EOF
run_expect_status 0 'flame dump --json equals the text' python3 compare.py x.json all
run_expect_status 0 'flame dump -s thread succeeds' "$FLAME" dump -s thread x.flame
is_str "$(cut -d' ' -f1 out | sort -u)" thread 'flame dump -s thread prints that section alone'
run_expect_status 0 'flame dump -s row -s header succeeds' "$FLAME" dump -s row -s header x.flame
is_str "$(cut -d' ' -f1 out | uniq | tr '\n' ' ')" 'header row ' \
    'flame dump -s row -s header prints the sections in order'
run_expect_status 2 'flame dump -s rows ends with status 2' "$FLAME" dump -s rows x.flame
file_has err 'dump: -s rows: expected header, module, origin, inherited, thread, node, row, mark, misuse, resident, histogram, moment, name, interval, life or region' \
    'flame dump -s rows lists the sections'
run_expect_status 2 'flame dump without a trace ends with status 2' "$FLAME" dump
file_has err 'dump: takes one trace; got 0' 'flame dump without a trace says so'
head -c 5000 x.flame >cut.flame
run_expect_status 2 'flame dump of a truncated trace ends with status 2' "$FLAME" dump -o y cut.flame
not_ok 'flame dump of a truncated trace leaves no output' test -e y

# Traces that are compressed, or come through a pipe.
gzip -k x.flame
names=(x.flame.gz)
if zstd -q x.flame 2>/dev/null; then names+=(x.flame.zst); else skip zstd 'no zstd program'; fi
for packed in "${names[@]}"; do
    run_expect_status 0 "flame dump $packed succeeds" "$FLAME" dump "$packed"
    ok "flame dump $packed equals that of the trace" cmp all out
    run_expect_status 0 "flame dump - of $packed succeeds" "$FLAME" dump - < <(cat "$packed")
    ok "flame dump - of $packed equals that of the trace" cmp all out
done
run_expect_status 0 'flame dump - of a pipe succeeds' "$FLAME" dump - < <(cat x.flame)
ok 'flame dump - of a pipe equals that of the trace' cmp all out
run_expect_status 0 'flame dump - of a file succeeds' "$FLAME" dump - <x.flame
ok 'flame dump - of a file equals that of the trace' cmp all out
run_expect_status 0 'flame dump of a named pipe succeeds' "$FLAME" dump <(cat x.flame)
ok 'flame dump of a named pipe equals that of the trace' cmp all out
head -c -100 x.flame.gz >cut.flame.gz
run_expect_status 2 'flame dump of a compressed trace that is cut ends with status 2' "$FLAME" dump -o y cut.flame.gz
is_str "$(cat err)" 'flame: cut.flame.gz: cannot read: its compressed data is cut short' \
    'flame dump of a compressed trace that is cut says so'
not_ok 'flame dump of a compressed trace that is cut leaves no output' test -e y

# Hostile strings stay one line and one field.
cat >odd.c <<'EOF'
#include <stdlib.h>
int main(void) { return malloc(8) == 0; }
EOF
"${CC:-gcc}" -o 'a "b' odd.c
run_expect_status 0 'flame mem of a program with an odd name succeeds' \
    "$FLAME" mem -q -o odd.flame -- './a "b' $'x\n\x1b[1m"</script>'
"$FLAME" dump odd.flame >odd
file_has odd '^header argument=1 text=x\\x0a\\x1b\[1m\\x22</script>$' 'flame dump escapes an odd argument'
"$FLAME" dump --json odd.flame >odd.json
run_expect_status 0 'flame dump --json of an odd argument is JSON' \
    python3 -c "import json; json.load(open('odd.json'))"
file_lacks odd.json '</script>' 'flame dump --json of an odd argument cannot end a script'

run_expect_status 0 'flame off -o o.flame succeeds' "$FLAME" off -q -o o.flame -- sh -c 'sleep 0.05; :'
run_expect_status 0 'flame dump of an off-CPU trace succeeds' "$FLAME" dump o.flame
file_has out '^header recorder=off ' 'flame dump of an off-CPU trace names its recorder'
file_has out '^thread id=1 tid=[0-9]+ .* wall_ns=[0-9]+' 'flame dump of an off-CPU trace has threads'
file_has out '^row id=[0-9]+ node=[0-9]+ thread=[0-9]+ kind=[a-z]+ blocked_ns=[0-9]+' \
    'flame dump of an off-CPU trace has sleeps'
file_has out '^row .* kind=(timer|child) blocked_ns=([5-9][0-9]{7}|[1-9][0-9]{8,}) ' \
    'flame dump of an off-CPU trace has the kind of a wait'
file_has out '^row .* kind=oncpu blocked_ns=0 ' 'flame dump of an off-CPU trace has rows of on-CPU time'

# A forked child names the trace of its parent.
compile_victim forks -pthread
run "$FLAME" mem -q -o f.flame -- ./forks fork
"$FLAME" dump f.flame/2 >child
file_has child '^origin id=0 pid=[0-9]+ .* path=/' 'flame dump of a child has its origin'
file_has child '^inherited origin=0 row=[0-9]+ blocks=[0-9]+ bytes=[0-9]+' \
    'flame dump of a child has inherited blocks'
file_has child '^row .* flags=inherited alloc_bytes=' 'flame dump of a child has rows of inherited blocks'
cat >lose.c <<'EOF'
#include <stdlib.h>
int main(void)
{
    void **outer = malloc(40);
    *outer = malloc(24);
    outer = NULL;
    return outer != NULL;
}
EOF
"${CC:-gcc}" -O0 -o lose lose.c
run "$FLAME" leak -q -o l.flame -- ./lose
"$FLAME" dump -s row l.flame >rows
file_has rows ' flags=leaked alloc_bytes=40 ' 'flame dump names leaked rows'
file_has rows ' flags=leaked-by-leak alloc_bytes=24 ' 'flame dump names indirectly leaked rows'

# Marks have the rows that changed: a list of one node a pass.
compile_victim growers -O1 -pthread
run "$FLAME" mem -q -o g.flame -- ./growers 12 list
"$FLAME" dump -s mark g.flame >marks
is_str "$(sed -nE 's/^mark id=([0-9]+) name=\w+ number=([0-9]+) entries=[0-9]+$/\1 \2/p' marks)" \
    "$(seq 0 11 | sed 's/.*/& &/')" 'flame dump has each mark with its number'
row=$(sed -nE 's/^mark of=11 row=([0-9]+) blocks=12 bytes=1248$/\1/p' marks)
is_str "$(sed -nE "s/^mark of=([0-9]+) row=$row blocks=([0-9]+) bytes=([0-9]+)\$/\1 \2 \3/p" marks)" \
    "$(for i in {0..11}; do echo "$i $((i + 1)) $((104 * (i + 1)))"; done)" \
    'flame dump: a mark has the live blocks of a row'
run_expect_status 0 'flame dump -j -s mark succeeds' "$FLAME" dump -j -s mark -o marks.json g.flame
is_int "$(python3 -c 'import json; print(sum("name" in m for m in json.load(open("marks.json"))["mark"]))')" 12 \
    'flame dump -j -s mark has each mark'

# The events inside flame.
run_expect_status 0 'flame off with FLAME_DEBUG=events succeeds' \
    env FLAME_DEBUG=events "$FLAME" off -q -o o.folded -- sleep 0.01
file_has err '^flame: events: [0-9.]+ [0-9]+/[0-9]+ entry clock_nanosleep\(' \
    'FLAME_DEBUG=events prints entries of calls'
file_has err '^flame: events: .* end = 0' 'FLAME_DEBUG=events prints ends'
file_has err '^flame: events: .* exit clock_nanosleep = 0( held .*)?$' \
    'FLAME_DEBUG=events prints exits of calls'
file_lacks err '^flame: (stacks|symbols)' 'FLAME_DEBUG=events prints no other domain'
run_expect_status 0 'flame off with FLAME_DEBUG=replay succeeds' \
    env FLAME_DEBUG=replay "$FLAME" off -q -o o.folded -- sleep 0.01
file_has err '^flame: replay: options .*depth=' 'FLAME_DEBUG=replay begins with the options'
file_has err '^flame: replay: entry t=[0-9]+ pid=[0-9]+ tid=[0-9]+ call=clock_nanosleep args=' \
    'FLAME_DEBUG=replay prints events'
file_has err '^flame: replay: sched tid=[0-9]+ cpu=[0-9]+' 'FLAME_DEBUG=replay prints the answers of the world'
is_str "$(grep '^flame: replay: ' err | tail -n 1 | cut -d ' ' -f 3)" finish \
    'FLAME_DEBUG=replay prints all to the end'
# Stacks of logged calls were walked in the thread itself, so calls stop here.
run_expect_status 0 'flame off with FLAME_DEBUG=stacks,symbols succeeds' env FLAME_DEBUG=stacks,symbols \
    "$FLAME" off --no-inside -q -o o.folded -- sleep 0.01
file_has err '^flame: stacks: thread [0-9]+ at sp [0-9a-f]+: [0-9]+ frames, [0-9]+ bytes copied, whole: ' \
    'FLAME_DEBUG=stacks prints walks'
file_has err '^flame: stacks: libunwind was asked for [0-9]+, 0 are cut short$' \
    'FLAME_DEBUG=stacks prints the sum of walks'
file_has err '^flame: symbols: /.*libc.*: [0-9]+ symbols; file read' \
    'FLAME_DEBUG=symbols prints the source of names'
file_lacks err '^flame: events' 'FLAME_DEBUG=stacks,symbols prints no events'
rm -f o.folded
run_expect_status 2 'flame off with an unknown domain in FLAME_DEBUG ends with status 2' \
    env FLAME_DEBUG=stacks,bogus,x \
    "$FLAME" off -q -o o.folded -- touch was-run
is_str "$(cat err)" \
    "flame: FLAME_DEBUG knows events, stacks, symbols, replay, but not 'bogus'" \
    'an unknown domain in FLAME_DEBUG: the error lists the domains'
is_str "$(ls was-run o.folded 2>/dev/null)" '' 'an unknown domain in FLAME_DEBUG: the command does not run'
run_expect_status 0 'FLAME_DEBUG accepts empty domains' env FLAME_DEBUG=,symbols, "$FLAME" --version

done_testing
