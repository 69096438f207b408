package io.ratelimit.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.springframework.core.annotation.AliasFor;

/** The arrows between packages. Each rule comes with the seeded classes that break it. */
enum ArchitectureRule {
    ROOT_KNOWS_THE_JDK_ONLY("RootKnowsSpring", "RootKnowsMemory") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base)
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(with(base)));
        }
    },

    MEMORY_KNOWS_THE_ROOT_ONLY("MemoryKnowsRedis") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base + ".memory")
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(with(base, base + ".memory")));
        }
    },

    REDIS_KNOWS_THE_ROOT("RedisKnowsMetrics") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "redis");
        }
    },

    SPRING_DATA_IS_FOR_REDIS("AopKnowsSpringData") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackages(base + ".redis", base + ".autoconfigure")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.springframework.data..", "io.lettuce..");
        }
    },

    REACTOR_IS_FOR_REACTIVE_CALLS("MetricsKnowsReactor") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackages(base + ".aop", base + ".web", base + ".redis", base + ".autoconfigure")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("reactor..", "org.reactivestreams..");
        }
    },

    ANNOTATIONS_KNOW_THE_ROOT_AND_ALIASES("AnnotationKnowsSpring") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base + ".annotation")
                    .should()
                    .onlyDependOnClassesThat(
                            resideInAnyPackage(with(base, base + ".annotation")).or(type(AliasFor.class)));
        }
    },

    AOP_KNOWS_THE_ROOT_AND_THE_ANNOTATION("AopKnowsWeb") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "aop", "annotation");
        }
    },

    WEB_KNOWS_THE_ROOT_AND_AOP("WebKnowsRedis") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web", "aop");
        }
    },

    METRICS_KNOW_THE_ROOT("MetricsKnowsActuate") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "metrics");
        }
    },

    ACTUATE_KNOWS_THE_ROOT("ActuateKnowsMetrics") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "actuate");
        }
    },

    NOBODY_KNOWS_THE_WIRING("WebKnowsAutoconfigure") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackage(base + ".autoconfigure")
                    .should()
                    .dependOnClassesThat(resideInAPackage(base + ".autoconfigure"));
        }
    },

    NO_CYCLES("MetricsKnowsActuate", "ActuateKnowsMetrics") {
        @Override
        ArchRule in(String base) {
            return SlicesRuleDefinition.slices()
                    .matching(base + ".(*)..")
                    .should()
                    .beFreeOfCycles();
        }
    },

    PACKAGES_ARE_NULL_MARKED("RootKnowsSpring") {
        @Override
        ArchRule in(String base) {
            return classes().that().resideInAPackage(base + "..").should(new BeInANullMarkedPackage());
        }
    },

    NOBODY_PRINTS("PrintsToTheConsole") {
        @Override
        ArchRule in(String base) {
            return GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
        }
    },

    NOBODY_USES_JAVA_UTIL_LOGGING("UsesJavaUtilLogging") {
        @Override
        ArchRule in(String base) {
            return GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
        }
    },

    EVERY_WAIT_HAS_A_DEADLINE("WaitsWithoutDeadline") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that(not(nameMatching(base.replace(".", "\\.") + "\\.BoundedWait")))
                    .should()
                    .accessTargetWhere(UntimedWaits.PREDICATE);
        }
    };

    private final String breaches;

    ArchitectureRule(String... breaches) {
        this.breaches = String.join(" ", breaches);
    }

    /** The rule for the packages below this one. */
    abstract ArchRule in(String base);

    /** The simple names of the seeded classes that break the rule. */
    List<String> breaches() {
        return List.of(breaches.split(" "));
    }

    private static String[] with(String... packages) {
        return Stream.concat(Stream.of("java..", "org.jspecify.."), Arrays.stream(packages))
                .toArray(String[]::new);
    }

    /** Of ours the root, itself and these; of others whatever it needs. */
    private static ArchRule knowsOf(String base, String own, String... known) {
        List<String> names = Stream.concat(Stream.of(own), Arrays.stream(known)).toList();
        return noClasses()
                .that()
                .resideInAPackage(base + "." + own)
                .should()
                .dependOnClassesThat(resideInAPackage(base + ".*..")
                        .and(not(resideInAnyPackage(
                                names.stream().map(name -> base + "." + name).toArray(String[]::new)))));
    }

    private static final class BeInANullMarkedPackage extends ArchCondition<JavaClass> {

        BeInANullMarkedPackage() {
            super("be in a package that is @NullMarked");
        }

        @Override
        public void check(JavaClass type, ConditionEvents events) {
            events.add(new SimpleConditionEvent(
                    type,
                    type.getPackage().isAnnotatedWith(NullMarked.class),
                    type.getName() + " is in a package that is not @NullMarked"));
        }
    }
}
