#!/usr/bin/env bash
# Runs what ./mvnw verify leaves out, after it: the tests that are annotated with @LongRunning, those with @BothTiers again with more
# cases, Error Prone over the tests, and the acceptance suite with the jars of the last build, on the oldest and the newest version of
# Spring Boot.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests are compiled again, because Error Prone checks them here only.
rm -rf -- */target/test-classes
./mvnw -B -ntp verify -Plong -Dspotless.check.skip=true
scripts/test-on-boot.sh --built 3.5.16 4.1.1
