#!/usr/bin/env bash
# Deploys what a release contains into a folder, signed with a key that is thrown away, and checks it as the central Maven repository
# does. Then builds an application with this folder as its only source of the starter, on two generations of Spring Boot, and runs its
# test, by Maven and, if there is one, by Gradle; with CI in the environment, there must be one. Nothing leaves this machine:
#   scripts/check-release.sh [--draft] [argument of Maven]...
# In a draft, POMs need not say yet where the project is to be found. Arguments of Maven, such as -T1, are for the deployment.
set -euo pipefail
cd "$(dirname "$0")/.."
draft=
if [[ ${1:-} == --draft ]]; then
    draft=--draft
    shift
fi
staging=$PWD/target/staging
key=$(mktemp -d)
trap 'GNUPGHOME=$key gpgconf --kill all; rm -rf "$key"' EXIT

export GNUPGHOME=$key MAVEN_GPG_PASSPHRASE=thrown-away
gpg --batch --quiet --pinentry-mode loopback --passphrase "$MAVEN_GPG_PASSPHRASE" \
    --quick-generate-key 'Release check <nobody@example.com>' default default 1d
rm -rf "$staging"
./mvnw -B -ntp -q deploy -Prelease -DskipTests "-DaltDeploymentRepository=staging::file://$staging" "$@"
status=0
java scripts/CheckRelease.java "$staging" $draft || status=1
while IFS= read -r -d '' signature; do
    gpg --batch --quiet --verify "$signature" "${signature%.asc}" 2>/dev/null \
        || { echo "$signature does not sign its file" >&2; status=1; }
done < <(find "$staging" -name '*.asc' -print0)

# Applications of somebody else. Their local repository gets the starter from the folder alone: what this build or an earlier one has
# installed is not in it. Maven refuses a file without the right checksum (-C).
projects=$PWD/target/release-projects
repository=$projects/repository
mkdir -p "$projects"
rm -rf "$repository/io/ratelimit"
cat >"$projects/settings.xml" <<XML
<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">
    <profiles>
        <profile>
            <id>release</id>
            <activation><activeByDefault>true</activeByDefault></activation>
            <repositories>
                <repository>
                    <id>staging</id>
                    <url>file://$staging</url>
                </repository>
            </repositories>
        </profile>
    </profiles>
</settings>
XML
version=$(sed -nE '/<artifactId>ratelimit-parent/,/<version>/s/.*<version>(.*)<\/version>.*/\1/p' pom.xml)
mvnw=$PWD/mvnw

boots=(3.5.16 4.1.1)

starter_web() { # Spring Boot's version; prints the name that its generation has
    [[ $1 == 3.* ]] && echo spring-boot-starter-web || echo spring-boot-starter-webmvc
}

project() { # Spring Boot's version, a prefix of the folder; prints where
    local project=$projects/${2:-}$1
    rm -rf "$project"
    mkdir "$project"
    cp -r examples/public-api/src "$project"
    sed -E "s/(<ratelimit.version>)[^<]*/\1$version/; /spring-boot-starter-parent/,/<version>/s/<version>[^<]*/<version>$1/
        s/spring-boot-starter-webmvc</$(starter_web "$1")</" examples/public-api/pom.xml >"$project/pom.xml"
    echo "$project"
}

tested() { # a project, a name for it, its reports
    if grep -qs '<testsuite .* tests="[1-9][0-9]*"' "$1"/$3/TEST-*.xml; then
        echo "$2 builds a new project, whose test passes"
    else
        echo "$0: no test has run in $1" >&2
        return 1
    fi
}

for boot in "${boots[@]}"; do
    project=$(project "$boot")
    if (cd "$project" && "$mvnw" -B -ntp -q -C -gs "$projects/settings.xml" -Dmaven.repo.local="$repository" \
        -Dmaven.test.redirectTestOutputToFile=true verify); then
        tested "$project" "Maven with Spring Boot $boot" target/surefire-reports || status=1
    else
        status=1
    fi
done
others=$(grep -Lr '>staging=' --include=_remote.repositories "$repository/io/ratelimit" || true)
if [[ -n $others ]]; then
    echo "$0: not from $staging: $others" >&2
    status=1
fi

# The plugin of Spring Boot needs this version of Gradle.
gradle=$(gradle --version 2>/dev/null | sed -n 's/^Gradle //p' || true)
if [[ -n $gradle && $(printf '%s\n' 8.14 "$gradle" | sort -V | head -n 1) == 8.14 ]]; then
    for boot in "${boots[@]}"; do
        project=$(project "$boot" gradle-)
        rm "$project/pom.xml"
        touch "$project/settings.gradle.kts"
        sed "s/SPRING_BOOT/$boot/; s/STARTER_WEB/$(starter_web "$boot")/" scripts/release-project.gradle.kts >"$project/build.gradle.kts"
        if (cd "$project" && gradle -q test -Prelease="file://$staging" -PratelimitVersion="$version"); then
            tested "$project" "Gradle $gradle with Spring Boot $boot" build/test-results/test || status=1
        else
            status=1
        fi
    done
elif [[ -n ${CI:-} ]]; then
    echo "$0: there is no Gradle 8.14 or later${gradle:+, only $gradle}" >&2
    status=1
else
    echo "There is no Gradle 8.14 or later here${gradle:+, only $gradle}: not tried"
fi
exit "$status"
