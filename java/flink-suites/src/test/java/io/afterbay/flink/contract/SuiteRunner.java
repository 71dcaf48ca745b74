package io.afterbay.flink.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs a suite that somebody else wrote and says exactly what happened to each of its tests.
 *
 * <p>A suite run directly by the build proves nothing when its tests are quietly not found, skipped
 * or aborted by an assumption; one run here is counted, and the caller asserts the counts.
 */
public final class SuiteRunner {
    private SuiteRunner() {}

    /**
     * What happened, by name ({@code method[parameters]}).
     *
     * @param succeeded tests that ran to their end
     * @param failed tests that failed, and containers that did
     * @param aborted tests that an assumption ended
     * @param skipped tests and containers that were disabled
     */
    public record Outcome(
            List<String> succeeded,
            TreeMap<String, Throwable> failed,
            List<String> aborted,
            List<String> skipped) {

        /** For assertion messages. */
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            text.append(succeeded.size()).append(" succeeded, ").append(failed.size());
            text.append(" failed, ").append(aborted.size()).append(" aborted, ");
            text.append(skipped.size()).append(" skipped");
            failed.forEach(
                    (name, error) ->
                            text.append("\n  FAILED ").append(name).append(": ").append(error));
            aborted.forEach(name -> text.append("\n  aborted ").append(name));
            skipped.forEach(name -> text.append("\n  skipped ").append(name));
            return text.toString();
        }
    }

    public static Outcome run(Class<?> suite) {
        return run(selectClass(suite));
    }

    public static Outcome run(DiscoverySelector... selectors) {
        Recorder recorder = new Recorder();
        launcher()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectors)
                                .configurationParameter(
                                        "junit.jupiter.execution.parallel.enabled", "false")
                                .build(),
                        recorder);
        return recorder.outcome;
    }

    private static Launcher launcher() {
        return LauncherFactory.create(
                LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .enableLauncherSessionListenerAutoRegistration(false)
                        .build());
    }

    /** The names of {@code names} that match no predicate. */
    public static List<String> unexpected(List<String> names, Predicate<String> expected) {
        return names.stream().filter(expected.negate()).toList();
    }

    private static final class Recorder implements TestExecutionListener {
        final Outcome outcome =
                new Outcome(
                        new ArrayList<>(), new TreeMap<>(), new ArrayList<>(), new ArrayList<>());

        @Override
        public void executionSkipped(TestIdentifier id, String reason) {
            outcome.skipped.add(name(id) + " (" + reason + ")");
        }

        @Override
        public void executionFinished(TestIdentifier id, TestExecutionResult result) {
            switch (result.getStatus()) {
                case FAILED ->
                        outcome.failed.put(
                                name(id), result.getThrowable().orElseGet(AssertionError::new));
                case ABORTED -> outcome.aborted.add(name(id));
                case SUCCESSFUL -> {
                    if (id.isTest()) {
                        outcome.succeeded.add(name(id));
                    }
                }
            }
        }

        /** The last parts of the unique id: template and invocation, or method. */
        private static String name(TestIdentifier id) {
            String method =
                    id.getUniqueIdObject().getSegments().stream()
                            .filter(
                                    s ->
                                            s.getType().startsWith("test")
                                                    || s.getType().equals("method"))
                            .map(s -> s.getValue())
                            .reduce((a, b) -> a + b)
                            .orElse(id.getDisplayName());
            return method + " " + id.getDisplayName();
        }
    }
}
