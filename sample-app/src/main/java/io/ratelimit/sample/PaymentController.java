package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The payments of an account proceed half a second apart. Those that come at once wait for their turn, at most three. */
@RestController
class PaymentController {

    @RateLimited(
            name = "payments",
            algorithm = Algorithm.LEAKY_BUCKET,
            capacity = 3,
            rate = "2/s",
            keyExpression = "#account")
    @PostMapping("/api/payments")
    Payment pay(@RequestParam @NotBlank(message = "account must not be blank") String account) {
        return new Payment(account, "paid");
    }

    record Payment(String account, String state) {}
}
