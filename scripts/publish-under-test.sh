#!/usr/bin/env bash
# Puts the starter into a local repository of its own, with a version that no other repository has, and prints where:
#   scripts/publish-under-test.sh [--built] [directory]
# Builds the jars, or takes those of the last build (--built). Use the repository with -Dmaven.repo.local.tail=…. Without a directory, it
# is in acceptance/target.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -nE '/<artifactId>ratelimit-parent/,/<version>/s/.*<version>(.*)<\/version>.*/\1/p' pom.xml)
modules=(ratelimit-core ratelimit-redis ratelimit-spring-boot-autoconfigure ratelimit-spring-boot-starter ratelimit-spring-boot-test
    ratelimit-spring-boot-dashboard)
if [[ ${1:-} == --built ]]; then
    shift
else
    ./mvnw -B -ntp -q package -Dquick -pl "$(IFS=,; echo "${modules[*]}")" >&2
fi

directory=${1:-$PWD/acceptance/target}
rm -rf "$directory"
repository=$directory/repository
publish() { # artifact, POM, jar
    local directory=$repository/io/ratelimit/$1/under-test
    mkdir -p "$directory"
    sed "s/>$version</>under-test</" "$2" >"$directory/$1-under-test.pom"
    if [[ ${3:-} ]]; then
        cp "$3" "$directory/$1-under-test.jar"
    fi
}
publish ratelimit-parent pom.xml
publish ratelimit-bom ratelimit-bom/pom.xml
for module in "${modules[@]}"; do
    publish "$module" "$module/pom.xml" "$module/target/$module-$version.jar"
done
echo "$repository"
