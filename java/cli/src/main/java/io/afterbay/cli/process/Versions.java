package io.afterbay.cli.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.afterbay.command.Installation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What this build is made of. */
public final class Versions implements IVersionProvider {
    /** Behind the revision of sources with changes. */
    public static final String DIRTY = "-dirty";

    private static final String UNKNOWN = "unknown";

    public static String afterbay() {
        return property("afterbay");
    }

    public static String flink() {
        return property("flink");
    }

    /**
     * The JVM of this process and of its workers, with the options that the user gives to those.
     */
    public static String java() {
        List<String> words = new ArrayList<>(List.of(System.getProperty("java.vm.version")));
        words.addAll(WorkerJvm.options());
        return String.join(" ", words);
    }

    /** What a JVM with Spark is started with: what Spark's own launcher opens. */
    public static String sparkFlags() {
        return property("spark.flags");
    }

    /**
     * The git revision of the sources, with {@link #DIRTY} behind it if files differ, recorded
     * results apart, or "unknown".
     */
    public static String revision() {
        String revision = git("rev-parse", "--short=12", "HEAD").orElse("");
        if (revision.isEmpty()) {
            return UNKNOWN;
        }
        String changes =
                git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results")
                        .orElse("");
        return changes.isEmpty() ? revision : revision + DIRTY;
    }

    private static Optional<String> git(String... arguments) {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        try {
            Process git =
                    new ProcessBuilder(command)
                            .directory(Installation.home().toAbsolutePath().toFile())
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String output = new String(git.getInputStream().readAllBytes(), UTF_8).strip();
            return git.waitFor() == 0 ? Optional.of(output) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static String property(String name) {
        Properties properties = new Properties();
        try (InputStream in = Versions.class.getResourceAsStream("versions.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty(name, UNKNOWN);
    }

    @Override
    public String[] getVersion() {
        return new String[] {
            "afterbay " + afterbay(),
            "Flink " + flink(),
            "Java " + System.getProperty("java.vm.version")
        };
    }
}
