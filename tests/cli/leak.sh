# shellcheck shell=bash
# leak.sh: for tests of tests/victims/leak/kinds*. Source it after lib.sh.
#
#   build_kinds NAME [FLAG...]   tests/victims/leak/kinds_NAME.c or .cc into ./kinds_NAME, with the
#                                plugin that it loads
#   judged PROGRAM [CASE]        "FUNCTION CLASS" for each function of the cases and each class
#                                that blocks of it are in, sorted; without CASE of all together
#   wanted PROGRAM WHICH [CASE]  the same as the table has it; WHICH: together or alone
#   check_kinds PROGRAM          all cases together, then each of those that are to be alone

build_kinds() {
    local name=$1
    shift
    if [ ! -e kinds_plugin.so ]; then
        ok 'kinds_plugin.so is built' "${CC:-gcc}" -O0 -g -shared -fPIC -o kinds_plugin.so \
            "$ROOT/tests/victims/leak/kinds_plugin.c"
        export KINDS_PLUGIN=$PWD/kinds_plugin.so
    fi
    compile_victim "kinds_$name" -O0 -pthread "$@"
}

judged() {
    local program=$1 class
    shift
    rm -f kinds*.flame
    run "$FLAME" mem -q --view definite -o kinds.flame -- "$program" "$@"
    for class in definite indirect inner reachable; do
        "$FLAME" fold --no-header --view $class kinds*.flame 2>/dev/null |
            CLASS=$class awk '{
                for (name = ""; match($0, /(definite|indirect|inner|reachable|unjudged)_[A-Za-z0-9_]+/);) {
                    name = substr($0, RSTART, RLENGTH)
                    $0 = substr($0, RSTART + RLENGTH)
                }
                if (name != "")
                    print name, ENVIRON["CLASS"]
            }'
    done | sort -u
}

wanted() {
    "$1" --list | WHICH=$2 NAME=${3-} awk '
        $1 == ENVIRON["WHICH"] && (ENVIRON["NAME"] == "" || $2 == ENVIRON["NAME"]) {
            for (i = 3; i <= NF; i++) {
                class = $i
                sub(/_.*/, "", class)
                if (class != "unjudged")
                    print $i, class
            }
        }' | sort -u
}

# Blocks of functions that are in no row of the table are ignored.
known() { grep -wFf <("$1" --list | cut -d' ' -f3- | tr ' ' '\n'); }

check_kinds() {
    local program=$1 name=${1##*/} kind
    # A case without blocks would always pass: its functions were on another line.
    is_str "$("$program" --list | awk 'NF < 3')" '' "$name: each case has blocks"
    is_str "$(judged "$program" | known "$program")" "$(wanted "$program" together)" \
        "$name: $("$program" --list | grep -c ^together) cases together"
    for kind in $("$program" --list | sed -n 's/^alone \([^ ]*\).*/\1/p'); do
        is_str "$(judged "$program" "$kind" | known "$program")" \
            "$(wanted "$program" alone "$kind")" "$name: $kind"
    done
}
