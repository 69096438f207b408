package io.ratelimit.test.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The results of tests of a contract, by their names.
 *
 * @param skipped with the reasons
 * @param messages of the tests that failed
 */
record ContractRun(List<String> passed, Map<String, String> skipped, Map<String, String> messages)
        implements TestExecutionListener {

    /** @param tests those that must find the mistake; none: all */
    static ContractRun of(Class<?> contract, String... tests) {
        ContractRun results = new ContractRun(new ArrayList<>(), new HashMap<>(), new HashMap<>());
        LauncherDiscoveryRequestBuilder selected = LauncherDiscoveryRequestBuilder.request();
        if (tests.length == 0) {
            selected.selectors(selectClass(contract));
        }
        for (String test : tests) {
            selected.selectors(selectMethod(contract, test));
        }
        LauncherFactory.create().execute(selected.build(), results);
        return results;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (!test.isTest()) {
            return;
        }
        String name = test.getLegacyReportingName().replace("()", "");
        if (result.getStatus() == Status.SUCCESSFUL) {
            passed.add(name);
        } else {
            String message = result.getThrowable()
                    .map(thrown -> String.valueOf(thrown.getMessage()))
                    .orElseThrow();
            (result.getStatus() == Status.ABORTED ? skipped : messages).put(name, message);
        }
    }
}
