package io.ratelimit.web;

import java.util.ArrayList;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.Separator;

/** The ways to read a request's path. A limit must not depend on which of them is in use behind it. */
public final class RequestPaths {

    private RequestPaths() {}

    /** A path, and the same without the slash at its end, which filters may remove. */
    public static List<PathContainer> of(PathContainer path) {
        PathContainer without = withoutTrailingSlash(path);
        return without == path ? List.of(path) : List.of(path, without);
    }

    /** Several paths, each as {@link #of(PathContainer)} has it. */
    public static List<PathContainer> of(List<PathContainer> paths) {
        List<PathContainer> all = new ArrayList<>(2 * paths.size());
        paths.forEach(path -> all.addAll(of(path)));
        return all;
    }

    private static PathContainer withoutTrailingSlash(PathContainer path) {
        int last = path.elements().size() - 1;
        return last > 0 && path.elements().get(last) instanceof Separator ? path.subPath(0, last) : path;
    }
}
