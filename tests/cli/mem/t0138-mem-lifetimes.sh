#!/usr/bin/env bash
# Sizes and lifetimes of blocks: exact counts where the clock is allocated bytes, and
# in time the counts of the program's own clock.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim lives -pthread

# STACK CLASS FROM BLOCKS BYTES, a line each, of the classes that $1, a regular expression, matches.
histograms() {
    local file=${2:-t.flame}
    "$FLAME" dump -s histogram "$file" | grep -E " class=($1) " >hist
    sed -E 's/^histogram stack=([0-9]*) class=([a-z-]*)( from=([0-9]*))?( to=[0-9]*)? blocks=([0-9]*) bytes=([0-9]*)$/\1 \2 \4 \6 \7/' hist
}
# The histograms without the stack, of all stacks together, in order.
summed() {
    histograms "$@" | awk '{ k = $2 " " $3; n[k] += $4; b[k] += $5 }
        END { for (k in n) printf "%s %.0f %.0f\n", k, n[k], b[k] }' | LC_ALL=C sort -k1,1 -k2,2n
}
# FUNCTION BYTES of a view, by the functions that call malloc.
leaves() {
    fview "$@" | sed -n 's/.*;\([a-z_]*\)\(_\[i\]\)\? \([0-9]*\)$/\1 \3/p' | LC_ALL=C sort
}

record lifetimes=bytes ./lives sizes
is_str "$status$(cat out err)" 0 'lives sizes ends with status 0'
is_str "$(summed size)" 'size 0 9 35
size 9 11 141
size 17 7 119
size 2049 8 32768
size 4097 9 36873
size 2097153 10 30000000
size 536870913 1 629145600' 'each size is in its class'
is_str "$(summed 'lifetime.*')" 'lifetime-bytes 0 55 659215536' 'no block of lives sizes lived for a byte'

record lifetimes=bytes ./lives bytes
is_str "$status$(cat out err)" 0 'lives bytes ends with status 0'
is_str "$(histograms 'lifetime.*|age.*' | sed 's/^[0-9]* //' | sort)" 'age-bytes 131072 7 7000
lifetime-bytes 0 1 1
lifetime-bytes 0 1 573
lifetime-bytes 0 1 65485
lifetime-bytes 0 1 65536
lifetime-bytes 0 10 500
lifetime-bytes 0 1000 100000
lifetime-bytes 32768 2 100
lifetime-bytes 65536 3 150' 'each block is in the class of the bytes allocated in its life'
is_str "$(leaves short)" 'at_once 100000
later 600
pass_bytes 131595' '--view short: blocks freed before 64 KiB were allocated'
is_str "$(leaves short --short 128k t.flame)" 'at_once 100000
later 750
pass_bytes 131595' '--view short --short 128k: blocks freed before 128 KiB were allocated'
is_str "$(leaves short --short 32k t.flame)" 'at_once 100000
later 500
pass_bytes 131595' '--view short --short 32k: blocks freed before 32 KiB were allocated'
is_str "$(leaves old)" '' '--view old: no block is as old as 64 MiB'
is_str "$(leaves old --old 128k t.flame)" 'never 7000' '--view old --old 128k: blocks as old as 128 KiB'
is_str "$(leaves old --old 256k t.flame)" '' '--view old --old 256k: no block is as old as 256 KiB'
like "$("$FLAME" fold --view short --short 128k t.flame | head -1)" ' view=short .* limit=128k$' \
    'the header of --view short has the limit'
# FUNCTION;CLASS BYTES of a view.
by_class() {
    fview "$1" | sed -n 's/.*;\([a-z_]*\)\(_\[i\]\)\?;\(\[.*\] [0-9]*\)$/\1 \3/p' | LC_ALL=C sort
}
is_str "$(by_class lifetimes)" 'at_once [under 1k] 100000
later [32k to 64k] 100
later [64k to 128k] 150
later [under 1k] 500
never [live: 128k to 256k] 7000
pass_bytes [under 1k] 131595' '--view lifetimes has a frame for each class'
is_str "$(by_class sizes | grep -v pass)" 'at_once [65 to 128 bytes] 100000
later [33 to 64 bytes] 750
never [513 to 1024 bytes] 7000' '--view sizes has a frame for each class'
is_int "$(total lifetimes)" "$(total alloc)" '--view lifetimes sums to the allocated bytes'
is_int "$(total sizes)" "$(total alloc)" '--view sizes sums to the allocated bytes'
is_int "$(fview alloc | grep -c '\[')" "$(fview alloc | grep -c '\[i\]')" 'other views have no frame of a class'
is_int "$(total live)" 7000 '--view live of lives bytes'

