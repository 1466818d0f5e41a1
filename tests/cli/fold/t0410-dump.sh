#!/bin/bash
# flame dump: a trace as text and as JSON, and the domains of FLAME_DEBUG.
. "${0%/*}/../lib.sh"

run_expect_status 0 'a trace is recorded' "$FLAME" mem -q -o x.flame -- ls /
run_expect_status 0 'dump' "$FLAME" dump x.flame
mv out all
is_str "$(cut -d' ' -f1 all | uniq | tr '\n' ' ')" 'header module thread node row name ' 'has its sections'
file_has all '^header recorder=mem version=[0-9]+ ' 'says whose trace it is'
file_has all '^header argument=0 text=ls$' 'has the command'
file_has all '^module start=0x[0-9a-f]* .*build_id=[0-9a-f]{40} path=/.*libc' 'has modules with build-ids'
file_has all '^node id=[0-9]+ parent=[0-9]+ kind=pc addr=0x' 'has return addresses'
like "$(grep '^row' all)" ' flags=none alloc_bytes=[0-9]+ alloc_calls=[0-9]+ free_bytes=[0-9]+' 'and counters'

# Its sums are those of the folded stacks.
sum=$(sed -nE 's/^row .* alloc_bytes=([0-9]+) .*/\1/p' all | awk '{ s += $1 } END { print s }')
is_int "$sum" "$("$FLAME" fold x.flame | awk '!/^#/ { s += $NF } END { print s }')" \
    'the rows add up to what is folded'
is_str "$(sed -nE 's/^row id=[0-9]+ node=([0-9]+) .*/\1/p' all | sort -u |
    comm -23 - <(sed -nE 's/^node id=([0-9]+) .*/\1/p' all | sort))" '' "each row's node is there"

run_expect_status 0 'dump --json' "$FLAME" dump --json -o x.json x.flame
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
run_expect_status 0 'is JSON, and says the same' python3 compare.py x.json all
run_expect_status 0 'one section' "$FLAME" dump -s thread x.flame
is_str "$(cut -d' ' -f1 out | sort -u)" thread 'alone'
run_expect_status 0 'two sections' "$FLAME" dump -s row -s header x.flame
is_str "$(cut -d' ' -f1 out | uniq | tr '\n' ' ')" 'header row ' 'in their order'
run_expect_status 2 'a section there is not' "$FLAME" dump -s rows x.flame
file_has err 'dump: -s rows: expected header, module, origin, inherited, thread, node, row, mark, misuse, resident, histogram, moment, name, interval, life or region' 'names those there are'
run_expect_status 2 'no trace' "$FLAME" dump
file_has err 'dump: takes one trace; got 0' 'is said'
head -c 5000 x.flame >cut.flame
run_expect_status 2 'a cut trace' "$FLAME" dump -o y cut.flame
not_ok 'leaves no output' test -e y

# Hostile words stay one line and one word.
cat >odd.c <<'EOF'
#include <stdlib.h>
int main(void) { return malloc(8) == 0; }
EOF
"${CC:-gcc}" -o 'a "b' odd.c
run_expect_status 0 'a program with an odd name' "$FLAME" mem -q -o odd.flame -- './a "b' $'x\n\x1b[1m"</script>'
"$FLAME" dump odd.flame >odd
file_has odd '^header argument=1 text=x\\x0a\\x1b\[1m\\x22</script>$' 'is escaped in text'
"$FLAME" dump --json odd.flame >odd.json
run_expect_status 0 'and in JSON' python3 -c "import json; json.load(open('odd.json'))"
file_lacks odd.json '</script>' 'and can stand in a page'

run_expect_status 0 'a trace of waiting' "$FLAME" off -q -o o.flame -- sh -c 'sleep 0.05; :'
run_expect_status 0 'is dumped, too' "$FLAME" dump o.flame
file_has out '^header recorder=off ' 'as what it is'
file_has out '^thread id=1 tid=[0-9]+ .* wall_ns=[0-9]+' 'with its threads'
file_has out '^row id=[0-9]+ node=[0-9]+ thread=[0-9]+ kind=[a-z]+ blocked_ns=[0-9]+' 'and sleeps'
file_has out '^row .* kind=(timer|child) blocked_ns=([5-9][0-9]{7}|[1-9][0-9]{8,}) ' 'by the name of what was waited for'
file_has out '^row .* kind=oncpu blocked_ns=0 ' 'and what is no sleep by its own'

