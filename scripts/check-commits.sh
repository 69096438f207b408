#!/usr/bin/env bash
# check-commits.sh <range>: a subject of at most 72 characters, a body that says why, no number of an issue.
set -euo pipefail
export LC_ALL=C.UTF-8

[[ $# == 1 ]] || { echo "usage: scripts/check-commits.sh <range>, such as origin/main..HEAD" >&2; exit 2; }
commits=$(git rev-list --reverse --no-merges "$1")

status=0
complain() {
    echo "${commit:0:8} $subject"
    echo "         $1"
    status=1
}

for commit in $commits; do
    author=$(git show -s --format=%an "$commit")
    # It quotes the release notes of others.
    [[ $author != 'dependabot[bot]' ]] || continue
    subject=$(git show -s --format=%s "$commit")
    body=$(git show -s --format=%b "$commit" | sed -E '/^[A-Z][A-Za-z-]+-[Bb]y: /d')
    ((${#subject} <= 72)) || complain "The subject must have at most 72 characters (was ${#subject}). Say why in the body."
    [[ -n ${body//[[:space:]]/} ]] || complain "A body must say why."
    if grep -qiE '(^|[^[:alnum:]&])(#|gh-|issues? #?)[0-9]+' <<<"$subject"$'\n'"$body"; then
        complain "The message must not name an issue by its number. Describe the problem."
    fi
done
exit "$status"
