package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.script.DigestUtils;

class RateLimitScriptTests {

    @Test
    void textOfEveryPartIsInTheScriptAndItsDigestIsThatOfTheText() {
        String text = RateLimitScript.load().getScriptAsString();
        assertThat(RateLimitScript.scriptParts()).allMatch(part -> text.contains(RateLimitScript.read(part)));
        assertThat(text).endsWith(RateLimitScript.END);
        assertThat(RateLimitScript.load().getSha1()).isEqualTo(DigestUtils.sha1DigestAsHex(text));
    }

    /** Loading looks for every part, so that a jar without one stops the start-up, and does not fail calls later. */
    @Test
    void missingPartIsNamed() {
        assertThatIllegalStateException()
                .isThrownBy(() -> RateLimitScript.existing("none.lua"))
                .withMessage("io/ratelimit/redis/none.lua is missing from the class path");
    }
}
