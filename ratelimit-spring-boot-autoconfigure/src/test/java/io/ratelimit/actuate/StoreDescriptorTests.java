package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.StoreFailure;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class StoreDescriptorTests {

    private final StoreFailure ofEu = new StoreFailure(Reason.TIMEOUT, "no answer", Instant.EPOCH, 3, null, "eu");

    @Test
    void eachServerHasAStateOfItsOwn() {
        StoreDescriptor store = StoreDescriptor.of("redis", List.of(ofEu), List.of("default", "eu"));
        assertThat(store.state()).isEqualTo("on-store-failure");
        assertThat(store.servers()).hasSize(2);
        assertThat(store.servers().get("default").state()).isEqualTo("shared");
        assertThat(store.servers().get("eu").state()).isEqualTo("on-store-failure");
        assertThat(store.servers().get("eu").reason()).isEqualTo("timeout");
        assertThat(store.servers().get("eu").error()).isEqualTo("no answer");
        assertThat(store.error()).isEqualTo("Redis server 'eu': no answer");
    }

    @Test
    void latestFailureHasItsMessage() {
        StoreFailure.Latest latest = new StoreFailure.Latest(Reason.UNREACHABLE, "not connected");
        StoreFailure failure = new StoreFailure(Reason.TIMEOUT, "no answer", Instant.EPOCH, 3, latest, null);
        StoreDescriptor store = StoreDescriptor.of("redis", List.of(failure), List.of());
        assertThat(store.error()).isEqualTo("no answer");
        assertThat(store.latestReason()).isEqualTo("unreachable");
        assertThat(store.latestError()).isEqualTo("not connected");
        assertThat(StoreDescriptor.of("redis", List.of(ofEu), List.of()).latestError())
                .isNull();
    }

    @Test
    void serversThatFailAreNamedOnce() {
        StoreFailure ofDefault = new StoreFailure(Reason.TIMEOUT, "no answer", Instant.EPOCH, 3, null, "default");
        StoreFailure ofABucket = new StoreFailure(Reason.FOREIGN_VALUE, "foreign", Instant.EPOCH, 3, null, "us");
        assertThat(StoreDescriptor.failingServers(List.of(ofEu, ofABucket, ofDefault, ofEu)))
                .containsExactly("eu", "default");
        assertThat(StoreDescriptor.failingServers(
                        List.of(new StoreFailure(Reason.TIMEOUT, "no answer", Instant.EPOCH, 3, null, null))))
                .isEmpty();
    }

    @Test
    void onlyServerHasNoName() {
        assertThat(StoreDescriptor.of("redis", List.of(), List.of()).servers()).isNull();
    }

    @Test
    void memoryIsOfEachInstance() {
        StoreFailure ofAlgorithm = new StoreFailure(Reason.ALGORITHM, "broken", Instant.EPOCH, 3, null, null);
        StoreDescriptor store = StoreDescriptor.of("in-memory", List.of(ofAlgorithm), List.of());
        assertThat(store.state()).isEqualTo("instance");
        assertThat(store.reason()).isNull();
        assertThat(store.servers()).isNull();
    }

    @Test
    void healthNamesTheServer() {
        assertThat(RateLimitHealth.of(List.of(ofEu), "UP").details())
                .extracting("failures")
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .singleElement()
                .asInstanceOf(InstanceOfAssertFactories.map(String.class, Object.class))
                .contains(Map.entry("redis", "eu"), Map.entry("reason", "timeout"));
    }
}
