package io.ratelimit.dashboard;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A response of the dashboard, in the terms of both web stacks. */
final class DashboardResponse {

    /** Nothing but what this server serves; and no script can turn a text into markup. */
    static final String CONTENT_SECURITY_POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
                    + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
                    + " require-trusted-types-for 'script'; trusted-types 'none'";

    private static final byte[] NO_CONTENT = {};

    private static final DashboardResponse NOT_ALLOWED =
            new DashboardResponse(405, Map.of("Allow", "GET, HEAD"), NO_CONTENT);

    private final int status;

    private final Map<String, String> headers;

    private final byte[] body;

    private DashboardResponse(int status, Map<String, String> headers, byte[] body) {
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    static DashboardResponse of(String type, byte[] body) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", type);
        headers.put("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Referrer-Policy", "no-referrer");
        // Asked for each time, so that a new version of the application brings its own.
        headers.put("Cache-Control", "no-cache");
        headers.put("ETag", '"' + digest(body) + '"');
        return new DashboardResponse(200, headers, body);
    }

    static DashboardResponse redirect(String location) {
        return new DashboardResponse(302, Map.of("Location", location), NO_CONTENT);
    }

    private static String digest(byte[] body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body), 0, 16);
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /**
     * Returns the response to a request.
     *
     * @param known the header {@code If-None-Match}, if the client has one
     */
    DashboardResponse to(String method, @Nullable String known) {
        if (!method.equals("GET") && !method.equals("HEAD")) {
            return NOT_ALLOWED;
        }
        String tag = headers.get("ETag");
        if (tag != null && known != null && known.contains(tag)) {
            Map<String, String> cached = new LinkedHashMap<>(headers);
            cached.remove("Content-Type");
            return new DashboardResponse(304, cached, NO_CONTENT);
        }
        return this;
    }

    int status() {
        return status;
    }

    Map<String, String> headers() {
        return headers;
    }

    byte[] body() {
        return body;
    }
}
