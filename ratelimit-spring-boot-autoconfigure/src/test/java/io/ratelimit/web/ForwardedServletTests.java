package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

/** A request that is forwarded to a servlet which is not Spring's, such as that of a page, is not charged again either. */
class ForwardedServletTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.handler.rate=100/d",
            "ratelimit.limits.servlet.rate=100/d",
            "ratelimit.limits.ruled.rate=100/d",
            "ratelimit.limits.included.rate=100/d",
            "ratelimit.limits.held.algorithm=concurrency",
            "ratelimit.limits.held.capacity=1",
            "ratelimit.http[0].path=/ruled",
            "ratelimit.http[0].limit=ruled",
            "ratelimit.http[1].path=/held",
            "ratelimit.http[1].limit=held");

    private static long used(String limit) {
        return 100 - application.limiter(limit).allCallers().peek().remaining();
    }

    @Test
    void forwardOfAHandlerToAServlet() {
        assertThat(application.get("handler").status()).isEqualTo(200);
        assertThat(used("handler")).isEqualTo(1);
    }

    @Test
    void forwardOfAServletToAServlet() {
        assertThat(application.get("servlet").status()).isEqualTo(200);
        assertThat(used("servlet")).isEqualTo(1);
    }

    @Test
    void forwardOfALimitedUrlToAServlet() {
        assertThat(application.get("ruled").status()).isEqualTo(200);
        assertThat(used("ruled")).isEqualTo(1);
    }

    /** A later dispatch shares the permits that the request holds. */
    @Test
    void forwardThatSharesThePermitOfTheRequest() {
        assertThat(application.get("held").status()).isEqualTo(200);
    }

    @Test
    void servletThatIsIncludedTwice() {
        assertThat(application.get("including").status()).isEqualTo(200);
        assertThat(used("included")).isEqualTo(1);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Service service() {
            return new Service();
        }

        @Bean
        Handlers handlers(Service service) {
            return new Handlers(service);
        }

        @Bean
        ServletRegistrationBean<HttpServlet> handlerTarget(Service service) {
            return servlet("/handler-target", (request, response) -> service.handler());
        }

        @Bean
        ServletRegistrationBean<HttpServlet> servletTarget(Service service) {
            return servlet("/servlet-target", (request, response) -> service.servlet());
        }

        @Bean
        ServletRegistrationBean<HttpServlet> ruledTarget(Service service) {
            return servlet("/ruled-target", (request, response) -> service.ruled());
        }

        @Bean
        ServletRegistrationBean<HttpServlet> heldTarget(Service service) {
            return servlet("/held-target", (request, response) -> service.held());
        }

        @Bean
        ServletRegistrationBean<HttpServlet> includedTarget(Service service) {
            return servlet("/included-target", (request, response) -> service.included());
        }

        @Bean
        ServletRegistrationBean<HttpServlet> forwarding(Service service) {
            return servlet("/servlet", (request, response) -> {
                service.servlet();
                request.getRequestDispatcher("/servlet-target").forward(request, response);
            });
        }

        @Bean
        ServletRegistrationBean<HttpServlet> including() {
            return servlet("/including", (request, response) -> {
                request.getRequestDispatcher("/included-target").include(request, response);
                request.getRequestDispatcher("/included-target").include(request, response);
            });
        }

        private static ServletRegistrationBean<HttpServlet> servlet(String path, Work work) {
            ServletRegistrationBean<HttpServlet> bean = new ServletRegistrationBean<>(
                    new HttpServlet() {
                        @Override
                        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                                throws ServletException, IOException {
                            work.run(request, response);
                        }
                    },
                    path);
            bean.setName(path);
            return bean;
        }
    }

    private interface Work {

        void run(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException;
    }

    static class Service {

        @RateLimited("handler")
        public void handler() {}

        @RateLimited("servlet")
        public void servlet() {}

        @RateLimited("ruled")
        public void ruled() {}

        @RateLimited("held")
        public void held() {}

        @RateLimited("included")
        public void included() {}
    }

    @Controller
    static class Handlers {

        private final Service service;

        Handlers(Service service) {
            this.service = service;
        }

        @GetMapping("/handler")
        public String handler() {
            service.handler();
            return "forward:/handler-target";
        }

        @GetMapping("/held")
        public String held() {
            return "forward:/held-target";
        }

        @GetMapping("/ruled")
        public String ruled() {
            return "forward:/ruled-target";
        }
    }
}
