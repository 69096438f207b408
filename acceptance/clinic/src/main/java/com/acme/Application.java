package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.event.EventListener;

/** An application with a database and a cache. */
@EnableCaching
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Read by the suite: classes that know the port have moved between the versions of Spring Boot. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        boolean generated = !event.getApplicationContext()
                .containsBean(AnnotationConfigUtils.CONFIGURATION_ANNOTATION_PROCESSOR_BEAN_NAME);
        System.out.println("configured by " + (generated ? "generated code" : "annotations"));
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}
