package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.actuate.ChangeAuditor;
import io.ratelimit.autoconfigure.actuate.RateLimitAuditAutoConfiguration;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.boot.actuate.autoconfigure.audit.AuditAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class RateLimitAuditTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(
                    AutoConfigurations.of(AuditAutoConfiguration.class, RateLimitAuditAutoConfiguration.class))
            .withPropertyValues("ratelimit.limits.quotes.rate=2/h");

    @Test
    void changesAreAuditedWithTheirAuthorAndWithoutTheKey() {
        runner.withBean(InMemoryAuditEventRepository.class).run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class).as("alice");
            AuditEventRepository audit = context.getBean(AuditEventRepository.class);
            admin.override("quotes", RateLimitOverride.builder().capacity(9).build());
            admin.bucket("quotes", "secret-key").block(Duration.ofMinutes(1));
            await().until(() -> audit.find("alice", null, null).size() == 2);
            assertThat(audit.find("alice", null, null))
                    .extracting(AuditEvent::getType)
                    .containsOnly("RATE_LIMIT_CHANGED");
            assertThat(audit.find("alice", null, null).get(0).getData())
                    .isEqualTo(Map.of("limit", "quotes", "kind", "overridden", "change", "capacity 9"));
            assertThat(audit.find("alice", null, null).get(1).getData())
                    .containsEntry("kind", "blocked")
                    .containsKey("until");
            assertThat(audit.find("alice", null, null).toString()).doesNotContain("secret-key");
        });
    }

    @Test
    void changeWithoutAnAnswerIsAuditedAsSuch() {
        runner.withBean(InMemoryAuditEventRepository.class).run(context -> {
            context.publishEvent(new RateLimitChangedEvent("quotes", Kind.UNCONFIRMED, "reset", null, "alice", true));
            assertThat(context.getBean(AuditEventRepository.class).find("alice", null, null))
                    .singleElement()
                    .satisfies(event -> {
                        assertThat(event.getType()).isEqualTo("RATE_LIMIT_CHANGE_UNCONFIRMED");
                        assertThat(event.getData())
                                .isEqualTo(Map.of("limit", "quotes", "kind", "unconfirmed", "change", "reset"));
                    });
        });
    }

    @Test
    void thereIsNoAuditorWithoutAudit() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChangeAuditor.class));
        runner.withBean(InMemoryAuditEventRepository.class)
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChangeAuditor.class));
    }
}
