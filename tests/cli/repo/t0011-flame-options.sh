#!/bin/bash
# Uses of the commands' tables of options: help, manual pages, completions, and the same message for
# the same mistake.
. "${0%/*}/../lib.sh"

commands=$("$FLAME" help | sed -n 's/^  \([a-z]*\) .*/\1/p')

# The options that a command's help lists, in long form.
listed() {
    "$FLAME" "$1" --help | sed -nE 's/^  (-[a-zA-Z],|   ) --([a-z-]+).*/\2/p' | sort -u
}

# The long options that manual pages document: .It Fl x Ar y , Fl -name. Filters have a page
# of their own, and what all commands have is in flame(1).
documented() {
    sed -n 's/^\.It Fl/Fl/p' "${@/#/$ROOT/man/}" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -//' | sort -u
}

for command in $commands; do
    is_str "$(comm -23 <(listed "$command") \
        <(documented "flame-$command.1" flame-filters.7 flame.1))" '' \
        "each option of $command is in its manual page"
    is_str "$(comm -23 <(documented "flame-$command.1") <(listed "$command") |
        grep -vx event-filter)" '' "and $command has each option of its manual page"
    is_str "$("$FLAME" "$command" --version)" "$("$FLAME" --version)" "$command --version"
    is_str "$("$FLAME" "$command" -h)" "$("$FLAME" "$command" --help)" "$command -h is --help"
    is_str "$("$FLAME" help "$command")" "$("$FLAME" "$command" --help)" "flame help $command"
    is_str "$("$FLAME" "$command" --help | sed '/^$/,$!d; /^Palettes/,$d; /^Kinds/,$d' |
        awk 'length > 80')" '' "$command's help has 80 columns"
    run_expect_status 2 "$command --hepl" "$FLAME" "$command" --hepl
    is_str "$(cat err)" "flame: $command: --hepl: unknown option; did you mean --help? 'flame \
$command --help' lists the options" 'is told what it may have meant'
    run_expect_status 2 "$command --qwertzuiop" "$FLAME" "$command" --qwertzuiop=3
    is_str "$(cat err)" "flame: $command: --qwertzuiop: unknown option; 'flame $command --help' \
lists the options" 'nothing is meant by a word that is like none'
    run_expect_status 2 "$command --help=x" "$FLAME" "$command" --help=x
    file_has err "$command: --help: takes no value" 'a value too many'
    run_expect_status 2 "$command -X" "$FLAME" "$command" -X
    file_has err "$command: -X: unknown option" 'an unknown letter'
done

run_expect_status 2 'a value that is missing' "$FLAME" fold -o
file_has err 'fold: -o: needs a value' 'is named by its letter'
run_expect_status 2 'a prefix of two' "$FLAME" render --he
file_has err '--he: is short for 2 options' 'is ambiguous'
run_expect_status 2 'a command with a letter too few' "$FLAME" fol
file_has err "unknown command 'fol'; did you mean fold" 'is guessed'
run_expect_status 2 'help on what is no command' "$FLAME" help fol
file_has err "unknown command 'fol'; did you mean fold" 'is guessed, too'
for word in hlep:help --hepl:--help --versoin:--version; do
    run_expect_status 2 "${word%:*}" "$FLAME" "${word%:*}"
    file_has err "unknown command '${word%:*}'; did you mean ${word#*:}\?" 'is guessed'
done
for words in 'help help' 'help --help' 'help -h' '--help help' '-h' 'help --version' 'help --complete'; do
    # shellcheck disable=SC2086 # several words
    run_expect_status 0 "$words" "$FLAME" $words
    is_str "$(cat out)" "$("$FLAME" --help)" 'is help'
done
run_expect_status 2 'help on two commands' "$FLAME" help fold top
file_has err 'help: takes one command; got 2' 'says so'

# An ending that nothing writes is a mistake; found before anything is read or run.
printf 'a;b 1\n' >x.folded
for out in a.pdf y.xyz; do
    run_expect_status 2 "render -o $out" "$FLAME" render -o "$out" x.folded
    file_has err "render: -o $out: .*\.svg, \.html, \.png" 'names the endings there are'
    run_expect_status 2 "mem -o $out" "$FLAME" mem -o "$out" -- touch ran
    file_has err "mem: -o $out: .*\.svg, \.html, \.png" 'mem too'
    run_expect_status 2 "off -o $out" "$FLAME" off -o "$out" -- touch ran
    file_has err "off: -o $out: .*\.svg, \.html, \.png" 'off too'