record lifetimes=bytes ./lives realloc
is_str "$status$(cat out err)" 0 'lives realloc ends with status 0'
is_str "$(summed 'size|lifetime.*')" 'lifetime-bytes 0 6 1500024
size 17 1 24
size 65537 1 100000
size 131073 1 200000
size 262145 3 1200000' 'a block that grows ends and begins; one whose realloc fails continues'

# Threads: the lifetime counts for the stack that allocated, whichever thread frees.
record lifetimes=bytes ./lives threads
is_str "$status$(cat out err)" 0 'lives threads ends with status 0'
is_str "$(histograms size | awk '$3 == 33 { print $4 }' | LC_ALL=C sort -n | xargs)" '100 100 100 100 400' \
    'lives threads: blocks allocated'
histograms 'lifetime.*|age.*' >told
is_str "$(awk '{ k = $1 " " substr($2, 1, 3); n[k] += $4 } END { for (k in n) print n[k] }' told |
    LC_ALL=C sort -n | grep -v '^[34]$' | xargs)" '50 50 50 50 50 50 50 50 400' \
    'lives threads: blocks freed and live'

# A fork: each process reports its own lifetimes, and the child the ages of the blocks that it
# inherited.
record lifetimes=time ./lives fork
is_str "$status$(cat out err)" 0 'lives fork ends with status 0'
is_str "$(summed size | cut -d' ' -f1-4)" 'size 129 10 2000' "lives fork: the parent's allocated blocks"
blocks() { histograms "$1" "$2" | awk '{ n += $4; b += $5 } END { printf "%d %d\n", n, b }'; }
is_str "$(blocks lifetime t.flame) $(blocks age t.flame)" '2 400 8 1600' \
    'lives fork: the parent freed two blocks, and has eight'
is_str "$(summed size t.flame.1)" 'size 257 3 900' 'lives fork: the child allocated three blocks'
is_str "$(blocks lifetime t.flame.1) $(blocks age t.flame.1)" '1 300 7 1600' \
    "lives fork: the child freed one own block, and five of the parent's are live in it"
is_str "$(leaves old --old 1us t.flame t.flame.1)" "$(leaves live t.flame t.flame.1)" \
    '--view old --old 1us equals --view live, with stacks of inherited blocks'

# By time: each lifetime is between the times that the program read within and around the two calls.
record lifetimes=time ./lives time
is_int "$status" 0 'lives time ends with status 0'
is_int "$(wc -l <out)" 550 'lives time prints each lifetime'
is_str "$(summed lifetime | awk '{ n += $3; b += $4 } END { print n, b }')" '550 17600' \
    'lives time: the trace has each lifetime'
summed lifetime | cut -d' ' -f2,3 >classes
# For each bound: how many are certainly shorter (MOST), and how many may be (LEAST). A clock's
# own error is 100 ns.
is_str "$(awk 'NR == FNR { from[NR] = $1; n[NR] = $2; k = NR; next }
    { least[FNR] = $1; most[FNR] = $2; all = FNR }
    END {
        for (c = 1; c <= k; c++) {
            surely = maybe = 0
            for (i = 1; i <= all; i++) {
                if (most[i] + 200 + most[i] / 10000 < from[c]) surely++
                if (least[i] - 200 - least[i] / 10000 < from[c]) maybe++
            }
            if (below < surely || below > maybe)
                printf "under %s ns: %d, and not %d to %d\n", from[c], below, surely, maybe
            below += n[c]
        }
    }' classes out)" '' "lives time: the classes agree with the program's own clock"
ok 'lives time: lifetimes are in several classes' test "$(wc -l <classes)" -ge 4

# Ages: a block allocated 1.2 s before the end is old, one just allocated is not (unless the
# machine stalled).
old_alone() {
    record lifetimes=time ./lives old
    [ "$(leaves old)" = 'never 5000' ]
}
again 5 old_alone
is_str "$(leaves old)" 'never 5000' '--view old: blocks live for a second at the end'
is_str "$(leaves old --old 1us t.flame)" 'later 150
never 5000' '--view old --old 1us: blocks live for a microsecond at the end'
is_str "$(leaves old --old 1000s t.flame)" '' '--view old --old 1000s: no block'

# A killed process has lifetimes and no ages.
record lifetimes=time ./lives killed
is_str "$(summed 'size|lifetime' | cut -d' ' -f1,3,4)" 'lifetime 1 50
size 3 150' 'lives killed: the lifetimes of freed blocks are in the trace'
refused='recorded without a look at how old blocks are'
status=0
"$FLAME" fold --view old t.flame 2>err || status=$?
is_int "$status" 2 'fold --view old of a killed process ends with status 2'
like "$(cat err)" "t.flame: $refused" 'fold --view old of a killed process says why'

