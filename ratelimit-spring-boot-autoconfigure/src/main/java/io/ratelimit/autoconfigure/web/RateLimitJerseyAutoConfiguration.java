package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.jaxrs.RejectionMapper;
import io.ratelimit.jaxrs.ResourceCallSource;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.WebSettings;
import org.glassfish.jersey.server.ResourceConfig;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.web.ErrorResponse;

/**
 * Auto-configuration of the responses with which Jersey answers rejections, and without Spring MVC of the fields of all others.
 * Changes the application's bean when it is created, as a customizer of Spring Boot would, which has another name in each generation.
 */
@AutoConfiguration(after = {RateLimitAutoConfiguration.class, RateLimitServletAutoConfiguration.class})
@ConditionalOnClass({ResourceConfig.class, ErrorResponse.class})
@ConditionalOnBean(
        value = ResourceConfig.class,
        name = RateLimitAutoConfiguration.CATALOG,
        search = SearchStrategy.CURRENT)
@Import(WebConfiguration.class)
public final class RateLimitJerseyAutoConfiguration {

    @Bean
    static BeanPostProcessor rateLimitRejectionMapper(
            ObjectProvider<WebSettings> settings,
            ApplicationContext messages,
            ObjectProvider<ResourceCallSource> calls) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String name) {
                if (bean instanceof ResourceConfig resources) {
                    resources.register(new RejectionMapper(new ProblemResponses(messages, settings.getObject())));
                    calls.ifAvailable(resources::register);
                }
                return bean;
            }
        };
    }

    @Bean
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @Fallback
    ResourceCallSource rateLimitResourceCalls(WebSettings settings) {
        return new ResourceCallSource(settings);
    }
}
