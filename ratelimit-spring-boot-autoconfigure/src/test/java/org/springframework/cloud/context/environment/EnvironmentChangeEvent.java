package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** Has the name of the event of spring-cloud-context, whose auto-configurations would change all tests. */
@SuppressWarnings("serial")
public class EnvironmentChangeEvent extends ApplicationEvent {

    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
