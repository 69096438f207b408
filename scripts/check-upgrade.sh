#!/usr/bin/env bash
# Builds the sample of an older version, a commit or a tag, and that of this tree. Runs them beside each other on one Redis, and checks
# what they share, as in a rolling deployment:
#   scripts/check-upgrade.sh older [scenario]...
# The logs of both are in target/upgrade. It needs a redis-server, on the PATH or named by RATELIMIT_TEST_REDIS_SERVER.
set -euo pipefail
cd "$(dirname "$0")/.."
older=${1:?"usage: $0 commit-or-tag [scenario]..."}
shift

tree=$(mktemp -d)
trap 'git worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach --force "$tree" "$older"
(cd "$tree" && ./mvnw -B -ntp -q package -Dquick -pl sample-app -am)
./mvnw -B -ntp -q package -Dquick -pl sample-app -am

sample=sample-app/target/sample-app-$(sed -nE '/<artifactId>ratelimit-parent/,/<version>/s/.*<version>(.*)<\/version>.*/\1/p' pom.xml).jar
java scripts/Upgrade.java "$(ls "$tree"/sample-app/target/sample-app-*.jar | grep -v -e -sources -e -javadoc | head -1)" "$sample" "$@"
