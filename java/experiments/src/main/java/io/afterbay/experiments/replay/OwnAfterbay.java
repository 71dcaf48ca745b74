package io.afterbay.experiments.replay;

import io.afterbay.cli.Afterbay;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Abandonment;

/** The command line in a process that ends with the one that has started it. */
final class OwnAfterbay {
    private OwnAfterbay() {}

    public static void main(String[] args) {
        Abandonment.withParent(() -> Runtime.getRuntime().halt(ExitCode.KILLED));
        Afterbay.main(args);
    }
}
