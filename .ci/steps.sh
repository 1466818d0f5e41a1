# shellcheck shell=bash
# steps.sh: what .ci/run and .ci/full share. Source it from a checkout's root.
#
#   step NAME       ends the step before and begins NAME; its seconds go into the table
#   print_steps     the table: seconds of each step, and in all
#   need_root       ends with 1 unless root runs this: some tests are for root only
#   tree_is_clean   fails if git sees anything that is not committed, or does not run

export CI=true LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
# A clean clone hits the compiler cache of the clone before it. Debug information then names the
# other clone's folder, which no test reads.
export CCACHE_NOHASHDIR=1
jobs=$(nproc)
# shellcheck disable=SC2034 # for those who source it
# Many tests wait for something: one more than there are processors keeps these busy.
test_jobs=$((jobs < 4 ? jobs + 1 : 4))
step_name=
step_began=$SECONDS
step_table=

step() {
    end_step
    step_name=$1
    printf '\n==> [%4ds] %s\n' "$SECONDS" "$1"
}

end_step() {
    [ -z "$step_name" ] || printf -v step_table '%s%6d  %s\n' "$step_table" $((SECONDS - step_began)) "$step_name"
    step_began=$SECONDS
    step_name=
}

print_steps() {
    end_step
    printf '\nseconds of each step\n%s%6d  in all\n' "$step_table" "$SECONDS"
}

need_root() {
    [ "$(id -u)" -eq 0 ] || {
        echo "$0: must be root: some tests are for root only" >&2
        exit 1
    }
}

tree_is_clean() {
    local changed
    changed=$(git -c safe.directory="$PWD" status --porcelain --untracked-files=all) || return 1
    [ -z "$changed" ] || {
        printf '%s\n' "$changed"
        return 1
    }
}
