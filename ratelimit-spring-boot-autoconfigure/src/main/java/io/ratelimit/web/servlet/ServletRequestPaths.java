package io.ratelimit.web.servlet;

import io.ratelimit.web.RequestPaths;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Lists the readings of a servlet request's path: as Spring's handlers read it, segment by segment and below the servlet's
 * path; and as the container selects the servlet, without dots, double slashes and parameters, with the servlet's path.
 * Usually they are the same.
 */
final class ServletRequestPaths {

    private ServletRequestPaths() {}

    static List<PathContainer> of(HttpServletRequest request) {
        PathContainer path = ofSpring(request);
        String servlet = request.getServletPath();
        String info = Objects.requireNonNullElse(request.getPathInfo(), "");
        String full = servlet.concat(info);
        if (path != null && path.value().equals(full)) {
            return RequestPaths.of(List.of(path));
        }
        List<PathContainer> paths = new ArrayList<>(3);
        if (path != null) {
            paths.add(path);
        }
        paths.add(RequestPaths.ofDecoded(full));
        if (!servlet.isEmpty() && !info.isEmpty()) {
            paths.add(RequestPaths.ofDecoded(info));
        }
        return RequestPaths.of(paths);
    }

    /** Returns {@code null} if Spring cannot parse the path, so that none of Spring's handlers gets the request. */
    private static @Nullable PathContainer ofSpring(HttpServletRequest request) {
        try {
            return ServletRequestPathUtils.parse(request).pathWithinApplication();
        } catch (IllegalArgumentException | IllegalStateException ex) {
            return null;
        }
    }
}
