#!/bin/bash
# Uses of the commands' tables of options: help, manual pages, completions, and the same message for
# the same mistake.
. "${0%/*}/../lib.sh"

commands=$("$FLAME" help | sed -n 's/^  \([a-z]*\) .*/\1/p')

# The options that a command's help lists, in long form.
listed() {
    "$FLAME" "$1" --help | sed -nE 's/^  (-[a-zA-Z],|   ) --([a-z-]+).*/\2/p' | sort -u
}

# The long options that manual pages document: .It Fl x Ar y , Fl -name. Filters have their own
# page, and options of all commands are in flame(1).
documented() {
    sed -n 's/^\.It Fl/Fl/p' "${@/#/$ROOT/man/}" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -//' | sort -u
}

for command in $commands; do
    is_str "$(comm -23 <(listed "$command") \
        <(documented "flame-$command.1" flame-filters.7 flame.1))" '' \
        "each option of $command is in its manual page"
    is_str "$(comm -23 <(documented "flame-$command.1") <(listed "$command") |
        grep -vx event-filter)" '' "$command has each option of its manual page"
    is_str "$("$FLAME" "$command" --version)" "$("$FLAME" --version)" \
        "flame $command --version is flame --version"
    is_str "$("$FLAME" "$command" -h)" "$("$FLAME" "$command" --help)" "flame $command -h is --help"
    is_str "$("$FLAME" help "$command")" "$("$FLAME" "$command" --help)" \
        "flame help $command is flame $command --help"
    is_str "$("$FLAME" "$command" --help | sed '/^$/,$!d; /^Palettes/,$d; /^Kinds/,$d' |
        awk 'length > 80')" '' "the help of $command has at most 80 columns"
    run_expect_status 2 "flame $command --hepl ends with status 2" "$FLAME" "$command" --hepl
    is_str "$(cat err)" "flame: $command: --hepl: unknown option; did you mean --help? 'flame \
$command --help' lists the options" "flame $command --hepl proposes --help"
    run_expect_status 2 "flame $command --qwertzuiop ends with status 2" "$FLAME" "$command" --qwertzuiop=3
    is_str "$(cat err)" "flame: $command: --qwertzuiop: unknown option; 'flame $command --help' \
lists the options" "flame $command --qwertzuiop proposes nothing"
    run_expect_status 2 "flame $command --help=x ends with status 2" "$FLAME" "$command" --help=x
    file_has err "$command: --help: takes no value" "flame $command --help=x says that it takes no value"
    run_expect_status 2 "flame $command -X ends with status 2" "$FLAME" "$command" -X
    file_has err "$command: -X: unknown option" "flame $command -X names the option"
done

run_expect_status 2 'flame fold -o without a value ends with status 2' "$FLAME" fold -o
file_has err 'fold: -o: needs a value' 'flame fold -o without a value names -o'
run_expect_status 2 'flame render --he ends with status 2' "$FLAME" render --he
file_has err '--he: is short for 2 options' 'flame render --he is ambiguous'
run_expect_status 2 'flame fol ends with status 2' "$FLAME" fol
file_has err "unknown command 'fol'; did you mean fold" 'flame fol proposes fold'
run_expect_status 2 'flame help fol ends with status 2' "$FLAME" help fol
file_has err "unknown command 'fol'; did you mean fold" 'flame help fol proposes fold'
for word in hlep:help --hepl:--help --versoin:--version; do
    run_expect_status 2 "flame ${word%:*} ends with status 2" "$FLAME" "${word%:*}"
    file_has err "unknown command '${word%:*}'; did you mean ${word#*:}\?" \
        "flame ${word%:*} proposes ${word#*:}"
done
for words in 'help help' 'help --help' 'help -h' '--help help' '-h' 'help --version' 'help --complete'; do
    # shellcheck disable=SC2086 # several words
    run_expect_status 0 "flame $words succeeds" "$FLAME" $words
    is_str "$(cat out)" "$("$FLAME" --help)" "flame $words prints the help"
done
run_expect_status 2 'flame help of two commands ends with status 2' "$FLAME" help fold top
file_has err 'help: takes one command; got 2' 'flame help of two commands says that it takes one'

# An unknown ending is an error, found before a file is read or the command runs.
printf 'a;b 1\n' >x.folded
for out in a.pdf y.xyz; do
    run_expect_status 2 "flame render -o $out ends with status 2" "$FLAME" render -o "$out" x.folded
    file_has err "render: -o $out: .*\.svg, \.html, \.png" "flame render -o $out names the endings"
    run_expect_status 2 "flame mem -o $out ends with status 2" "$FLAME" mem -o "$out" -- touch ran
    file_has err "mem: -o $out: .*\.svg, \.html, \.png" "flame mem -o $out names the endings"
    run_expect_status 2 "flame off -o $out ends with status 2" "$FLAME" off -o "$out" -- touch ran
    file_has err "off: -o $out: .*\.svg, \.html, \.png" "flame off -o $out names the endings"
