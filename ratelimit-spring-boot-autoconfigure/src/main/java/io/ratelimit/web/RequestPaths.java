package io.ratelimit.web;

import java.util.ArrayList;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.Separator;

/** Lists the readings of a request's path. A limit applies whichever of them a handler uses. */
public final class RequestPaths {

    private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

    private RequestPaths() {}

    /** Parses a path that is decoded already. */
    public static PathContainer ofDecoded(String path) {
        return PathContainer.parsePath(path, DECODED);
    }

    /** Returns the path, and the path without its trailing slash, which filters may remove. */
    public static List<PathContainer> of(PathContainer path) {
        PathContainer without = withoutTrailingSlash(path);
        return without == path ? List.of(path) : List.of(path, without);
    }

    /** Returns the readings of several paths, as {@link #of(PathContainer)} does of each. */
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
