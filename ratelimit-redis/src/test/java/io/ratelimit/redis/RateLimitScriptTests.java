package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
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

    @Test
    void missingPartStopsTheStartUpAndFailsNoCallLater() {
        assertThatIllegalStateException()
                .isThrownBy(() -> RateLimitScript.load(List.of("run.lua", "none.lua"), List.of()))
                .withMessage("io/ratelimit/redis/none.lua is missing from the class path");
    }
}
