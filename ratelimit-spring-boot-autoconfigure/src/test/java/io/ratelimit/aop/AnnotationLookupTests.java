package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
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
    void findsTheAnnotationOfAnInterfaceThatASuperclassImplementsUnknowingly() {
        runner.withBean(ImplementedByUnlimitedBase.class).run(context -> {
            ImplementedByUnlimitedBase bean = context.getBean(ImplementedByUnlimitedBase.class);
            bean.shared();
            assertRejected("shared", bean::shared);
        });
    }

    @Test
    void annotationsOfSupertypesMustNotDiffer() {
        assertAmbiguous(OfTwoInterfaces.class, First.class.getName() + ".call()", Second.class.getName() + ".call()");
        assertAmbiguous(
                OfABaseAndAnInterface.class,
                LimitedBase.class.getName() + ".call()",
                Second.class.getName() + ".call()");
        assertAmbiguous(OfTwoTypes.class, SecondType.class.getName(), LimitedTypeBase.class.getName());
    }

    private void assertAmbiguous(Class<?> type, String... places) {
        runner.withBean(type).run(context -> {
            assertThat(analysis(context).getDescription())
                    .contains("Where: " + type.getName())
                    .contains("@RateLimited must not differ between supertypes (was on " + String.join(" and ", places)
                            + ").");
            assertThat(analysis(context).getAction())
                    .isEqualTo("Annotate the " + (places[0].endsWith(")") ? "method in the class" : "class")
                            + ", which replaces both; or remove one.");
        });
    }

    /** The method of the supertype has the parameter of its annotation. */
    @Test
    void mistakeOfAnOverridingMethodNamesThatMethod() {
        runner.withBean(RenamingItsParameter.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + RenamingItsParameter.class.getName()
                                + ".save(String), with the annotation of " + Repository.class.getName()
                                + ".save(Object)")
                        .contains("keyExpression \"#entity\" names #entity, but the method has no such parameter."));
    }

    @Test
    void annotationsOfSupertypesMayBeTheSame() {
        runner.withBean(OfEqualInterfaces.class).run(context -> {
            OfEqualInterfaces bean = context.getBean(OfEqualInterfaces.class);
            bean.shared();
            assertRejected("shared", bean::shared);
        });
    }

    @Test
    void annotationOfTheClassReplacesThoseOfItsSupertypes() {
        runner.withBean(ReplacingBoth.class).run(context -> {
            ReplacingBoth bean = context.getBean(ReplacingBoth.class);
            bean.call();
            bean.call();
            bean.call();
            assertRejected("own", bean::call);
        });
    }

    @Test
    void annotationOfAnExtendingInterfaceReplacesThatOfTheExtendedOne() {
        runner.withBean(OfAnExtendingInterface.class).run(context -> {
            OfAnExtendingInterface bean = context.getBean(OfAnExtendingInterface.class);
            bean.call();
            bean.call();
            assertRejected("extending", bean::call);
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

    interface Shared {

        @RateLimited(name = "shared", rate = "1/s")
        void shared();
    }

    interface SharedToo {

        @RateLimited(name = "shared", rate = "1/s")
        void shared();
    }

    interface Repository<T> {

        @RateLimited(rate = "1/s", keyExpression = "#entity")
        void save(T entity);
    }

    static class RenamingItsParameter implements Repository<String> {

        @Override
        public void save(String text) {}
    }

    static class UnlimitedBase {

        public void shared() {}
    }

    static class ImplementedByUnlimitedBase extends UnlimitedBase implements Shared {}

    static class OfEqualInterfaces implements Shared, SharedToo {

        @Override
        public void shared() {}
    }

    interface First {

        @RateLimited(name = "first", rate = "5/s")
        void call();
    }

    interface Second {

        @RateLimited(name = "second", rate = "1/s")
        void call();
    }

    interface Extending extends First {

        @Override
        @RateLimited(name = "extending", rate = "2/s")
        void call();
    }

    static class OfTwoInterfaces implements First, Second {

        @Override
        public void call() {}
    }

    static class LimitedBase {

        @RateLimited(name = "first", rate = "5/s")
        public void call() {}
    }

    static class OfABaseAndAnInterface extends LimitedBase implements Second {}

    @RateLimited(name = "first", rate = "5/s")
    static class LimitedTypeBase {}

    @RateLimited(name = "second", rate = "1/s")
    interface SecondType {

        void call();
    }

    static class OfTwoTypes extends LimitedTypeBase implements SecondType {

        @Override
        public void call() {}
    }

    static class ReplacingBoth implements First, Second {

        @Override
        @RateLimited(name = "own", rate = "3/s")
        public void call() {}
    }

    static class OfAnExtendingInterface implements First, Extending {

        @Override
        public void call() {}
    }

    static class Composed {

        @PerUser(perSecond = "1/s")
        public void quote(String user) {}
    }
}
