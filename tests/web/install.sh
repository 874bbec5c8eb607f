#!/usr/bin/env bash
# Installs what the checks of the page need beside a browser, once for each version of it, into target/npm: the checker of
# types, and the rules of accessibility. Needs npm, and for the first run a registry of its packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

PACKAGES=(typescript@5.9.3 axe-core@4.14.1)
DIR=target/npm

if [[ "$(cat "$DIR/installed" 2>/dev/null)" == "${PACKAGES[*]}" ]]; then
    exit
fi
rm -rf "$DIR"
mkdir -p "$DIR"
# Without one, npm would install into the first directory above that has one.
echo '{ "private": true }' >"$DIR/package.json"
npm install --prefix "$DIR" --no-package-lock --no-save --ignore-scripts --no-audit --no-fund --loglevel error \
    "${PACKAGES[@]}"
echo "${PACKAGES[*]}" >"$DIR/installed"
