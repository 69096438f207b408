package io.ratelimit.dashboard;

import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.System.Logger.Level;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Serves the dashboard on the server that has the actuator endpoints: the application's, or the management server. So page and
 * endpoint have one origin.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(RateLimitProperties.class)
@ImportRuntimeHints(DashboardHints.class)
public final class DashboardConfiguration {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** After the actuator, before controllers that take every path. */
    private static final int ORDER = -90;

    private static final EndpointId ENDPOINT = EndpointId.of("ratelimits");

    /** Finds the endpoint and says where the page is, or that it cannot show anything. */
    private static Map<String, DashboardResponse> files(
            RateLimitProperties properties, @Nullable PathMappedEndpoints endpoints) {
        if (!properties.enabled() || !properties.dashboard().enabled()) {
            return Map.of();
        }
        String path = properties.dashboard().path();
        String endpoint = endpoints == null ? null : endpoints.getPath(ENDPOINT);
        if (endpoints != null) {
            DashboardPage.check(path, endpoints.getAllPaths());
        }
        if (endpoint == null) {
            logger.log(
                    Level.WARNING,
                    "The dashboard at {0} has nothing to show (the endpoint ratelimits is not exposed over HTTP). Set"
                            + " management.endpoints.web.exposure.include=health,ratelimits, or"
                            + " ratelimit.dashboard.enabled=false.",
                    path);
        } else {
            logger.log(Level.INFO, "The dashboard is at {0}, on the server of {1}", path, endpoint);
        }
        return DashboardPage.at(path, endpoint);
    }

    /** Servlet applications. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass({DispatcherServlet.class, HttpServletRequest.class})
    static class Servlet {

        @Bean
        org.springframework.web.servlet.handler.SimpleUrlHandlerMapping rateLimitDashboard(
                RateLimitProperties properties, ObjectProvider<PathMappedEndpoints> endpoints) {
            return ServletDashboard.mapping(files(properties, endpoints.getIfAvailable()), ORDER);
        }
    }

    /** WebFlux applications. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(DispatcherHandler.class)
    static class Reactive {

        @Bean
        org.springframework.web.reactive.handler.SimpleUrlHandlerMapping rateLimitDashboard(
                RateLimitProperties properties, ObjectProvider<PathMappedEndpoints> endpoints) {
            return ReactiveDashboard.mapping(files(properties, endpoints.getIfAvailable()), ORDER);
        }
    }
}