done
not_ok 'unknown endings of mem and off: the command does not run' test -e ran
for out in d.svg d.html d.pdf d.callgrind d.speedscope; do
    run_expect_status 2 "flame diff -o $out ends with status 2" "$FLAME" diff -o "$out" x.folded x.folded
    file_has err "diff: -o $out: .*text: end it in .folded or .txt" \
        "flame diff -o $out says that it writes text"
    run_expect_status 2 "flame fold -o $out ends with status 2" "$FLAME" fold -o "$out" x.folded
    file_has err "fold: -o $out: .*'flame render -o $out'" "flame fold -o $out proposes flame render"
    run_expect_status 2 "flame collapse -o $out ends with status 2" "$FLAME" collapse -o "$out" x.folded
    not_ok "flame diff, fold and collapse leave no $out" test -e "$out"
done
# dump writes text or JSON, and draws nothing.
"$FLAME" mem -q -o true.flame -- true
# Each format of flame render is an ending, also the long ones.
formats=$("$FLAME" render -f '' x.folded 2>&1 | sed 's/.*expected //; s/, / /g; s/ or / /')
like " $formats " ' svg .* callgrind .* csv ' 'flame render -f lists all formats'
for format in $formats; do
    case $format in
    text | folded) continue ;;
    esac
    run_expect_status 2 "flame fold -o d.$format ends with status 2" "$FLAME" fold -o "d.$format" x.folded
    is_str "$(cat err)" "flame: fold: -o d.$format: 'fold' writes folded stacks, which are text: end \
it in .folded or .txt; 'flame render -o d.$format' makes other files of them" \
        "flame fold -o d.$format proposes flame render"
    not_ok "flame fold leaves no d.$format" test -e "d.$format"
done
for out in d.svg d.html d.png d.pdf d.folded d.stacks d.callgrind; do
    run_expect_status 2 "flame dump -o $out ends with status 2" "$FLAME" dump -o "$out" true.flame
    is_str "$(cat err)" "flame: dump: -o $out: its suffix names no format; end it in .txt \
or .json; 'flame render -o $out' draws traces" "flame dump -o $out names its endings"
    not_ok "flame dump leaves no $out" test -e "$out"
done
for out in d.txt plain; do
    run_expect_status 0 "flame dump -o $out succeeds" "$FLAME" dump -o "$out" true.flame
    like "$(head -n 1 "$out")" '^header ' "flame dump -o $out writes text"
done
run_expect_status 0 'flame dump -o d.json succeeds' "$FLAME" dump -o d.json true.flame
ok 'flame dump -o d.json writes JSON' python3 -c 'import json; json.load(open("d.json"))["header"]'
rm -f plain d.txt d.json

# An error has the same message in each command.
for command in fold render top collapse dump 'diff x.folded' 'render x.folded --nameattr'; do
    # shellcheck disable=SC2086 # several words
    run_expect_status 2 "flame $command of a missing file ends with status 2" "$FLAME" $command none.file
    is_str "$(cat err)" 'flame: none.file: cannot read: No such file or directory; check the name' \
        "flame $command of a missing file prints the common message"
    # shellcheck disable=SC2086
    run_expect_status 2 "flame $command of a directory ends with status 2" "$FLAME" $command /usr
    is_str "$(cat err)" 'flame: /usr: cannot read: Is a directory; name a file in it' \
        "flame $command of a directory prints the common message"
done
for command in 'fold x.folded' 'fold true.flame' 'render x.folded' 'collapse x.folded' \
    'diff x.folded x.folded' 'dump true.flame' 'render x.folded -f text' 'fold true.flame x.folded'; do
    # shellcheck disable=SC2086
    run_expect_status 2 "flame $command -o in a missing directory ends with status 2" \
        "$FLAME" $command -o none/x
    is_str "$(cat err)" 'flame: none/x: cannot write: No such file or directory; choose a directory '\
'that is there and writable' "flame $command -o in a missing directory prints the common message"
    # shellcheck disable=SC2086
    run_expect_status 2 "flame $command -o of a directory ends with status 2" "$FLAME" $command -o /usr
    is_str "$(cat err)" 'flame: /usr: cannot write: Is a directory; name a file in it' \
        "flame $command -o of a directory prints the common message"
    # shellcheck disable=SC2086
    run_expect_status 1 "flame $command -o on a full disk ends with status 1" "$FLAME" $command -o /dev/full
    is_str "$(cat err)" 'flame: /dev/full: cannot write: No space left on device' \
        "flame $command -o on a full disk prints the common message"
