package io.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfTokenRequestAttributeHandler;

/** Behind Spring Security, page and endpoint are for operators, and a change needs the token of the cookie. */
class SecuredDashboardTests {

    private static final String OPERATOR = "Basic b3BlcmF0b3I6c2VjcmV0";

    private static final Pattern TOKEN = Pattern.compile("XSRF-TOKEN=([^;]+)");

    @Test
    void pageAndEndpointNeedTheOperatorAndAChangeNeedsTheToken() {
        try (DashboardApplication application = new DashboardApplication(
                WebApplicationType.SERVLET, Security.class, "management.endpoint.ratelimits.access=unrestricted")) {
            assertThat(application.get("/ratelimits").statusCode()).isEqualTo(401);

            HttpResponse<String> page = application.get("/ratelimits", "Authorization", OPERATOR);
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().allValues("Content-Security-Policy"))
                    .containsExactly(DashboardResponse.CONTENT_SECURITY_POLICY);
            assertThat(page.headers().allValues("Cache-Control")).containsExactly("no-cache");
            Matcher token = TOKEN.matcher(page.headers().allValues("Set-Cookie").toString());
            assertThat(token.find()).isTrue();

            assertThat(delete(application).statusCode()).isEqualTo(403);
            assertThat(delete(application, "Cookie", token.group(), "X-XSRF-TOKEN", token.group(1))
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    private static HttpResponse<String> delete(DashboardApplication application, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "Authorization";
        all[1] = OPERATOR;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return application.send("DELETE", "local.server.port", "/actuator/ratelimits/quotes", all);
    }

    @EnableWebSecurity
    static class Security {

        @Bean
        SecurityFilterChain operatorsOnly(HttpSecurity security) throws Exception {
            CsrfTokenRequestAttributeHandler plainToken = new CsrfTokenRequestAttributeHandler();
            plainToken.setCsrfRequestAttributeName(null);
            return security.authorizeHttpRequests(
                            requests -> requests.anyRequest().hasRole("OPERATOR"))
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse())
                            .csrfTokenRequestHandler(plainToken))
                    .build();
        }

        @Bean
        UserDetailsService operators() {
            return new InMemoryUserDetailsManager(User.withUsername("operator")
                    .password("{noop}secret")
                    .roles("OPERATOR")
                    .build());
        }
    }
}
