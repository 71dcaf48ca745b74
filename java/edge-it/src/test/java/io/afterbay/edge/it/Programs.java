package io.afterbay.edge.it;

import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.testing.RustPrograms;

/** The program of the sites, compiled as the tests of the folder rust are. */
final class Programs {
    private Programs() {}

    static EdgeProgram edge() {
        return new EdgeProgram(RustPrograms.path("afterbay-edge"));
    }
}
