#!/usr/bin/env bash
# Builds the documentation site in target/site. ./mvnw -Pdocs package runs it after Javadoc.
set -euo pipefail
cd "$(dirname "$0")/../site"

if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "The site needs Node.js 20 or later, with npm (was $(node --version 2>/dev/null || echo none))." >&2
    exit 1
fi
npm ci --prefer-offline --ignore-scripts --no-audit --no-fund
npm run --silent build
cp -r ../target/reports/apidocs ../target/site/javadoc
npm run --silent check
