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

    /** Returns each path, and the path without its trailing slash, which filters may remove. */
    public static List<PathContainer> of(List<PathContainer> paths) {
        List<PathContainer> all = new ArrayList<>(2 * paths.size());
        for (PathContainer path : paths) {
            all.add(path);
            int last = path.elements().size() - 1;
            if (last > 0 && path.elements().get(last) instanceof Separator) {
                all.add(path.subPath(0, last));
            }
        }
        return all;
    }
}