done
for command in mem leak off; do
    run_expect_status 2 "flame $command -o in a missing directory ends with status 2" \
        "$FLAME" "$command" -o none/x.svg -- touch ran
    is_str "$(cat err)" 'flame: none/x.svg: cannot write: No such file or directory; choose a '\
'directory that is there and writable' "flame $command -o in a missing directory prints the common message"
done
not_ok 'missing directories of mem, leak and off: the command does not run' test -e ran
for command in fold render top 'diff x.folded'; do
    # shellcheck disable=SC2086
    run_expect_status 2 "flame $command --view nope ends with status 2" "$FLAME" $command --view nope x.folded
    like "$(cat err)" "^flame: ${command%% *}: --view nope: expected alloc, .* or hotcold\$" \
        "flame $command --view nope lists the views before it reads a file"
done
views=$("$FLAME" fold --view '' x 2>&1 | sed 's/.*expected //; s/,//g; s/ or / /')
like "$views" '^alloc .* hotcold$' 'flame fold --view lists all views'
is_str "$(for view in $views; do
    grep -qE "^\.It Cm ([a-z]+ , )*$view( |\$)" "$ROOT"/man/flame-{fold,off}.1 || echo "$view"
done)" '' 'each view has a definition in a manual page'
run_expect_status 2 'flame render -f gif ends with status 2' "$FLAME" render -f gif x.folded
like "$(cat err)" '^flame: render: -f gif: expected svg, .* or csv$' 'flame render -f gif lists the formats'
run_expect_status 2 'flame render --colors beige ends with status 2' "$FLAME" render --colors beige x.folded
like "$(cat err)" '^flame: render: --colors beige: expected hot, .* or hotcold$' \
    'flame render --colors beige lists the palettes'
run_expect_status 2 'flame collapse --from nope ends with status 2' "$FLAME" collapse --from nope x.folded
like "$(cat err)" '^flame: collapse: --from nope: expected perf, .* or heaptrack$' \
    'flame collapse --from nope lists the kinds'
run_expect_status 2 'flame dump of folded text ends with status 2' "$FLAME" dump x.folded
is_str "$(cat err)" "flame: x.folded: not a trace; name a file that 'flame mem', 'flame off' or \
libflamemem.so has written" 'flame dump of folded text says what writes traces'

for out in plain d.folded d.txt tmp.Q8SjwCP9aL; do
    run_expect_status 0 "flame fold -o $out succeeds" "$FLAME" fold -o "$out" x.folded
    is_str "$(cat "$out")" 'a;b 1' "flame fold -o $out writes folded text"
done
mkdir plain.d
run_expect_status 0 'flame render -o of a name without an ending succeeds' \
    "$FLAME" render -o plain.d/plain x.folded
file_has plain.d/plain '^<svg ' 'flame render -o of a name without an ending draws SVG'
run_expect_status 2 'flame mem -o of a name without an ending ends with status 2' "$FLAME" mem -o plain true
file_has err '^flame: mem: -o plain: its suffix names no format; end it in \.flame, \.svg, ' \
    'flame mem -o of a name without an ending lists the endings'
run_expect_status 0 'flame render -f svg -o x.xyz succeeds' "$FLAME" render -f svg -o x.xyz x.folded

# Completions of each shell. Only bash is always installed.
run_expect_status 2 'flame --complete tcsh ends with status 2' "$FLAME" --complete tcsh
file_has err 'expected bash, zsh or fish' 'flame --complete tcsh lists the shells'
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
    run_expect_status 0 'zsh: the completion script parses' zsh -n _flame
    # The words that _arguments gets are the completions; a replacement for it prints them.
    zsh_asks() {
        # shellcheck disable=SC2016 # for zsh
        zsh -f -c 'compdef() { : }; _describe() { print -l $commands }
            _arguments() { printf "%s\n" "$@" }; . ./_flame
            words=("$@"); CURRENT=$#; _flame' - "$@"
    }
    like "$(zsh_asks flame r)" 'render:draw' 'zsh: commands'
    like "$(zsh_asks flame mem --view '')" '\-\-view=.*:value:\(alloc count live peak temp leak definite indirect inner reachable region growth mmap brk unmapped rss swap slack kept fault touched sizes lifetimes short old\)' \
        'zsh: a view'
    like "$(zsh_asks flame off x)" '_normal' 'zsh: a command to trace'
else
    skip zsh 'no zsh here'
fi

done_testing
