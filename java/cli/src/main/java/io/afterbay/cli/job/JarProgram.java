package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.Submissions;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.client.ClientUtils;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.client.program.ProgramInvocationException;
import org.apache.flink.configuration.ConfigUtils;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.jspecify.annotations.Nullable;

/** The main method of a job jar in a worker, started as {@code flink run} does it. */
public final class JarProgram extends Program {
    private final Path jar;
    private final String mainClass;
    private final List<String> arguments;
    private volatile ClassLoader classLoader = JarProgram.class.getClassLoader();

    public JarProgram(Path jar, String mainClass, List<String> arguments, ProgramRules rules) {
        super(jar, rules);
        this.jar = jar;
        this.mainClass = mainClass;
        this.arguments = List.copyOf(arguments);
    }

    @Override
    void submitJobs(Engine engine) throws ProgramInvocationException {
        Submissions<?> submissions = engine.submissions();
        Configuration settings = engine.jobSettings(false);
        try (PackagedProgram program = program(settings)) {
            classLoader = program.getUserCodeClassLoader();
            ConfigUtils.encodeCollectionToConfig(
                    settings,
                    PipelineOptions.JARS,
                    program.getJobJarAndDependencies(),
                    URL::toString);
            ClientUtils.executeProgram(submissions, settings, program, false, true);
            submissions.ended().join(); // their classes are in the program's class loader
        }
    }

    private PackagedProgram program(Configuration settings) throws ProgramInvocationException {
        return PackagedProgram.newBuilder()
                .setJarFile(jar.toFile())
                .setEntryPointClassName(mainClass)
                .setConfiguration(settings)
                .setArguments(arguments.toArray(String[]::new))
                .build();
    }

    @Override
    String code() {
        return "main of " + mainClass;
    }

    @Override
    ClassLoader classLoader() {
        return classLoader;
    }

    @Override
    public @Nullable String output() {
        return null;
    }

    @Override
    public Job writingTo(String file) {
        throw new UnsupportedOperationException("a jar writes where its code says");
    }

    @Override
    public void printResult(SummaryText text) {
        text.line("%s of %s", mainClass, jar.getFileName());
    }

    @Override
    public void options(ObjectNode node) {
        super.options(node);
        node.put("class", mainClass);
        arguments.forEach(node.putArray("arguments")::add);
    }
}
