package io.afterbay.spark.model;

/**
 * What a process has asked of the storage and has not heard of: it may happen later, or never, also
 * when the process has gone on or died.
 */
sealed interface Effect {
    /** A file is written. */
    record Write(Entry entry) implements Effect {
        @Override
        public String toString() {
            return "write of " + entry;
        }
    }

    /** A file is written under a hidden name. */
    record Stage(String hidden, Entry entry) implements Effect {
        @Override
        public String toString() {
            return "write of " + entry + " under a hidden name";
        }
    }

    /** A hidden file gets its name, whatever is in it. */
    record Rename(String hidden, String target) implements Effect {
        @Override
        public String toString() {
            return "renaming of a hidden file to " + target;
        }
    }
}
