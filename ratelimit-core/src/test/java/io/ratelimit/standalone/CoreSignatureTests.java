package io.ratelimit.standalone;

import io.ratelimit.testing.api.AbstractApiTests;

class CoreSignatureTests extends AbstractApiTests {}
