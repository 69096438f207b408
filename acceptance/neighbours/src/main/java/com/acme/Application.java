package com.acme;

import com.alibaba.csp.sentinel.annotation.SentinelResource;
import com.alibaba.csp.sentinel.slots.block.BlockException;
import com.alibaba.csp.sentinel.slots.block.RuleConstant;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRule;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRuleManager;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import io.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpSession;
import java.util.List;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cloud.client.circuitbreaker.CircuitBreakerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.session.data.redis.config.annotation.web.http.EnableRedisHttpSession;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * An application that has the libraries beside the starter that limit calls or use Redis. Each call by a key is limited by the
 * starter to two. The other library allows three calls by all keys together.
 */
@SpringBootApplication
@EnableCaching
@EnableRedisHttpSession
@RestController
public class Application {

    private final CircuitBreakerFactory<?, ?> circuitBreakers;

    private final RRateLimiter redisson;

    Application(CircuitBreakerFactory<?, ?> circuitBreakers, RedissonClient redisson) {
        this.circuitBreakers = circuitBreakers;
        this.redisson = redisson.getRateLimiter("redisson");
        this.redisson.trySetRate(RateType.OVERALL, 3, 1, RateIntervalUnit.DAYS);
        FlowRule rule = new FlowRule("sentinel");
        rule.setGrade(RuleConstant.FLOW_GRADE_QPS);
        // The calls of a test may take longer than the second that Sentinel counts.
        rule.setCount(0);
        FlowRuleManager.loadRules(List.of(rule));
    }

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }

    @GetMapping("/resilience4j")
    @RateLimited(name = "beside-resilience4j", rate = "2/d", keyExpression = "#key")
    @RateLimiter(name = "resilience4j")
    public String resilience4j(@RequestParam String key) {
        return "allowed";
    }

    /** The filter of Bucket4j limits it. */
    @GetMapping("/bucket4j")
    @RateLimited(name = "beside-bucket4j", rate = "2/d", keyExpression = "#key")
    public String bucket4j(@RequestParam String key) {
        return "allowed";
    }

    @GetMapping("/redisson")
    @RateLimited(name = "beside-redisson", rate = "2/d", keyExpression = "#key")
    public String redisson(@RequestParam String key) {
        if (!redisson.tryAcquire()) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
        }
        return "allowed";
    }

    @GetMapping("/sentinel-rejects")
    @SentinelResource("sentinel")
    public String sentinel() {
        return "allowed";
    }

    @GetMapping("/sentinel")
    @RateLimited(name = "beside-sentinel", rate = "2/d", keyExpression = "#key")
    @SentinelResource("unlimited")
    public String besideSentinel(@RequestParam String key) {
        return "allowed";
    }

    @GetMapping("/circuit-breaker")
    public String circuitBreaker() {
        return circuitBreakers.create("calls").run(() -> "allowed", failure -> "fallback");
    }

    /** Counts the requests of a session, which is in Redis. */
    @GetMapping("/session")
    @RateLimited(name = "beside-session", rate = "2/d", keyExpression = "#key")
    public String session(@RequestParam String key, HttpSession session) {
        Integer count = (Integer) session.getAttribute("count");
        session.setAttribute("count", count == null ? 1 : count + 1);
        return session.getId() + " " + session.getAttribute("count");
    }

    @ExceptionHandler({RequestNotPermitted.class, BlockException.class})
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    public String rejectedByTheOther() {
        return "rejected";
    }
}
