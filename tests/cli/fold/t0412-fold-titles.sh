#!/usr/bin/env bash
# A process goes by the title that it has set, where processes are told apart.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim titled -pthread

# titled FILE NAME: the stacks of the three children stand on their titles, on nothing that a
# terminal or the text's own signs could be hurt by.
titled() {
    file_has "$1" '^app: checkpointer-[0-9]+;.*;work;' "$2: a title is the root"
    file_has "$1" '^app: logger-[0-9]+;.*;work;' "$2: without the blanks behind it"
    file_has "$1" '^app: evil[^;]+-[0-9]+;.*;work;' "$2: a hostile one is one frame"
    is_str "$(tr -d '\n\040-\176' <"$1")" '' "$2: and harmless"
    is_int "$(cut -d';' -f1 "$1" | sort -u | grep -c '^app: ')" 3 "$2: these three"
}

off ./titled 100
is_int "$status" 0 'waiting'
oview off --pid >off.folded
titled off.folded waiting
file_has off.folded '^helper-[0-9]+;' 'a thread with a name of its own keeps it'
file_has off.folded '^titled-[0-9]+;.*;wait4' 'as does a process without a title'
oview off >merged.folded
is_str "$(cut -d';' -f1 merged.folded | sort -u | tr '\n' ' ')" 'helper titled ' \
    'where processes are put together, they go by their name'
"$FLAME" dump -s header t.flame >facts
file_has facts '^header title_of=[0-9]+ text=app:\\x20checkpointer$' 'the trace has it'
run_expect_status 0 'a picture' "$FLAME" render --pid -o x.svg t.flame
file_has x.svg '<title>app: checkpointer-[0-9]+ \(' 'shows it'

./titled 60000 >said &
pid=$!
until_true grep -q ready said
mapfile -t children < <(pgrep -P $pid)
"$FLAME" off -q -o t.flame -p "$(IFS=, && echo "${children[*]}")" 2>err </dev/null &
flame=$!
for child in "${children[@]}"; do until_attached "$child"; done
kill -INT $flame
wait $flame
is_int $? 0 'attached to'
kill "${children[@]}"
oview off --pid >attached.folded
titled attached.folded attached
wait $pid

run_expect_status 0 'memory' "$FLAME" mem -q -o m.flame -- ./titled 0
"$FLAME" fold --no-header --pid m*.flame >mem.folded
titled mem.folded memory
file_has mem.folded '^titled-[0-9]+;.*;strdup' 'the parent has none'
is_str "$("$FLAME" fold --no-header m*.flame | cut -d';' -f1 | sort -u)" titled \
    'where processes are put together, they go by their name'

# Arguments are no title, however they look.
cp "$(command -v sleep)" 'a: b c'
off sh -c '"./a: b c" 0.05; sleep 0.05; true'
oview off --pid >plain.folded
is_str "$(sed 's/-[0-9]*;.*//' plain.folded | sort -u | tr '\n' ' ')" 'a: b c sh sleep ' \
    'names of programs are none'

done_testing
