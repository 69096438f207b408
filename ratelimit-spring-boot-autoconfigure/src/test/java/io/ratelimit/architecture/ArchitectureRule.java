package io.ratelimit.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import io.ratelimit.Internal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.NullMarked;

/** The arrows between packages. Each rule comes with the seeded classes that break it. */
enum ArchitectureRule {
    PACKAGES_USE_WHAT_THE_TABLE_ALLOWS("AopKnowsMetrics", "RootKnowsActuate") {
        @Override
        ArchRule in(String base) {
            return classes().that().resideInAPackage(base + "..").should(new PackageTable(base));
        }
    },

    SPRING_DATA_IS_FOR_REDIS("AopKnowsSpringData") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackages(base + ".redis..", base + ".autoconfigure", base + ".autoconfigure.redis")
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
                    .resideOutsideOfPackages(
                            base + ".expression",
                            base + ".aop",
                            base + ".reactor",
                            base + ".web.reactive",
                            base + ".web.client",
                            base + ".ai",
                            base + ".graphql",
                            base + ".stomp",
                            base + ".redis.connection",
                            base + ".autoconfigure",
                            base + ".autoconfigure.web")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("reactor..", "org.reactivestreams..");
        }
    },

    NO_CYCLES("MetricsKnowsActuate", "ActuateKnowsMetrics") {
        @Override
        ArchRule in(String base) {
            return SlicesRuleDefinition.slices()
                    .assignedFrom(EACH_PACKAGE)
                    .should()
                    .beFreeOfCycles()
                    // An annotation, also of packages that the root uses.
                    .ignoreDependency(alwaysTrue(), type(Internal.class));
        }
    },

    PACKAGES_ARE_NULL_MARKED("RootKnowsSpring") {
        @Override
        ArchRule in(String base) {
            return classes().that().resideInAPackage(base + "..").should(new BeInANullMarkedPackage());
        }
    },

    NONE_PRINTS("PrintsToTheConsole") {
        @Override
        ArchRule in(String base) {
            return GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
        }
    },

    NONE_USES_JAVA_UTIL_LOGGING("UsesJavaUtilLogging") {
        @Override
        ArchRule in(String base) {
            return GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
        }
    },

    /** Its thread never ends, and keeps the class loader of the application that has needed it first. */
    NONE_USES_THE_TIMER_OF_THE_JDK("UsesTheTimerOfTheJdk") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .should()
                    .accessTargetWhere(DescribedPredicate.<JavaAccess<?>>describe(
                            "starts the timer of CompletableFuture",
                            access -> access.getTarget().getOwner().isEquivalentTo(CompletableFuture.class)
                                    && Set.of("orTimeout", "completeOnTimeout", "delayedExecutor")
                                            .contains(access.getName())));
        }
    },

    EVERY_WAIT_HAS_A_DEADLINE("WaitsWithoutDeadline") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that(not(nameMatching(base.replace(".", "\\.") + "\\.(internal\\.concurrent\\.)?BoundedWait")))
                    .should()
                    .accessTargetWhere(UntimedWaits.PREDICATE);
        }
    };

    private static final SliceAssignment EACH_PACKAGE = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages, each on its own";
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
