package io.afterbay.command;

/** How a command ends. */
public final class ExitCode {
    public static final int OK = 0;

    /** The job or a file failed. */
    public static final int FAILURE = 1;

    /** The command line is wrong. */
    public static final int USAGE = 2;

    /** Of a JVM that ran out of heap, by -XX:+ExitOnOutOfMemoryError. */
    public static final int JVM_OUT_OF_MEMORY = 3;

    /** Ctrl-C: 128 + SIGINT. */
    public static final int INTERRUPTED = 130;

    /** 128 + SIGTERM. */
    public static final int TERMINATED = 143;

    /** Of Flink's handler of errors that leave nothing to be done: -17. */
    public static final int ENGINE_FATAL = 239;

    /** 128 + SIGKILL. */
    public static final int KILLED = 137;

    private ExitCode() {}
}
