package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Allows three attempts for each name in a window of a minute, which begins with the first of them. */
@RestController
class LoginController {

    @RateLimited(name = "login", algorithm = Algorithm.FIXED_WINDOW, rate = "3/m", keyExpression = "#username")
    @PostMapping("/api/login")
    Welcome login(@RequestParam @NotBlank(message = "username must not be blank") String username) {
        return new Welcome("Welcome, " + username + "!");
    }

    record Welcome(String message) {}
}
