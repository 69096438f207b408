package io.ratelimit.architecture.breach;

import java.util.logging.Logger;

/** The root package logs by System.Logger, the others by commons-logging. */
public class UsesJavaUtilLogging {

    Logger logger = Logger.getLogger("breach");
}
