package io.ratelimit.architecture.breach;

import java.util.logging.Logger;

/** All packages log through System.Logger. */
public class UsesJavaUtilLogging {

    Logger logger = Logger.getLogger("breach");
}
