#!/bin/bash
# Wrong files, text that is mostly not understood, and lines that end in two numbers:
# each command reports them, and draws no picture of them.
. "${0%/*}/../lib.sh"

# Lists the written files, if there are any.
echo_files() {
    find . -maxdepth 1 -name 'x.*'
}

# COMMAND... says PATTERN in one line of FILE, and leaves no output.
refuses() { # FILE PATTERN
    local file=$1 pattern=$2 command
    for command in 'collapse -o x.folded' 'fold -o x.folded' 'render -o x.svg' 'top'; do
        # shellcheck disable=SC2086 # words
        run "$FLAME" $command "$file"
        is_str "$status $(wc -l <err) $(echo_files)$(cat out)" '2 1 ' "$command $file: one line, no output"
        file_has err "$pattern" "$command $file: says what it is"
    done
}

printf 'a;b 1\na;c 2\n' >stacks
{ printf 'PERFILE2'; head -c 100 /dev/zero; } >perf.data
refuses perf.data "^flame: perf.data: is perf's own file; 'perf script -i FILE \| flame collapse' makes stacks of it$"
printf '\xfd7zXZ\0\0\4' >stacks.xz
refuses stacks.xz "is packed by xz; unpack it first: 'xz -dk FILE'$"
printf 'BZh91AY&SY\0' >stacks.bz2
refuses stacks.bz2 "is packed by bzip2; "
{ printf 'PK\3\4\24\0\0\0\0\0stacks'; cat stacks; } >stacks.zip
refuses stacks.zip 'is a zip archive; '
iconv -f UTF-8 -t UTF-16 stacks >wide
refuses wide "is UTF-16; 'iconv "
printf 'PERFILE2;a 5\nBZh;b 6\n' >names
is_str "$("$FLAME" collapse names)" $'BZh;b 6\nPERFILE2;a 5' \
    'collapse of frames with names like magic numbers reads them'

# Other profilers' files, by commands that take folded text.
corpus=$ROOT/tests/corpus
for of in callgrind/simulated:callgrind ghc:GHC pprof/difference:pprof speedscope:speedscope; do
    files=("$corpus/${of%:*}" "$corpus/${of%:*}"/*)
    cp "${files[-1]}" other 2>/dev/null || cp "${files[0]}" other
    for command in 'fold -o x.folded' 'render -o x.svg' 'top'; do
        # shellcheck disable=SC2086 # words
        run_expect_status 2 "$command of ${of%:*}" "$FLAME" $command other
        file_has err "^flame: other: looks like .*${of#*:}.*, not folded stacks; 'flame collapse other' makes these of it$" \
            "$command of ${of%:*} proposes flame collapse"
        is_str "$(echo_files)" '' "$command of ${of%:*} draws nothing"
    done
done

# Text that is mostly no stacks.
printf 'total 12\ndrwxr-xr-x 2 root root 4096 May  9  2026 one\n-rw-r--r-- 1 root root 17 May  9  2026 two\n' >listing
printf '{"a": [1, 2, 3]}\n' >odd.json
for command in 'fold -o x.folded' 'render -o x.svg' 'top'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 2 "$command of a listing" "$FLAME" $command listing
    file_has err '^flame: listing: 2 of 3 lines are no folded stacks, which are lines like .main;read 42.; the first is line 2: drwx' \
        "$command of a listing shows the first wrong line"
    # shellcheck disable=SC2086 # words
    run_expect_status 2 "$command of other JSON" "$FLAME" $command odd.json
    is_str "$(echo_files)" '' "$command of a listing and other JSON draws nothing"
done
run_expect_status 2 'collapse of unknown JSON ends with status 2' "$FLAME" collapse odd.json
file_has err "^flame: odd.json: begins with '\{\"a\": \[1, 2, 3\]\}', and holds no stack in any format" \
    'collapse of unknown JSON shows its beginning'

# Most of it is: all commands take it.
{ seq -f 'a;f%g 1' 8; printf 'what is\nthis here\n'; } >eight
for command in collapse fold render top; do
    run_expect_status 0 "$command of eight good lines of ten succeeds" "$FLAME" "$command" eight
    file_has err '(2 lines were|2 of 10 lines) not understood' \
        "$command of eight good lines of ten counts the others"
done
for n in 5 3; do
    { seq -f 'a;f%g 1' $n; seq -f 'what is x%g' 5; } >half
    want=$((n == 5 ? 0 : 2))
    for command in collapse fold render top; do
        run_expect_status $want "$command of $n good lines beside 5 others ends with status $want" \
            "$FLAME" "$command" half
    done
done

# A file is a comparison if its lines are.
printf 'a;b 10\na;c 20\nthread 1234 5\na;d 478\na;e 500\n' >numbers
want=$'a;b 10\na;c 20\na;d 478\na;e 500\nthread_1234 5'
for command in collapse fold; do
    run "$FLAME" "$command" numbers
    is_str "$(cat out)" "$want" "$command: one line of two numbers makes no comparison"
    file_has err '^flame: numbers: line 3 ends in two numbers, and most lines in one: the first is read as a part of the name$' \
        "$command reports one line of two numbers"
done
"$FLAME" render -f csv numbers >plain.csv 2>err
file_has plain.csv '^"thread_1234",,,5,5$' 'render of one line of two numbers draws no comparison'
printf 'a;b 10 12\na;c 20 18\na;d 1 0\n' >both
is_str "$("$FLAME" fold both)" "$(cat both)" 'fold of a comparison has both counts'
printf 'a;e 7\n' >>both
run "$FLAME" fold both
is_str "$(grep -c . out)" 3 'fold of a comparison leaves out a line of one number'
file_has err '1 line was not understood and left out, the first is line 4: a;e 7$' \
    'fold of a comparison reports a line of one number'
done_testing
