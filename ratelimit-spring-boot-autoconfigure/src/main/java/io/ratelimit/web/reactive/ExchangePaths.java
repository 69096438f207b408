package io.ratelimit.web.reactive;

import io.ratelimit.web.RequestPaths;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.UriUtils;

/**
 * Lists the readings of an exchange's path: as handlers' patterns read it, segment by segment; and as WebFlux looks up a
 * static resource, decoded as a whole and normalized as the path of a file. Usually they are the same.
 */
final class ExchangePaths {

    private static final Pattern SLASHES = Pattern.compile("[/\\\\]+");

    private ExchangePaths() {}

    static List<PathContainer> of(ServerWebExchange exchange) {
        PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
        String file = isPlain(path.value()) ? null : file(path.value());
        return RequestPaths.of(
                file == null || file.equals(path.value())
                        ? List.of(path)
                        : List.of(path, RequestPaths.ofDecoded(file)));
    }

    /** Whether there is nothing to decode or to normalize. Most paths are plain, so this check is cheap. */
    private static boolean isPlain(String path) {
        return path.indexOf('%') < 0 && path.indexOf('\\') < 0 && !path.contains("//") && !path.contains("/.");
    }

    /** Returns {@code null} if the path cannot be decoded, so that there is no resource for it. */
    private static @Nullable String file(String path) {
        try {
            String decoded = UriUtils.decode(path, StandardCharsets.UTF_8);
            return StringUtils.cleanPath(SLASHES.matcher(decoded).replaceAll("/"));
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }
}
