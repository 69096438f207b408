package io.ratelimit.sample;

import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A user that exceeds the limit is blocked, and for longer if that happens again soon after. */
@RestController
class CouponController {

    @RateLimited(name = "coupons", capacity = 3, rate = "3/10s", keyExpression = "#user", blockFor = "5s, 20s")
    @PostMapping("/api/coupons")
    Coupon redeem(@RequestParam @NotBlank(message = "user must not be blank") String user) {
        return new Coupon(user, "10 %");
    }

    record Coupon(String user, String discount) {}
}
