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
 * The paths of an exchange: as handlers' patterns read it, segment by segment; and as WebFlux looks for a static resource,
 * which decodes the whole of it and then tidies it up as the path of a file. Mostly they are the same.
 */
final class ExchangePaths {

    private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

    private static final Pattern SLASHES = Pattern.compile("[/\\\\]+");

    private ExchangePaths() {}

    static List<PathContainer> of(ServerWebExchange exchange) {
        PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
        String file = isPlain(path.value()) ? null : file(path.value());
        return file == null || file.equals(path.value())
                ? RequestPaths.of(path)
                : RequestPaths.of(List.of(path, PathContainer.parsePath(file, DECODED)));
    }

    /** Whether nothing is there to decode or to tidy up. Most paths are plain, so this must not cost much. */
    private static boolean isPlain(String path) {
        return path.indexOf('%') < 0 && path.indexOf('\\') < 0 && !path.contains("//") && !path.contains("/.");
    }

    /** {@code null}: it cannot be decoded, so that no resource will be found by it. */
    private static @Nullable String file(String path) {
        try {
            String decoded = UriUtils.decode(path, StandardCharsets.UTF_8);
            return StringUtils.cleanPath(SLASHES.matcher(decoded).replaceAll("/"));
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }
}
