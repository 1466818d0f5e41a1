#!/bin/bash
# Traces of ended processes are ingested while the command runs: their files are
# removed, and the result equals that of reading all at the end.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim family
compile_victim forks -pthread
compile_victim keeper
compile_victim outlives
compile_victim executes -ldl
use_own_tmpdir
mkfifo go
cp keeper gone

# ---- the files ----

cat >many <<'EOS'
for i in 1 2 3 4 5 6 7 8; do
    for k in 1 2 3 4 5 6 7 8; do ./keeper keep:100 fork keep:50; done
    for n in $(seq 200); do
        set -- "$TMPDIR"/flame-mem.*/*.flame
        [ $# -gt 9 ] || break
        sleep 0.05
    done
    echo $# >>left
done
EOS
run_expect_status 0 'flame mem of a command of many processes succeeds' "$FLAME" mem -o x.folded -- bash ./many
is_int "$(wc -l <left)" 8 'the command of many processes counts the files eight times'
ok 'traces of ended processes are removed while the command runs' \
    test "$(sort -n left | tail -n 1)" -le 9
is_int "$(awk '/keep_block/ { n += $NF } END { print n }' x.folded)" $((64 * 150)) \
    'ingested traces: each byte is in the result'
is_str "$(ls "$TMPDIR")" '' 'ingested traces: no file is left in TMPDIR'

# Files are reused, also where the name of a process's trace was used by the program that it
# ran before.
cat >again <<'EOS'
made() { od -An -tu4 -j20 -N4 "$TMPDIR"/flame-mem.*/notes | tr -d ' '; }
for n in $(seq 600); do
    bash -c 'exec bash -c :'
    ! (($(made) > 200)) || break
done
for n in $(seq 100); do # until nobody is writing to one
    sleep 0.1
    [ "$(find "$TMPDIR" -name '*.flame' | wc -l)" -gt 1 ] || break
done
cat "$TMPDIR"/flame-mem.*/spare.* | tr -d '\0' | wc -c
stat -c '%b %s' "$TMPDIR"/flame-mem.*/spare.* | awk '{ most = $1 > most ? $1 : most } END { print most * 512 }'
made
EOS
run_expect_status 0 'flame mem of programs that execute themselves succeeds' \
    "$FLAME" mem -o x.folded -- bash ./again
{ read -r left; read -r kept; } <out
is_int "$left" 0 'spare files are empty'
ok "spare files keep their pages ($kept)" test "$kept" -ge 16384 -a "$kept" -le 65536
ok "trace files become spares ($(tail -n 1 out))" test "$(tail -n 1 out)" -gt 200

# ---- the numbers ----

# All ways in which a process begins and ends.
cat >ways <<'EOS'
./family 40 400 6 3
./forks fork; ./forks raw; ./forks vfork; ./forks threads
for i in 1 2 3 4 5; do
    ./keeper keep:100:50 hold:10:7 fork keep:20:3 exec keep:30 drop:1000 fork keep:40
    ./keeper keep:77:9 hold:900000 signal:9
    ./keeper drop:5000:100 keep:1 exec hold:2 exec keep:3 exec exit:3
done
./keeper keep:11:11 wait <hold >ready & killed=$!
exec 8>hold
read -r line <ready
kill -9 $killed
wait $killed
./gone keep:1234 fork hold:4321
sleep 0.2
./outlives go ended ./executes
true
EOS
mkfifo hold ready
let_it_end() {
    echo x >go
    until_true test -e ended
    rm -f ended ended.show
}
# The shell's own strings differ from run to run: they have process numbers in them.
# How much the threads of forks do is chance.
victims() { grep -E '^(family|forks|keeper|gone|outlives);' | grep -v ';churn ' | sort; }

mkdir apart
run env FLAMEMEM_OPTIONS=inherit=0 "$FLAME" mem -o apart/t.flame -- bash ./ways
grep -Eo '[0-9]+ processes' err >apart.says
let_it_end
for view in alloc count live peak temp; do
    run "$FLAME" mem --view $view -o t.folded -- bash ./ways
    let_it_end
    victims <t.folded >together
    "$FLAME" fold --view $view apart/*.flame 2>fold.err | victims >wanted
    cmp -s wanted together || diff wanted together | head -n 5 | sed 's/^/# /'
    ok "--view $view: ingested traces give what all traces read at the end give" \
        test -s wanted -a "$(cksum <wanted)" = "$(cksum <together)"
done
is_str "$(grep -Eo '[0-9]+ processes' err)" "$(cat apart.says)" \
    'the summary counts the same processes with and without ingestion'
done_testing
