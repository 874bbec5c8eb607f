#!/usr/bin/env bash
# Checks the types of the page's scripts. They are plain JavaScript, and their comments have the types.
set -euo pipefail
cd "$(dirname "$0")"

./install.sh
node ../../target/npm/node_modules/typescript/bin/tsc --project tsconfig.json
