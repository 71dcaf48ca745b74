package io.afterbay.flink.it.cluster;

import io.afterbay.testing.OwnJvm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;

/**
 * Launches the JVMs of a cluster, with the JVM options and dynamic properties that Flink's start
 * scripts would compute from the same {@code config.yaml}. Every JVM has a log of its own.
 */
final class FlinkProcesses {
    private final FlinkHome home;
    private final Configuration config;
    private int starts;

    FlinkProcesses(FlinkHome home, Map<String, String> config) {
        this.home = home;
        this.config = Configuration.fromMap(config);
    }

    JvmProcess jobManager(int restPort) throws IOException {
        JobManagerProcessSpec spec = JobManagerProcessUtils.processSpecFromConfig(config);
        return launch(
                "jobmanager",
                JobManagerProcessUtils.generateJvmParametersStr(spec, config),
                "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
                JobManagerProcessUtils.generateDynamicConfigsStr(spec)
                        + " -D rest.port="
                        + restPort);
    }

    JvmProcess taskManager(String id) throws IOException {
        TaskExecutorProcessSpec spec = TaskExecutorProcessUtils.processSpecFromConfig(config);
        return launch(
                id,
                ProcessMemoryUtils.generateJvmParametersStr(spec)
                        + " "
                        + config.get(CoreOptions.FLINK_TM_JVM_OPTIONS),
                "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
                TaskExecutorProcessUtils.generateDynamicConfigsStr(spec)
                        + " -D taskmanager.resource-id="
                        + id);
    }

    /** What Flink says a TaskManager takes in all: the size of its container, where it has one. */
    long taskManagerBytes() {
        return TaskExecutorProcessUtils.processSpecFromConfig(config)
                .getTotalProcessMemorySize()
                .getBytes();
    }

    private JvmProcess launch(String name, String jvmOptions, String main, String properties)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(FlinkHome.java()));
        if (!TestForm.IS_LONG) {
            command.addAll(OwnJvm.SHORT_LIVED); // a soak measures what users run
        }
        command.addAll(words(jvmOptions));
        command.addAll(FlinkHome.JAVA_OPTIONS);
        command.add("-Dlog4j.configurationFile=file:" + home.conf().resolve("log4j.properties"));
        command.addAll(List.of("-classpath", home.lib() + "/*", main));
        command.addAll(List.of("--configDir", home.conf().toString()));
        command.addAll(words(properties));
        Path log = home.log().resolve("%s.%d.log".formatted(name, ++starts));
        return JvmProcess.start(name, home.root(), command, log);
    }

    private static List<String> words(String line) {
        return Arrays.stream(line.trim().split("\\s+")).toList();
    }
}
