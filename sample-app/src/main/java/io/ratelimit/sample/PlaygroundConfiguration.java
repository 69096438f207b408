package io.ratelimit.sample;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Sends the page at {@code /} with the headers of the dashboard: it loads the sample's own files and nothing else, and no
 * script can turn a text into markup.
 */
@Configuration(proxyBeanMethods = false)
class PlaygroundConfiguration implements WebMvcConfigurer {

    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'";

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(new HandlerInterceptor() {
                    @Override
                    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
                        response.setHeader("Content-Security-Policy", POLICY);
                        response.setHeader("X-Content-Type-Options", "nosniff");
                        response.setHeader("Referrer-Policy", "no-referrer");
                        response.setHeader("Cache-Control", "no-cache");
                        return true;
                    }
                })
                .addPathPatterns("/", "/index.html", "/playground.*");
    }
}
