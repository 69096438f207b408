#!/usr/bin/env bash
# Deploys what a release contains into a folder, signed with a key that is thrown away, and checks it as the central Maven repository
# does. Nothing leaves this machine. Arguments are Maven's, such as -o.
set -euo pipefail
cd "$(dirname "$0")/.."
staging=$PWD/target/staging
key=$(mktemp -d)
trap 'GNUPGHOME=$key gpgconf --kill all; rm -rf "$key"' EXIT

export GNUPGHOME=$key MAVEN_GPG_PASSPHRASE=thrown-away
gpg --batch --quiet --pinentry-mode loopback --passphrase "$MAVEN_GPG_PASSPHRASE" \
    --quick-generate-key 'Release check <nobody@example.com>' default default 1d
rm -rf "$staging"
./mvnw -B -ntp -q deploy -Prelease -DskipTests "-DaltDeploymentRepository=staging::file://$staging" "$@"
java scripts/CheckRelease.java "$staging"
