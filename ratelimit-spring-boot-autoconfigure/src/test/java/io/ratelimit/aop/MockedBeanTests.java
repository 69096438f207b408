package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** An application's tests can mock its limited beans. */
@SpringJUnitConfig
@TestPropertySource(properties = {"ratelimit.store=in-memory", "ratelimit.limits.quotes-quote.capacity=2"})
class MockedBeanTests {

    @MockitoBean
    private Quotes quotes;

    @MockitoSpyBean
    private Exports exports;

    @MockitoBean
    private Mistaken mistaken;

    @Test
    void mistakeOfAMockIsNotReported() {
        assertThat(mistaken.mistake("acme")).isNull();
    }

    @Test
    void mockIsOnlyAMock() {
        given(quotes.quote()).willReturn("mocked");
        assertThat(quotes.quote()).isEqualTo("mocked");
        assertThat(quotes.quote()).isEqualTo("mocked");
    }

    @Test
    void spyIsLimited() {
        assertThat(exports.export()).isEqualTo("exported");
        assertRejected("exports-export", exports::export);
    }

    static class Quotes {

        @RateLimited(rate = "1/h")
        public String quote() {
            return "quoted";
        }
    }

    static class Mistaken {

        @RateLimited(rate = "${missing}", keyExpression = "#unknown", fallbackMethod = "missing")
        public String mistake(String tenant) {
            return "mistake of " + tenant;
        }
    }

    static class Exports {

        @RateLimited(rate = "1/h")
        public String export() {
            return "exported";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    static class Application {

        @Bean
        Quotes quotes() {
            return new Quotes();
        }

        @Bean
        Mistaken mistaken() {
            return new Mistaken();
        }

        @Bean
        Exports exports() {
            return new Exports();
        }
    }
}