done
not_ok 'nothing was run' test -e ran
for out in d.svg d.html d.pdf d.callgrind d.speedscope; do
    run_expect_status 2 "diff -o $out" "$FLAME" diff -o "$out" x.folded x.folded
    file_has err "diff: -o $out: .*text: end it in .folded or .txt" 'diff writes text'
    run_expect_status 2 "fold -o $out" "$FLAME" fold -o "$out" x.folded
    file_has err "fold: -o $out: .*'flame render -o $out'" 'so does fold, and says who draws'
    run_expect_status 2 "collapse -o $out" "$FLAME" collapse -o "$out" x.folded
    not_ok "no $out is left" test -e "$out"
done
# dump writes text or JSON, and draws nothing.
"$FLAME" mem -q -o true.flame -- true
# Every ending that flame render understands is one, also those of more letters than are usual.
formats=$("$FLAME" render -f '' x.folded 2>&1 | sed 's/.*expected //; s/, / /g; s/ or / /')
like " $formats " ' svg .* callgrind .* csv ' 'all formats'
for format in $formats; do
    case $format in
    text | folded) continue ;;
    esac
    run_expect_status 2 "fold -o d.$format" "$FLAME" fold -o "d.$format" x.folded
    is_str "$(cat err)" "flame: fold: -o d.$format: 'fold' writes folded stacks, which are text: end \
it in .folded or .txt; 'flame render -o d.$format' makes other files of them" 'says who writes it'
    not_ok "no d.$format is left" test -e "d.$format"
done
for out in d.svg d.html d.png d.pdf d.folded d.stacks d.callgrind; do
    run_expect_status 2 "dump -o $out" "$FLAME" dump -o "$out" true.flame
    is_str "$(cat err)" "flame: dump: -o $out: its suffix names no format; end it in .txt \
or .json; 'flame render -o $out' draws traces" 'dump names its endings'
    not_ok "no $out is left" test -e "$out"
done
for out in d.txt plain; do
    run_expect_status 0 "dump -o $out" "$FLAME" dump -o "$out" true.flame
    like "$(head -n 1 "$out")" '^header ' "$out is text"
done
run_expect_status 0 'dump -o d.json' "$FLAME" dump -o d.json true.flame
ok 'd.json is JSON' python3 -c 'import json; json.load(open("d.json"))["header"]'
rm -f plain d.txt d.json

# The message for a mistake is the same in every command.
for command in fold render top collapse dump 'diff x.folded' 'render x.folded --nameattr'; do
    # shellcheck disable=SC2086 # several words
    run_expect_status 2 "$command: a file that is not there" "$FLAME" $command none.file
    is_str "$(cat err)" 'flame: none.file: cannot read: No such file or directory; check the name' \
        'says so as all do'
    # shellcheck disable=SC2086
    run_expect_status 2 "$command: a directory" "$FLAME" $command /usr
    is_str "$(cat err)" 'flame: /usr: cannot read: Is a directory; name a file in it' 'the same'
done
for command in 'fold x.folded' 'fold true.flame' 'render x.folded' 'collapse x.folded' \
    'diff x.folded x.folded' 'dump true.flame' 'render x.folded -f text' 'fold true.flame x.folded'; do
    # shellcheck disable=SC2086
    run_expect_status 2 "$command: no such directory" "$FLAME" $command -o none/x
    is_str "$(cat err)" 'flame: none/x: cannot write: No such file or directory; choose a directory '\
'that is there and writable' 'says so as all do'
    # shellcheck disable=SC2086
    run_expect_status 2 "$command: onto a directory" "$FLAME" $command -o /usr
    is_str "$(cat err)" 'flame: /usr: cannot write: Is a directory; name a file in it' 'the same'
    # shellcheck disable=SC2086
    run_expect_status 1 "$command: no space" "$FLAME" $command -o /dev/full
    is_str "$(cat err)" 'flame: /dev/full: cannot write: No space left on device' 'the same'
done
for command in mem leak off; do
    run_expect_status 2 "$command: no such directory" "$FLAME" "$command" -o none/x.svg -- touch ran
    is_str "$(cat err)" 'flame: none/x.svg: cannot write: No such file or directory; choose a '\
'directory that is there and writable' 'says so as all do'
done
not_ok 'nothing was run' test -e ran
for command in fold render top 'diff x.folded'; do
    # shellcheck disable=SC2086
    run_expect_status 2 "$command: an unknown view" "$FLAME" $command --view nope x.folded
    like "$(cat err)" "^flame: ${command%% *}: --view nope: expected alloc, .* or hotcold\$" \
        'is found before any file is read, and the views are listed'
done
views=$("$FLAME" fold --view '' x 2>&1 | sed 's/.*expected //; s/,//g; s/ or / /')
like "$views" '^alloc .* hotcold$' 'all views'
is_str "$(for view in $views; do
    grep -qE "^\.It Cm ([a-z]+ , )*$view( |\$)" "$ROOT"/man/flame-{fold,off}.1 || echo "$view"