# Recorded without lifetimes.
record '' ./lives bytes
is_str "$("$FLAME" dump -s histogram t.flame)" '' 'a trace without lifetimes has no histogram'
status=0
"$FLAME" fold --view short t.flame 2>err || status=$?
is_int "$status" 2 'fold --view short of a trace without lifetimes ends with status 2'
like "$(cat err)" 'recorded without lifetimes, which flame mem --lifetimes' \
    'fold --view short of a trace without lifetimes names --lifetimes'

# Sampled: estimates.
record lifetimes=bytes:sample=4096 ./lives bytes
is_int "$status" 0 'lifetimes of a sample: the program ends with status 0'
is_int "$(summed size | awk '{ n += $4 } END { printf "%d\n", n }')" "$(total alloc)" \
    'lifetimes of a sample: sizes sum to the allocated bytes'

# Pools: a pool's block has its own birth, and its backing block counts less.
compile_victim pooler -pthread
for pool in 'random 3 1' 'random 3 4' full odd; do
    # shellcheck disable=SC2086 # several words
    record lifetimes=bytes ./pooler $pool
    is_int "$status" 0 "lifetimes of a pool, $pool: the program ends with status 0"
    is_int "$(total lifetimes)" "$(total alloc)" \
        "lifetimes of a pool, $pool: each allocated byte lived and died once"
done

# Together with the other scans.
record lifetimes=bytes:rss=1:leak=1:misuse=1 ./lives bytes
is_str "$status$(cat out err)" 0 'lifetimes with rss, leak and misuse: the program ends with status 0'
is_int "$(total lifetimes)" "$(total alloc)" 'lifetimes with rss, leak and misuse sum to the allocated bytes'
is_int "$("$FLAME" dump -s resident t.flame | sed 's/.* bytes=\([0-9]*\).*/\1/')" \
    "$("$FLAME" dump -s resident t.flame | sed 's/.*kernel_bytes=\([0-9]*\).*/\1/')" \
    "lifetimes with rss, leak and misuse: resident memory sums to the kernel's"

# flame mem.
flame_mem() {
    status=0
    "$FLAME" mem -q "$@" >out 2>err || status=$?
}
flame_mem --view short -o s.folded -- ./lives bytes
is_str "$status$(cat err)" 0 'flame mem --view short records lifetimes'
flame_mem --view short --short 64k -o s.folded -- ./lives bytes
is_str "$(sed -n 's/.*;\([a-z_]*\) \([0-9]*\)$/\1 \2/p' s.folded | LC_ALL=C sort)" 'at_once 100000
later 600
pass_bytes 131595' 'flame mem --view short --short 64k records lifetimes in bytes'
flame_mem --lifetimes bytes -o l.flame -- ./lives bytes
is_str "$(leaves old --old 128k l.flame)" 'never 7000' 'flame mem --lifetimes bytes: the trace has ages'
flame_mem --view old --old 128k -o o.html -- ./lives bytes
is_str "$status$(cat err)" 0 'flame mem --view old -o o.html succeeds'
is_int "$(grep -c 'Old memory at the end' o.html)" 1 'the page of flame mem --view old has that view'

flame_mem --view alloc --short 1ms -o s.svg -- ./lives bytes
is_str "$status $(cat err)" '2 flame: mem: --short and --old go with --lifetimes, --view short or --view old' \
    'flame mem --short without a view of lifetimes is refused'
flame_mem --lifetimes bytes --short 1ms -o s.svg -- ./lives bytes
like "$status $(cat err)" '^2 flame: mem: lifetimes are recorded by allocated bytes' \
    'flame mem --short in time with --lifetimes bytes is refused'
flame_mem --lifetimes hours -o s.svg -- ./lives bytes
like "$status $(cat err)" '^2 flame: mem: --lifetimes hours: expected time or bytes' \
    'flame mem --lifetimes hours is refused'
for value in 3ms 0s 5 1 x '' 65k 1500us; do
    flame_mem --view short --short "$value" -o s.svg -- ./lives bytes
    like "$status $(cat err)" '^2 flame: mem: --short .*: expected ' "flame mem --short '$value' is refused"
done
status=0
"$FLAME" fold --view short --short 1ms l.flame 2>err || status=$?
is_str "$status $(cat err)" \
    '2 flame: l.flame: lifetimes were recorded by allocated bytes; give --short as bytes (64k, say)' \
    'fold --short in time of a trace in bytes is refused'

done_testing
