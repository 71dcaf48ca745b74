package io.afterbay.cli;

/** How a command ends. */
final class ExitCode {
    static final int OK = 0;

    /** The job or a file failed. */
    static final int FAILURE = 1;

    /** The command line is wrong. */
    static final int USAGE = 2;

    /** Of a JVM that ran out of heap, by -XX:+ExitOnOutOfMemoryError. */
    static final int JVM_OUT_OF_MEMORY = 3;

    /** Ctrl-C: 128 + SIGINT. */
    static final int INTERRUPTED = 130;

    /** 128 + SIGTERM. */
    static final int TERMINATED = 143;

    /** Of Flink's handler of errors that leave nothing to be done: -17. */
    static final int ENGINE_FATAL = 239;

    /** 128 + SIGKILL. */
    static final int KILLED = 137;

    private ExitCode() {}
}
