package io.afterbay.orphans;

/** What is done with a file that no checkpoint refers to. */
public enum Verdict {
    DELETE("nobody needs it"),
    YOUNG("younger than the limit: may belong to an upload that is under way"),
    UNFINISHED("may belong to a checkpoint that is not complete and younger than the limit"),
    OPEN("of file merging or ForSt, and the job wrote within the limit: may be in use"),
    TASK_OWNED("states may refer to it (write-ahead sinks): never deleted"),
    UNKNOWN("a checkpoint that cannot be read may refer to it");

    private final String reason;

    Verdict(String reason) {
        this.reason = reason;
    }

    public String reason() {
        return reason;
    }
}
