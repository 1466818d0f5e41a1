#!/bin/sh
# browser.sh [--install | --which]: prints in one line what the browser tests lack on this
# machine, and ends with 1; when they can run it prints nothing and ends with 0. With --which
# it prints the path of the Chromium that they run in.
#
# They want node, a Chromium, and the modules of package.json. The Chromium is $CHROMIUM, or the
# one that never has a window where it is installed: the same engine without all that is around a
# page, which takes a quarter of the processor's time (0.2 s a page, not 0.7 s). With --install whatever can
# be had is installed first, and a machine that cannot have them all is no error, unless
# CI=true: everything else can be built and tested without. t0551 runs the most important
# of them in Firefox and is skipped where there is none; it is not installed where
# FLAME_MAY_SKIP has the word firefox (200 MB, and one machine that has it is enough).
set -eu

cd "$(dirname "$0")/.."
# The oldest node that playwright-core supports.
node_least=18

node_is_there() {
    command -v node >/dev/null || {
        echo 'there is no node'
        return 1
    }
    node -e "process.exit(parseInt(process.versions.node) < $node_least ? 1 : 0)" </dev/null || {
        echo "node is $(node --version), and they want $node_least or later"
        return 1
    }
}

which_chromium() {
    if [ -n "${CHROMIUM-}" ]; then
        echo "$CHROMIUM"
    elif [ -x /usr/bin/chromium-headless-shell ]; then
        echo /usr/bin/chromium-headless-shell
    else
        echo /usr/bin/chromium
    fi
}

chromium_is_there() {
    "$(which_chromium)" --version </dev/null >/dev/null 2>&1 || {
        echo "there is no $(which_chromium) (CHROMIUM=path names another)"
        return 1
    }
}

if [ "${1-}" = --which ]; then
    which_chromium
    exit
fi

if [ "${1-}" = --install ]; then
    scripts/deps.sh nodejs npm || true
    case ${CHROMIUM-} in
    '') scripts/deps.sh chromium-headless-shell || scripts/deps.sh chromium || true ;;
    /usr/bin/chromium) scripts/deps.sh chromium || true ;;
    esac
    case " ${FLAME_MAY_SKIP-} " in
    *' firefox '*) ;;
    *) command -v "${FIREFOX:-firefox-esr}" >/dev/null || scripts/deps.sh firefox-esr ||
        echo 'flame: goes on without firefox-esr: the browser tests run in Chromium only' >&2 ;;
    esac
    lacks=$(node_is_there) || lacks="${lacks:-node does not run}"
    [ -n "$lacks" ] || lacks=$(chromium_is_there) || true
    [ -n "$lacks" ] || scripts/npm.sh || lacks='npm could not install their modules'
    [ -n "$lacks" ] || exit 0
    echo "flame: goes on without the browser tests: $lacks" >&2
    [ "${CI-}" != true ]
    exit
fi

node_is_there
chromium_is_there
[ -e node_modules/.flame-tests ] || {
    echo 'their modules are not installed (make deps-test)'
    exit 1
}
