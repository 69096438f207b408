package io.ratelimit.test;

import io.ratelimit.testing.api.AbstractApiTests;

class TestKitSignatureTests extends AbstractApiTests {}
