package io.ratelimit.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.ratelimit.RateLimit;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.redis.RateLimitScript;
import java.net.URL;
import java.util.List;

/** The main classes of the modules behind the starter. */
final class StarterClasses {

    private StarterClasses() {}

    static JavaClasses all() {
        List<URL> modules =
                List.of(location(RateLimit.class), location(RateLimitScript.class), location(RateLimited.class));
        return new ClassFileImporter().importUrls(modules);
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }
}