done)" '' 'have a definition in a manual page'
run_expect_status 2 'an unknown format' "$FLAME" render -f gif x.folded
like "$(cat err)" '^flame: render: -f gif: expected svg, .* or csv$' 'the formats are listed'
run_expect_status 2 'an unknown palette' "$FLAME" render --colors beige x.folded
like "$(cat err)" '^flame: render: --colors beige: expected hot, .* or hotcold$' 'the palettes are'
run_expect_status 2 'an unknown kind' "$FLAME" collapse --from nope x.folded
like "$(cat err)" '^flame: collapse: --from nope: expected perf, .* or heaptrack$' 'the kinds are'
run_expect_status 2 'what is no trace' "$FLAME" dump x.folded
is_str "$(cat err)" "flame: x.folded: not a trace; name a file that 'flame mem', 'flame off' or \
libflamemem.so has written" 'is told who writes them'

for out in plain d.folded d.txt tmp.Q8SjwCP9aL; do
    run_expect_status 0 "fold -o $out" "$FLAME" fold -o "$out" x.folded
    is_str "$(cat "$out")" 'a;b 1' "$out is written"
done
mkdir plain.d
run_expect_status 0 'a picture whose name has no ending' "$FLAME" render -o plain.d/plain x.folded
file_has plain.d/plain '^<svg ' 'is what render draws by default'
run_expect_status 2 'a recording has no default' "$FLAME" mem -o plain true
file_has err '^flame: mem: -o plain: its suffix names no format; end it in \.flame, \.svg, ' \
    'and names the endings'
run_expect_status 0 'a format that is said needs no ending' "$FLAME" render -f svg -o x.xyz x.folded

# Completions of each shell. Only bash is sure to be here.
run_expect_status 2 'a shell nobody knows' "$FLAME" --complete tcsh
file_has err 'expected bash, zsh or fish' 'names those it knows'
"$FLAME" --complete bash >flame.bash
bash_completes() {
    # shellcheck disable=SC2016 # for the other bash
    bash -c '. ./flame.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flame
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' - "$@"
}
is_str "$(bash_completes flame re)" 'render ' 'bash: a command'
is_str "$(bash_completes flame off --chain)" '--chain-depth ' 'bash: an option'
is_str "$(bash_completes flame mem --view p)" 'peak ' "bash: a view"
is_str "$(bash_completes flame run --view o)" 'off offwake old oncpu ' "bash: views of both recorders"
is_str "$(bash_completes flame run --max-)" '--max-block --max-disk ' "bash: options of both"
is_str "$(bash_completes flame collapse --from perf-)" 'perf-sched ' 'bash: a format'
is_str "$(bash_completes flame render --colors w)" 'wakeup ' 'bash: a palette'
is_str "$(bash_completes flame render x.fol)" 'x.folded ' 'bash: a file'
is_str "$(bash_completes flame mem -o y.svg ls x.fol)" 'x.folded ' "bash: the command's own words"
like "$(bash_completes flame mem touc)" 'touch ' 'bash: a command to record'
if command -v fish >/dev/null; then
    "$FLAME" --complete fish >flame.fish
    fish_bare= # before fish 3.4 there is no such option
    ! HOME=$SCRATCH fish --no-config -c true 2>/dev/null || fish_bare=--no-config
    fish_completes() {
        HOME=$SCRATCH fish $fish_bare -c "source flame.fish; complete -C '$1'" | cut -f1 |
            sort | tr '\n' ' '
    }
    is_str "$(fish_completes 'flame rend')" 'render ' 'fish: a command'
    is_str "$(fish_completes 'flame off --chain')" '--chain-depth ' 'fish: an option'
    is_str "$(fish_completes 'flame mem --view pea')" 'peak ' 'fish: a view'
    is_str "$(fish_completes 'flame collapse --from perf-')" 'perf-sched ' 'fish: a format'
else
    skip fish 'no fish here'
fi
if command -v zsh >/dev/null; then
    "$FLAME" --complete zsh >_flame
    run_expect_status 0 'zsh: the script is one' zsh -n _flame
    # The words that _arguments gets are those that are completed; a stand-in for it prints them.
    zsh_asks() {
        # shellcheck disable=SC2016 # for zsh
        zsh -f -c 'compdef() { : }; _describe() { print -l $commands }
            _arguments() { printf "%s\n" "$@" }; . ./_flame
            words=("$@"); CURRENT=$#; _flame' - "$@"
    }
    like "$(zsh_asks flame r)" 'render:draw' 'zsh: commands'
    like "$(zsh_asks flame mem --view '')" '\-\-view=.*:value:\(alloc count live peak temp leak definite indirect inner reachable region growth mmap brk unmapped rss swap slack fault touched sizes lifetimes short old\)' \
        'zsh: a view'
    like "$(zsh_asks flame off x)" '_normal' 'zsh: a command to trace'
else
    skip zsh 'no zsh here'
fi

done_testing
