package io.ratelimit.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;

/** Tells whether other contexts of the application are to come, which may declare what this one does not. */
final class PartialContext {

    private PartialContext() {}

    static boolean isPartial(ApplicationContext context) {
        // A child inherits the properties of its parent. This one is about the parent alone.
        return (isSet(context) && !isSet(context.getParent())) || isFollowedByAnother();
    }

    private static boolean isSet(@Nullable ApplicationContext context) {
        return context != null
                && Binder.get(context.getEnvironment())
                        .bind("ratelimit.partial-context", Boolean.class)
                        .orElse(false);
    }

    /**
     * Returns whether a {@link SpringApplicationBuilder} is about to start another context: its run starts the parent first,
     * and sibling starts the first child first. A context itself cannot know that it will be a parent. Called only before a
     * mistake is reported.
     */
    private static boolean isFollowedByAnother() {
        return StackWalker.getInstance().walk(frames -> {
            var builders = frames.filter(frame -> frame.getClassName().equals(SpringApplicationBuilder.class.getName()))
                    .map(StackWalker.StackFrame::getMethodName)
                    .toList();
            return builders.contains("sibling")
                    || builders.stream().filter("run"::equals).count() > 1;
        });
    }
}
