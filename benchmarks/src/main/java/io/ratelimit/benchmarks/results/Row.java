package io.ratelimit.benchmarks.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of a section: this starter beside the libraries that can do the same.
 *
 * @param path what is done
 * @param workload under which it was measured; empty if there are no several
 * @param measure by which contestants are compared
 * @param contestant of this starter
 * @param peers the contestants of other libraries; what follows a colon in a name is a variant in the library's column
 * @param goal of the project; null if there is none
 */
public record Row(
        String path,
        String workload,
        Measure measure,
        String contestant,
        List<String> peers,
        @Nullable Double goal) {

    /** The column of a peer. */
    static String column(String peer) {
        int colon = peer.indexOf(':');
        return colon < 0 ? peer : peer.substring(0, colon);
    }

    String name() {
        return workload.isEmpty() ? path : path + ", " + workload;
    }
}
