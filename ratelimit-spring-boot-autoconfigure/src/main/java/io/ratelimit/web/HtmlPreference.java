package io.ratelimit.web;

import java.util.ArrayList;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.util.InvalidMimeTypeException;
import org.springframework.util.MimeTypeUtils;

/** Detects a browser, which prefers HTML to JSON, by its {@code Accept} header. */
public final class HtmlPreference {

    private HtmlPreference() {}

    /** Whether the media types include HTML by its name, and none that is JSON is preferred to it. */
    public static boolean in(List<MediaType> accepted) {
        List<MediaType> preferred = new ArrayList<>(accepted);
        try {
            MimeTypeUtils.sortBySpecificity(preferred);
        } catch (InvalidMimeTypeException tooMany) {
            return false;
        }
        for (MediaType type : preferred) {
            if (type.equalsTypeAndSubtype(MediaType.TEXT_HTML)) {
                return type.getQualityValue() > 0;
            }
            if (isJson(type)) {
                return false;
            }
        }
        return false;
    }

    private static boolean isJson(MediaType type) {
        return type.isCompatibleWith(MediaType.APPLICATION_JSON)
                || type.isCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON);
    }
}
