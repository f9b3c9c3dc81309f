#!/bin/sh
# Takes the libraries of the dashboard from their npm packages, unchanged, and writes their digests.
# Needed only to change a version: npm checks a package's own digest, and a test the files' digests.
set -eu
cd "$(dirname "$0")"
packed=$(mktemp -d)
trap 'rm -r "$packed"' EXIT

# unpack NAME@VERSION FOLDER FILE[=NAME HERE]…
unpack() {
    archive=$(cd "$packed" && npm pack --silent "$1")
    rm -rf "$2" "$packed/package"
    tar -xzf "$packed/$archive" -C "$packed"
    into=$2
    shift 2
    for file in LICENSE "$@"; do
        mkdir -p "$(dirname "$into/${file#*=}")"
        cp "$packed/package/${file%=*}" "$into/${file#*=}"
    done
}

unpack lit-html@3.3.3 lit-html \
    lit-html.js directive.js directive-helpers.js directives/repeat.js
unpack @preact/signals-core@1.14.5 signals-core dist/signals-core.module.js=signals-core.js
find lit-html signals-core -type f | sort | xargs sha256sum > SHA256SUMS
