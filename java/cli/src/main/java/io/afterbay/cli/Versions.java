package io.afterbay.cli;

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
