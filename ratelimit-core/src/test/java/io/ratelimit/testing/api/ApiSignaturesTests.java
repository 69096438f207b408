package io.ratelimit.testing.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Internal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApiSignaturesTests {

    @Test
    void signaturesOfAClassAreThoseThatCallersAndSubclassesSee() {
        assertThat(ApiSignatures.of(Sample.class).map(line -> line.substring(line.indexOf(": ") + 2)))
                .containsExactlyInAnyOrder(
                        "abstract static class<T extends Number> extends io.ratelimit.testing.api.ApiSignaturesTests$Hidden"
                                + " implements java.util.function.Supplier<T>",
                        "protected new(java.util.List<T>)",
                        "static final int SIZE",
                        "abstract <X extends Exception> @Nullable String find(@Nullable String, long[]) throws X",
                        "protected final java.util.Map<String, ? extends T> all()",
                        "void inherited(Object[])");
    }

    @Test
    void defaultOfAnAnnotationIsPartOfItsSignature() {
        assertThat(ApiSignatures.of(Marker.class).map(line -> line.substring(line.indexOf(": ") + 2)))
                .containsExactlyInAnyOrder("annotation", "abstract String value()", "abstract long permits() default");
    }

    @Test
    void removedChangedAndAddedMethodsDiffer() {
        List<String> stored = List.of("A: void removed()", "A: void changed(int)", "A: void kept()");
        List<String> now = List.of("A: void changed(long)", "A: void kept()", "A: void added()");
        assertThat(AbstractApiTests.difference(stored, now))
                .isEqualTo("\n- A: void removed()\n- A: void changed(int)\n+ A: void changed(long)\n+ A: void added()");
        assertThat(AbstractApiTests.difference(stored, stored)).isEmpty();
    }

    @Test
    void internalTypesAreLeftOut() throws IOException {
        List<String> signatures = ApiSignatures.in(Path.of("target", "classes"));
        assertThat(signatures).anyMatch(line -> line.startsWith("io.ratelimit.RateLimiter$Entry: "));
        assertThat(signatures).noneMatch(line -> line.contains(Internal.class.getPackageName() + ".internal."));
    }

    abstract static class Hidden {

        public void inherited(Object... arguments) {}
    }

    public abstract static class Sample<T extends Number> extends Hidden implements Supplier<T> {

        public static final int SIZE = 1;

        final int notVisible = 2;

        protected Sample(List<T> values) {}

        public abstract <X extends Exception> @Nullable String find(@Nullable String name, long... sizes) throws X;

        protected final Map<String, ? extends T> all() {
            return Map.of();
        }

        void notVisible() {}
    }

    @interface Marker {

        String value();

        long permits() default 1;
    }
}
