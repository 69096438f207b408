package io.ratelimit.autoconfigure.actuate;

import io.ratelimit.actuate.ChangeAuditor;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.properties.OnRateLimitsEnabled;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/** Auto-configuration of audit events for changes, if the application keeps audit events. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(AuditEventRepository.class)
@ConditionalOnBean(AuditEventRepository.class)
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitAuditAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ChangeAuditor rateLimitChangeAuditor(ApplicationEventPublisher publisher) {
        return new ChangeAuditor(publisher);
    }
}
