package io.ratelimit.aop;

import io.ratelimit.internal.limit.LimitNames;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Holds the names that a pointcut can refer to: the classes of all beans, their supertypes and packages. */
final class QualifiedNames {

    private final Set<String> names = new TreeSet<>();

    QualifiedNames(ListableBeanFactory beans) {
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> type = beans.getType(bean, false);
            if (type != null) {
                add(ClassUtils.getUserClass(type));
            }
        }
    }

    private void add(Class<?> beanType) {
        for (Class<?> type = beanType; type != null; type = type.getSuperclass()) {
            addName(type);
        }
        ClassUtils.getAllInterfacesForClassAsSet(beanType).forEach(this::addName);
    }

    private void addName(Class<?> type) {
        names.add(type.getName().replace('$', '.'));
        names.add(type.getPackageName());
    }

    boolean contains(String name) {
        return names.contains(name);
    }

    /** Suggests a name that differs in one misspelled part, or only in the package. */
    Optional<String> nearest(String name) {
        return first(known -> differsInOnePart(parts(name), parts(known)))
                .or(() -> first(known -> simpleName(known).equals(simpleName(name))));
    }

    private Optional<String> first(Predicate<String> filter) {
        return names.stream().filter(filter).findFirst();
    }

    private static boolean differsInOnePart(List<String> name, List<String> candidate) {
        if (name.size() != candidate.size()) {
            return false;
        }
        int differences = 0;
        for (int i = 0; i < name.size(); i++) {
            if (!name.get(i).equals(candidate.get(i))) {
                differences += LimitNames.nearest(name.get(i), List.of(candidate.get(i)))
                                .isPresent()
                        ? 1
                        : name.size();
            }
        }
        return differences == 1;
    }

    private static List<String> parts(String name) {
        return List.of(name.split("[.]"));
    }

    private static String simpleName(String name) {
        List<String> parts = parts(name);
        return parts.get(parts.size() - 1);
    }
}
