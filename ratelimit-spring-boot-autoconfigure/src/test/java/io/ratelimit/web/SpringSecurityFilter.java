package io.ratelimit.web;

import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.springframework.boot.web.servlet.DelegatingFilterProxyRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Registers the filter of Spring Security as Spring Boot does. */
@Configuration(proxyBeanMethods = false)
public class SpringSecurityFilter {

    @Bean
    DelegatingFilterProxyRegistrationBean securityFilter() {
        DelegatingFilterProxyRegistrationBean security =
                new DelegatingFilterProxyRegistrationBean("springSecurityFilterChain");
        security.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        security.setOrder(-100);
        return security;
    }
}
