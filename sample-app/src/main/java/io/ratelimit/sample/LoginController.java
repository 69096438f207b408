package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Three attempts for each name, then none until the minute that began with the first of them is over. */
@RestController
class LoginController {

    @RateLimited(name = "login", algorithm = Algorithm.FIXED_WINDOW, rate = "3/m", keyExpression = "#username")
    @PostMapping("/api/login")
    Welcome login(@RequestParam @NotBlank(message = "username must not be blank") String username) {
        return new Welcome("Welcome, " + username + "!");
    }

    record Welcome(String message) {}
}
