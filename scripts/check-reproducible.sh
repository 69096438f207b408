#!/usr/bin/env bash
# Builds the release of the last commit twice, in two new clones, and compares every jar, POM and SBOM that would be deployed.
set -euo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for build in one two; do
    git clone -q "$root" "$work/$build"
    (cd "$work/$build" && ./mvnw -B -ntp -q verify -Prelease -DskipTests -Dgpg.skip)
    (cd "$work/$build" && find target ratelimit-*/target -maxdepth 1 \( -name '*.jar' -o -name bom.json \) -print0 \
        | sort -z | xargs -0 sha256sum >"$work/$build.sums")
done
[ -s "$work/one.sums" ] || { echo "No artifact was built" >&2; exit 1; }
diff "$work/one.sums" "$work/two.sums" || { echo "The two builds differ" >&2; exit 1; }
echo "$(wc -l <"$work/one.sums") artifacts are equal"
