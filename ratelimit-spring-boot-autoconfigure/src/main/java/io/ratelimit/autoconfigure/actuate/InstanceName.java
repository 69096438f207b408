package io.ratelimit.autoconfigure.actuate;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Names this instance for people: {@code 4711@web-1}, its process and host. */
final class InstanceName {

    private InstanceName() {}

    static String get() {
        return ProcessHandle.current().pid() + "@" + host();
    }

    private static String host() {
        // Set in containers and on Windows, without a query to a name server.
        for (String variable : new String[] {"HOSTNAME", "COMPUTERNAME"}) {
            String name = System.getenv(variable);
            if (name != null && !name.isBlank()) {
                return name;
            }
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException ex) {
            return "localhost";
        }
    }
}
