package io.ratelimit.autoconfigure.web;

import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.core.env.Environment;

/** Lists where the server of the application serves the actuator's health, at which an orchestrator probes it. */
record ProbePaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {

    private static final EndpointId HEALTH = EndpointId.of("health");

    /** Each with and without the path of Spring MVC's servlet, because a request's path is read in both ways. */
    List<String> paths() {
        String servlet = environment.getProperty("spring.mvc.servlet.path", "").replaceFirst("/$", "");
        return endpoints.stream()
                .flatMap(this::paths)
                .flatMap(path -> Stream.of(path, servlet + path))
                .distinct()
                .toList();
    }

    private Stream<String> paths(PathMappedEndpoints all) {
        Stream<String> additional = all.getAdditionalPaths(WebServerNamespace.SERVER, HEALTH).stream();
        return ManagementPortType.get(environment) == ManagementPortType.SAME
                ? Stream.concat(Stream.ofNullable(all.getPath(HEALTH)), additional)
                : additional;
    }
}
