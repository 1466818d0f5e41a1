#!/bin/sh
# browser.sh [--install]: prints in one line what the browser tests lack on this machine,
# and ends with 1; when they can run it prints nothing and ends with 0.
#
# They want node, a Chromium, and the modules of package.json. With --install whatever can
# be had is installed first, and a machine that cannot have them all is no error, unless
# CI=true: everything else can be built and tested without.
set -eu

cd "$(dirname "$0")/.."
# What playwright-core wants.
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

chromium_is_there() {
    "${CHROMIUM:-/usr/bin/chromium}" --version </dev/null >/dev/null 2>&1 || {
        echo "there is no ${CHROMIUM:-/usr/bin/chromium} (CHROMIUM=path names another)"
        return 1
    }
}

if [ "${1-}" = --install ]; then
    scripts/deps.sh nodejs npm chromium || true
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
