package io.afterbay.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What this build is made of. */
final class Versions implements IVersionProvider {

    static String afterbay() {
        return property("afterbay");
    }

    static String flink() {
        return property("flink");
    }

    /** The git revision of the sources, with -dirty behind it if files differ, or "unknown". */
    static String revision() {
        try {
            Process git =
                    new ProcessBuilder(
                                    "git",
                                    "describe",
                                    "--always",
                                    "--dirty",
                                    "--abbrev=12",
                                    "--exclude=*")
                            .directory(Installation.home().toFile())
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String revision = new String(git.getInputStream().readAllBytes(), UTF_8).strip();
            return git.waitFor() == 0 ? revision : "unknown";
        } catch (IOException e) {
            return "unknown";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "unknown";
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
        return properties.getProperty(name, "unknown");
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