# A forked child names where its parent's stacks are.
compile_victim forks -pthread
run "$FLAME" mem -q -o f.flame -- ./forks fork
"$FLAME" dump f.2.flame >child
file_has child '^origin id=0 pid=[0-9]+ .* path=/' 'a child names its origin'
file_has child '^inherited origin=0 row=[0-9]+ blocks=[0-9]+ bytes=[0-9]+' 'and what it inherited'
file_has child '^row .* flags=inherited alloc_bytes=' 'in rows that say so'
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
file_has rows ' flags=leaked alloc_bytes=40 ' 'verdicts have names'
file_has rows ' flags=leaked-by-leak alloc_bytes=24 ' 'each its own'

# Marks are told with what they changed: a list of one node a pass.
compile_victim growers -O1 -pthread
run "$FLAME" mem -q -o g.flame -- ./growers 12 list
"$FLAME" dump -s mark g.flame >marks
is_str "$(sed -nE 's/^mark id=([0-9]+) name=\w+ number=([0-9]+) entries=[0-9]+$/\1 \2/p' marks)" \
    "$(seq 0 11 | sed 's/.*/& &/')" 'each mark is there, with its number'
row=$(sed -nE 's/^mark of=11 row=([0-9]+) blocks=12 bytes=1248$/\1/p' marks)
is_str "$(sed -nE "s/^mark of=([0-9]+) row=$row blocks=([0-9]+) bytes=([0-9]+)\$/\1 \2 \3/p" marks)" \
    "$(for i in {0..11}; do echo "$i $((i + 1)) $((104 * (i + 1)))"; done)" \
    'and has what was live of a stack'
run_expect_status 0 'marks as JSON' "$FLAME" dump -j -s mark -o marks.json g.flame
is_int "$(python3 -c 'import json; print(sum("name" in m for m in json.load(open("marks.json"))["mark"]))')" 12 \
    'are as many'

# The events inside flame.
run_expect_status 0 'FLAME_DEBUG=events' env FLAME_DEBUG=events "$FLAME" off -q -o o.folded -- sleep 0.01
file_has err '^flame: events: [0-9.]+ [0-9]+/[0-9]+ entry clock_nanosleep\(' 'tells entries'
file_has err '^flame: events: .* end = 0' 'and ends'
file_has err '^flame: events: .* exit clock_nanosleep = 0( held .*)?$' 'of calls too, whose arguments are with the entry'
file_lacks err '^flame: (stacks|symbols)' 'and nothing else'
run_expect_status 0 'FLAME_DEBUG=replay' env FLAME_DEBUG=replay "$FLAME" off -q -o o.folded -- sleep 0.01
file_has err '^flame: replay: options .*depth=' 'begins with the options'
file_has err '^flame: replay: entry t=[0-9]+ pid=[0-9]+ tid=[0-9]+ call=clock_nanosleep args=' 'tells events'
file_has err '^flame: replay: sched tid=[0-9]+ cpu=[0-9]+' 'and what the world says'
is_str "$(grep '^flame: replay: ' err | tail -n 1 | cut -d ' ' -f 3)" finish 'to the end'
# Stacks of logged calls were walked in the thread itself, so calls stop here.
run_expect_status 0 'FLAME_DEBUG=stacks,symbols' env FLAME_DEBUG=stacks,symbols \
    "$FLAME" off --no-inside -q -o o.folded -- sleep 0.01
file_has err '^flame: stacks: thread [0-9]+ at sp [0-9a-f]+: [0-9]+ frames, [0-9]+ bytes copied, whole: ' \
    'tells walks'
file_has err '^flame: stacks: libunwind was asked for [0-9]+, 0 are cut short$' 'and what they came to'
file_has err '^flame: symbols: /.*libc.*: [0-9]+ symbols; file read' 'and where names come from'
file_lacks err '^flame: events' 'but no events'
rm -f o.folded
run_expect_status 2 'FLAME_DEBUG=stacks,bogus' env FLAME_DEBUG=stacks,bogus,x \
    "$FLAME" off -q -o o.folded -- touch was-run
is_str "$(cat err)" \
    "flame: FLAME_DEBUG knows events, stacks, symbols, replay, but not 'bogus'" \
    'one line names those that exist'
is_str "$(ls was-run o.folded 2>/dev/null)" '' 'nothing was run or written'
run_expect_status 0 'FLAME_DEBUG with nothing in it' env FLAME_DEBUG=,symbols, "$FLAME" --version

done_testing
