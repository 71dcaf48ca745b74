package io.afterbay.testing;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The programs of the folder rust, compiled as its tests are. */
public final class RustPrograms {
    private static final Path RUST = home().resolve("rust");

    /**
     * As 'cargo test' builds them: another choice of packages would compile their libraries once
     * more, with other features.
     */
    private static final List<String> BUILD =
            List.of("build", "--quiet", "--locked", "--workspace", "--lib", "--bins", "--examples");

    /**
     * The folder of the compiled programs, if {@code ./afterbay test} runs: it has compiled them
     * before any test, as cargo would make a test wait until the tests of rust are compiled, too.
     */
    private static final String COMPILED = "AFTERBAY_RUST_PROGRAMS";

    private static final class Built {
        static final Path FOLDER = folder();
    }

    private RustPrograms() {}

    /** The root of the project. */
    public static Path home() {
        return Path.of(System.getProperty("afterbay.home")).toAbsolutePath().normalize();
    }

    /** Where cargo puts what it compiles. */
    public static Path target() {
        String target = System.getenv("CARGO_TARGET_DIR");
        return target == null || target.isEmpty() ? RUST.resolve("target") : Path.of(target);
    }

    /** The program of a name; the first call compiles all if nobody has. */
    public static Path path(String name) {
        return Built.FOLDER.resolve(name);
    }

    private static Path folder() {
        String compiled = System.getenv(COMPILED);
        return compiled == null ? build() : Path.of(compiled);
    }

    private static Path build() {
        try {
            List<String> command =
                    Stream.concat(Stream.of(cargo().toString()), BUILD.stream()).toList();
            int code =
                    new ProcessBuilder(command)
                            .directory(RUST.toFile())
                            .inheritIO()
                            .start()
                            .waitFor();
            if (code != 0) {
                throw new IllegalStateException(command + " ended with code " + code);
            }
        } catch (Exception e) {
            throw new IllegalStateException("the programs of rust/ cannot be compiled", e);
        }
        return target().resolve("debug");
    }

    private static Path cargo() {
        return Stream.concat(
                        Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                                .map(folder -> Path.of(folder, "cargo")),
                        Stream.of(Path.of(System.getProperty("user.home"), ".cargo/bin/cargo")))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("cargo was not found"));
    }
}
