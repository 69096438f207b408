package io.ratelimit.sample;

import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A search takes a permit of its user and one of all users. If one of the limits rejects it, it takes neither. */
@RestController
class SearchController {

    @RateLimited(name = "search", capacity = 4, rate = "1/s", keyExpression = "#user")
    @RateLimited(name = "search-all", capacity = 6, rate = "2/s")
    @GetMapping("/api/search")
    Results search(@RequestParam @NotBlank(message = "user must not be blank") String user) {
        return new Results(List.of("Structured Programming", "The Art of Computer Programming"));
    }

    record Results(List<String> titles) {}
}
