package io.ratelimit.architecture;

import io.ratelimit.testing.api.AbstractApiTests;

class AutoconfigureSignatureTests extends AbstractApiTests {}
