package io.afterbay.spark.publish;

/** What has to be published before a file. */
public enum Kind {
    /** Nothing: nobody reads it before a log file names it. Several are published at once. */
    STATE,
    /** All that was submitted before it. */
    LOG
}
