package io.ratelimit.web;

import java.util.ArrayList;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.util.InvalidMimeTypeException;
import org.springframework.util.MimeTypeUtils;

/** Detects a browser, which prefers HTML to JSON, by its {@code Accept} header. */
public final class HtmlPreference {

    private HtmlPreference() {}

    /** Whether the accepted media types include HTML by its name, and none that is JSON is preferred to it. */
    public static boolean in(HttpHeaders request) {
        List<MediaType> preferred;
        try {
            preferred = new ArrayList<>(request.getAccept());
            MimeTypeUtils.sortBySpecificity(preferred);
        } catch (InvalidMediaTypeException | InvalidMimeTypeException malformedOrTooMany) {
            return false;
        }
        for (MediaType type : preferred) {
            if (type.equalsTypeAndSubtype(MediaType.TEXT_HTML)) {
                return type.getQualityValue() > 0;
            }
            if (type.isCompatibleWith(MediaType.APPLICATION_JSON)
                    || type.isCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON)) {
                return false;
            }
        }
        return false;
    }
}
