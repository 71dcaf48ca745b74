package io.afterbay.blob.it;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The server's program, compiled as the tests of the folder rust are. */
final class BlobProgram {
    private static final Path RUST = home().resolve("rust");

    /**
     * As 'cargo test' builds them: another choice of packages would compile their libraries once
     * more, with other features.
     */
    private static final List<String> BUILD =
            List.of("build", "--quiet", "--locked", "--workspace", "--bins", "--examples");

    private static final class Built {
        static final Path PROGRAM = build();
    }

    private BlobProgram() {}

    /** The root of the project. */
    static Path home() {
        return Path.of(System.getProperty("afterbay.home")).toAbsolutePath().normalize();
    }

    /** Where cargo puts what it compiles. */
    static Path target() {
        String target = System.getenv("CARGO_TARGET_DIR");
        return target == null || target.isEmpty() ? RUST.resolve("target") : Path.of(target);
    }

    static Path path() {
        return Built.PROGRAM;
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
            throw new IllegalStateException("the blob store cannot be compiled", e);
        }
        return target().resolve("debug").resolve("afterbay-blob");
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
