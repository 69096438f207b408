package com.acme;

import io.ratelimit.annotation.RateLimited;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.GetMapping;

@FeignClient(name = "rates", url = "${partner}", fallback = NoRates.class)
public interface RatesClient {

    @GetMapping("/rate")
    @RateLimited(name = "rates", rate = "3/d")
    String rate();
}
