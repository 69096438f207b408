package io.ratelimit.documentation;

import com.acme.rates.RatesClient;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.documentation.domain.Secrets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import reactor.core.publisher.Mono;

/** What the snippets of one section are together: an application, whose limits are kept in memory. */
final class DocumentedApplication {

    private DocumentedApplication() {}

    static WebApplicationContextRunner of(List<Class<?>> beans, List<PropertySource<?>> configuration) {
        WebApplicationContextRunner runner = new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class, RateLimitServletAutoConfiguration.class))
                .withPropertyValues("ratelimit.store=in-memory")
                .withInitializer(context -> configuration.forEach(
                        source -> context.getEnvironment().getPropertySources().addLast(source)))
                .withBean("secrets", Secrets.class)
                .withBean(RatesClient.class)
                // As Spring Boot or the application provides it.
                .withBean(ReactiveUserDetailsService.class, () -> name -> Mono.empty());
        for (Class<?> bean : beans) {
            runner = runner.withBean(bean);
        }
        return runner;
    }

    /** Reads a file {@code application.yml} or {@code application.properties}. */
    static List<PropertySource<?>> configuration(MarkdownPage.Snippet snippet) {
        PropertySourceLoader loader =
                snippet.is("yaml") ? new YamlPropertySourceLoader() : new PropertiesPropertySourceLoader();
        try {
            return loader.load(
                    snippet.place(), new ByteArrayResource(snippet.text().getBytes(StandardCharsets.UTF_8)));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static List<String> names(List<PropertySource<?>> configuration) {
        return configuration.stream()
                .flatMap(source -> List.of(((EnumerablePropertySource<?>) source).getPropertyNames()).stream())
                .toList();
    }
}
