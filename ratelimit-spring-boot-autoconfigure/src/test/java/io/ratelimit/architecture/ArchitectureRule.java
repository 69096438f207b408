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
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
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

    CONCURRENT_KNOWS_THE_ROOT("ConcurrentKnowsStore") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base + ".concurrent")
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(with(base, base + ".concurrent")));
        }
    },

    STORE_KNOWS_THE_ROOT("StoreKnowsLease") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base + ".store")
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(with(base, base + ".store", base + ".concurrent")));
        }
    },

    FAILOVER_KNOWS_THE_STORE("FailoverKnowsLease") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "store.failover", "store", "concurrent");
        }
    },

    REJECTION_KNOWS_THE_STORE("RejectionKnowsLease") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "store.rejection", "store");
        }
    },

    LEASE_KNOWS_THE_STORE("LeaseKnowsFailover") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "store.lease", "store", "concurrent");
        }
    },

    SCOPE_KNOWS_THE_STORE("ScopeKnowsFailover") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "store.scope", "store", "concurrent");
        }
    },

    LIMITER_KNOWS_THE_STORE("LimiterKnowsExpression") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "limiter", "store", "concurrent");
        }
    },

    CHANGE_KNOWS_LIMITS("ChangeKnowsRedis") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "change", "limiter", "store", "concurrent");
        }
    },

    STATISTICS_KNOW_THREADS("StatisticsKnowsLimiter") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "statistics", "concurrent");
        }
    },

    REDIS_STATISTICS_KNOW_CONNECTIONS("RedisStatisticsKnowsStore") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "redis.statistics", "statistics", "redis.connection");
        }
    },

    EVENT_KNOWS_THREADS("EventKnowsLimiter") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "event", "concurrent");
        }
    },

    MEMORY_KNOWS_THE_STORE("MemoryKnowsRedis") {
        @Override
        ArchRule in(String base) {
            return classes()
                    .that()
                    .resideInAPackage(base + ".memory")
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(with(base, base + ".memory", base + ".store")));
        }
    },

    REDIS_KNOWS_THE_STORE("RedisKnowsMetrics", "RedisKnowsConnection") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "redis", "store", "concurrent");
        }
    },

    CONNECTION_KNOWS_REDIS("ConnectionKnowsStore") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "redis.connection", "redis", "concurrent");
        }
    },

    REDIS_CHANGE_KNOWS_CONNECTIONS("RedisChangeKnowsStore") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "redis.change", "change", "redis", "redis.connection", "concurrent");
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

    EXPRESSION_KNOWS_LIMITS("ExpressionKnowsAop") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "expression", "limiter");
        }
    },

    AOP_KNOWS_EXPRESSIONS("AopKnowsWeb") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "aop", "annotation", "expression", "limiter", "store", "reactor", "concurrent");
        }
    },

    WEB_KNOWS_EXPRESSIONS("WebKnowsRedis") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web", "expression", "limiter");
        }
    },

    SERVLET_KNOWS_THE_WEB("ServletKnowsReactive") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web.servlet", "web", "expression", "limiter", "concurrent");
        }
    },

    REACTIVE_KNOWS_THE_WEB("ReactiveKnowsServlet") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web.reactive", "web", "expression", "limiter", "reactor", "concurrent");
        }
    },

    OPERATOR_KNOWS_THE_ROOT("ReactorKnowsLimiter") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "reactor", "concurrent");
        }
    },

    CLIENT_KNOWS_EVENT_LOOPS("ClientKnowsAnnotation") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web.client", "reactor");
        }
    },

    OPENAPI_KNOWS_LIMITS_AND_THE_WEB("OpenApiKnowsServlet") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "web.openapi", "web", "limiter");
        }
    },

    METRICS_KNOW_LIMITS_AND_THE_STORE("MetricsKnowsActuate") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "metrics", "limiter", "store", "concurrent");
        }
    },

    ACTUATE_KNOWS_THE_STORE_AND_CHARGES("ActuateKnowsMetrics") {
        @Override
        ArchRule in(String base) {
            return knowsOf(base, "actuate", "store", "statistics", "expression");
        }
    },

    SPRING_DATA_IS_FOR_REDIS("AopKnowsSpringData") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackages(
                            base + ".redis",
                            base + ".redis.connection",
                            base + ".redis.change",
                            base + ".redis.statistics",
                            base + ".autoconfigure")
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
                            base + ".redis.connection",
                            base + ".autoconfigure")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("reactor..", "org.reactivestreams..");
        }
    },

    WIRING_IS_IMPORTED_BY_NONE("WebKnowsAutoconfigure") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that()
                    .resideOutsideOfPackage(base + ".autoconfigure")
                    .should()
                    .dependOnClassesThat(resideInAPackage(base + ".autoconfigure"));
        }
    },

    NO_CYCLES("MetricsKnowsActuate", "ActuateKnowsMetrics", "ConnectionKnowsRedis", "RedisKnowsConnection") {
        @Override
        ArchRule in(String base) {
            return SlicesRuleDefinition.slices()
                    .assignedFrom(EACH_PACKAGE)
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

    EVERY_WAIT_HAS_A_DEADLINE("WaitsWithoutDeadline") {
        @Override
        ArchRule in(String base) {
            return noClasses()
                    .that(not(nameMatching(base.replace(".", "\\.") + "\\.(concurrent\\.)?BoundedWait")))
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

    private static String[] with(String... packages) {
        return Stream.concat(Stream.of("java..", "org.jspecify.."), Arrays.stream(packages))
                .toArray(String[]::new);
    }

    /** Of the starter the root, itself and these, exactly; of others whatever it needs. */
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
