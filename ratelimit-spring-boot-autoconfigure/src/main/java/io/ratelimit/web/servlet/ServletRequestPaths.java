package io.ratelimit.web.servlet;

import io.ratelimit.web.RequestPaths;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The paths of a servlet request: as Spring's handlers read it, segment by segment and behind the servlet's own path; and
 * as the container has chosen the servlet by it, without dots, double slashes and parameters, the servlet's path included.
 * Mostly they are the same.
 */
final class ServletRequestPaths {

    private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

    private ServletRequestPaths() {}

    static List<PathContainer> of(HttpServletRequest request) {
        PathContainer path = ofSpring(request);
        String servlet = request.getServletPath();
        String info = text(request.getPathInfo());
        String whole = servlet.concat(info);
        if (path != null && path.value().equals(whole)) {
            return RequestPaths.of(path);
        }
        List<PathContainer> paths = new ArrayList<>(3);
        if (path != null) {
            paths.add(path);
        }
        paths.add(PathContainer.parsePath(whole, DECODED));
        if (!servlet.isEmpty() && !info.isEmpty()) {
            paths.add(PathContainer.parsePath(info, DECODED));
        }
        return RequestPaths.of(paths);
    }

    /** {@code null}: Spring cannot read it, so that no handler of Spring's will get it. */
    private static @Nullable PathContainer ofSpring(HttpServletRequest request) {
        try {
            return ServletRequestPathUtils.parse(request).pathWithinApplication();
        } catch (IllegalArgumentException | IllegalStateException ex) {
            return null;
        }
    }

    private static String text(@Nullable String path) {
        return path == null ? "" : path;
    }
}
