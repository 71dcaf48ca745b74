package io.afterbay.blob.it;

import io.afterbay.testing.RustPrograms;
import java.nio.file.Path;

/** The server's program, compiled as the tests of the folder rust are. */
final class BlobProgram {
    private BlobProgram() {}

    /** The root of the project. */
    static Path home() {
        return RustPrograms.home();
    }

    /** Where cargo puts what it compiles. */
    static Path target() {
        return RustPrograms.target();
    }

    static Path path() {
        return RustPrograms.path("afterbay-blob");
    }
}
