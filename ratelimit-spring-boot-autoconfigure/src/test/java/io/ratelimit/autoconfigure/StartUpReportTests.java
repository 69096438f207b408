package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.annotation.RateLimited;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What is printed when an application cannot start. */
@ExtendWith(OutputCaptureExtension.class)
class StartUpReportTests {

    @Test
    void mistakeInAnAnnotationIsReported(CapturedOutput output) {
        start(Mistaken.class);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Where: " + Quotes.class.getName() + ".quote(String)")
                .contains("What: keyExpression \"#userID\" names #userID, but the method has no such parameter.")
                .contains("Did you mean #userId? Its parameters: #userId.");
    }

    @Test
    void mistakeInAPropertyIsReported(CapturedOutput output) {
        start(Empty.class, "--ratelimit.limits.quotes.capasity=5");
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("There is no property ratelimit.limits.quotes.capasity")
                .contains("Did you mean ratelimit.limits.quotes.capacity?");
    }

    private static void start(Class<?> application, String... arguments) {
        SpringApplication springApplication = new SpringApplication(application);
        springApplication.setWebApplicationType(WebApplicationType.NONE);
        springApplication.setDefaultProperties(Map.of("ratelimit.store", "in-memory"));
        assertThat(catchThrowable(() -> springApplication.run(arguments))).isNotNull();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Mistaken {

        @Bean
        Quotes quotes() {
            return new Quotes();
        }
    }

    static class Quotes {

        @RateLimited(rate = "1/s", keyExpression = "#userID")
        public void quote(String userId) {}
    }
}
