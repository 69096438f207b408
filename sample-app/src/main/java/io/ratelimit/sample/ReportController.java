package io.ratelimit.sample;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Positive;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ReportController {

    private final ReportService reports;

    ReportController(ReportService reports) {
        this.reports = reports;
    }

    @PostMapping("/api/reports")
    Report create(
            @RequestParam @NotBlank(message = "tenant must not be blank") String tenant,
            @RequestParam @Positive(message = "pages must be greater than 0") int pages) {
        return reports.create(tenant, pages);
    }
}
