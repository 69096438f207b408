package io.ratelimit.web.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.TestClock;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;

class RemotePausesTests {

    private final TestClock clock = new TestClock();

    private final RemotePauses pauses = new RemotePauses(clock);

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void pauseEndsWhenTheTimeIsOver(int status) {
        respond("host", status, 2);
        assertThat(pauses.left("host")).isEqualTo(2_000_000);
        assertThat(pauses.left("other")).isZero();
        clock.advance(Duration.ofSeconds(2));
        assertThat(pauses.left("host")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 301, 400, 500})
    void otherResponsesPauseNothing(int status) {
        respond("host", status, 2);
        assertThat(pauses.left("host")).isZero();
    }

    @Test
    void pauseThatEndsLastApplies() {
        respond("host", 429, 5);
        respond("host", 429, 1);
        assertThat(pauses.left("host")).isEqualTo(5_000_000);
    }

    @Test
    void memoryIsBounded() {
        for (int i = 0; i < RemotePauses.MOST; i++) {
            respond("host" + i, 429, 5);
        }
        respond("late", 429, 5);
        assertThat(pauses.left("late")).isZero();
        respond("host7", 429, 9);
        assertThat(pauses.left("host7")).isEqualTo(9_000_000);
        clock.advance(Duration.ofSeconds(5));
        respond("late", 429, 5);
        assertThat(pauses.left("late")).isEqualTo(5_000_000);
    }

    @ParameterizedTest
    @CsvSource({
        "https://Rates.example.com/a?b, rates.example.com",
        "https://rates.example.com:443/, rates.example.com",
        "http://rates.example.com:80/, rates.example.com",
        "http://rates.example.com:8080/, rates.example.com:8080",
        "http://user:secret@rates.example.com/, rates.example.com",
        "http://user:secret@rates_service:81/, rates_service:81",
        "http://[::1]:81/, [::1]:81",
        "/relative, ''"
    })
    void hostIsTheKey(URI url, String host) {
        assertThat(RemoteLimit.host(url)).isEqualTo(host);
    }

    private void respond(String key, int status, long seconds) {
        HttpHeaders headers = new HttpHeaders();
        headers.set("Retry-After", Long.toString(seconds));
        pauses.responded(key, HttpStatusCode.valueOf(status), headers);
    }
}
