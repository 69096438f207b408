package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class AnnotationLookupTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void limitsTheAnnotatedMethodAndNoOther() {
        runner.withBean(OnMethod.class).run(context -> {
            OnMethod bean = context.getBean(OnMethod.class);
            assertThat(bean.quote()).isEqualTo("quote");
            assertRejected("on-method-quote", bean::quote);
            assertThat(bean.free()).isEqualTo("free");
            assertThat(bean.free()).isEqualTo("free");
        });
    }

    @Test
    void publicMethodsShareTheLimitOfTheirType() {
        runner.withBean(OnType.class).run(context -> {
            OnType bean = context.getBean(OnType.class);
            bean.one();
            assertRejected("on-type", bean::two);
            assertThat(bean.packagePrivate()).isEqualTo("not covered");
            assertThat(bean.toString()).isEqualTo("on type");
        });
    }

    @Test
    void methodsOwnAnnotationReplacesThatOfTheType() {
        runner.withBean(OnType.class).run(context -> {
            OnType bean = context.getBean(OnType.class);
            bean.own();
            bean.own();
            assertRejected("on-type-own", bean::own);
            bean.one();
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactly(
                            "on-type-own ALLOWED", "on-type-own ALLOWED", "on-type-own REJECTED", "on-type ALLOWED");
        });
    }

    @Test
    void findsTheAnnotationOfAnInterfacesMethod() {
        runner.withBean(Implementation.class).run(context -> {
            Implementation bean = context.getBean(Implementation.class);
            bean.limited("a");
            assertRejected("interface-limited", () -> bean.limited("b"));
        });
    }

    @Test
    void annotatedInterfaceCoversItsOwnMethodsOnly() {
        runner.withBean(Implementation.class).run(context -> {
            Implementation bean = context.getBean(Implementation.class);
            bean.covered("a");
            assertRejected("interface", () -> bean.covered("b"));
            assertThat(bean.unrelated()).isEqualTo("unrelated");
        });
    }

    @Test
    void annotatedInterfaceCoversItsGenericMethods() {
        runner.withBean(StringStore.class).run(context -> {
            StringStore bean = context.getBean(StringStore.class);
            bean.save("a");
            assertRejected("store", () -> bean.save("b"));
        });
    }

    @Test
    void annotatedInterfaceCoversWhatItInherits() {
        runner.withBean(ChildImplementation.class).run(context -> {
            ChildImplementation bean = context.getBean(ChildImplementation.class);
            bean.inherited();
            assertRejected("child", bean::inherited);
        });
    }

    @Test
    void findsTheAnnotationsOfSuperclasses() {
        runner.withBean(Derived.class).run(context -> {
            Derived bean = context.getBean(Derived.class);
            bean.overridden();
            assertRejected("base-overridden", bean::overridden);
            bean.inherited();
            assertRejected("base", bean::inherited);
            assertRejected("base", bean::added);
        });
    }

    @Test
    void findsAMetaAnnotationWithItsAliases() {
        runner.withBean(Composed.class).run(context -> {
            Composed bean = context.getBean(Composed.class);
            bean.quote("alice");
            bean.quote("bob");
            assertRejected("composed", () -> bean.quote("alice"));
        });
    }

    static class OnMethod {

        @RateLimited(rate = "1/s")
        public String quote() {
            return "quote";
        }

        public String free() {
            return "free";
        }
    }

    @RateLimited(rate = "1/s")
    static class OnType {

        public void one() {}

        public void two() {}

        @RateLimited(rate = "2/s")
        public void own() {}

        String packagePrivate() {
            return "not covered";
        }

        @Override
        public String toString() {
            return "on type";
        }
    }

    @RateLimited(rate = "1/s")
    interface Interface {

        @RateLimited(rate = "1/s")
        void limited(String id);

        void covered(String id);
    }

    static class Implementation implements Interface {

        @Override
        public void limited(String id) {}

        @Override
        public void covered(String id) {}

        public String unrelated() {
            return "unrelated";
        }
    }

    @RateLimited(rate = "1/s")
    interface Store<T> {

        void save(T item);
    }

    static class StringStore implements Store<String> {

        @Override
        public void save(String item) {}
    }

    interface Parent {

        void inherited();
    }

    @RateLimited(rate = "1/s")
    interface Child extends Parent {}

    static class ChildImplementation implements Child {

        @Override
        public void inherited() {}
    }

    @RateLimited(rate = "1/s")
    static class Base {

        public void inherited() {}

        @RateLimited(rate = "1/s")
        public void overridden() {}
    }

    static class Derived extends Base {

        @Override
        public void overridden() {}

        public void added() {}
    }

    static class Composed {

        @PerUser(perSecond = "1/s")
        public void quote(String user) {}
    }
}
