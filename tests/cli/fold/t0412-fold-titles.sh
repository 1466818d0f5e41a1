#!/usr/bin/env bash
# With --pid, a process has the title that it has set.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim titled -pthread

# titled FILE NAME: the roots of the three children are their titles, without control characters
# or separators of folded text.
titled() {
    file_has "$1" '^app: checkpointer-[0-9]+;.*;work;' "$2: a process's title is the root"
    file_has "$1" '^app: logger-[0-9]+;.*;work;' "$2: a title has no trailing blanks"
    file_has "$1" '^app: evil[^;]+-[0-9]+;.*;work;' "$2: a hostile title is one frame"
    is_str "$(tr -d '\n\040-\176' <"$1")" '' "$2: a hostile title has no control characters"
    is_int "$(cut -d';' -f1 "$1" | sort -u | grep -c '^app: ')" 3 "$2: three processes have titles"
}

off ./titled 100
is_int "$status" 0 'flame off of titled ends with status 0'
oview off --pid >off.folded
titled off.folded waiting
file_has off.folded '^helper-[0-9]+;' 'a thread with its own name keeps it under --pid'
file_has off.folded '^titled-[0-9]+;.*;wait4' 'a process without a title keeps its name under --pid'
oview off >merged.folded
is_str "$(cut -d';' -f1 merged.folded | sort -u | tr '\n' ' ')" 'helper titled ' \
    'without --pid off-CPU stacks have the names of processes'
"$FLAME" dump -s header t.flame >facts
file_has facts '^header title_of=[0-9]+ text=app:\\x20checkpointer$' 'the off-CPU trace has the title'
run_expect_status 0 'render --pid succeeds' "$FLAME" render --pid -o x.svg t.flame
file_has x.svg '<title>app: checkpointer-[0-9]+ \(' 'the picture of --pid has the title'

./titled 60000 >said &
pid=$!
until_true grep -q ready said
mapfile -t children < <(pgrep -P $pid)
"$FLAME" off -q -o t.flame -p "$(IFS=, && echo "${children[*]}")" 2>err </dev/null &
flame=$!
for child in "${children[@]}"; do until_attached "$child"; done
kill -INT $flame
wait $flame
is_int $? 0 'flame off -p of titled ends with status 0'
kill "${children[@]}"
oview off --pid >attached.folded
titled attached.folded attached
wait $pid

run_expect_status 0 'flame mem of titled succeeds' "$FLAME" mem -q -o m.flame -- ./titled 0
"$FLAME" fold --no-header --pid m*.flame >mem.folded
titled mem.folded memory
file_has mem.folded '^titled-[0-9]+;.*;strdup' 'the memory of a process without a title has its name'
is_str "$("$FLAME" fold --no-header m*.flame | cut -d';' -f1 | sort -u)" titled \
    'without --pid stacks of memory have the names of processes'

# Arguments are never a title.
cp "$(command -v sleep)" 'a: b c'
off sh -c '"./a: b c" 0.05; sleep 0.05; true'
oview off --pid >plain.folded
is_str "$(sed 's/-[0-9]*;.*//' plain.folded | sort -u | tr '\n' ' ')" 'a: b c sh sleep ' \
    "a program's odd name is no title"

done_testing
