package com.example;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Knows nothing of limits. */
@RestController
class WeatherController {

    record Weather(String city, String sky) {}

    @GetMapping("/api/weather/{city}")
    Weather weather(@PathVariable String city) {
        return new Weather(city, "clear");
    }

    @GetMapping("/api/reports/{city}")
    String report(@PathVariable String city) {
        return "A long report about " + city;
    }
}
