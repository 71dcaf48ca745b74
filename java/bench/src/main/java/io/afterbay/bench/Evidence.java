package io.afterbay.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * What a figure rests on.
 *
 * @param pairs how many pairs of runs, or runs where nothing is compared
 * @param revision of the source that ran
 */
record Evidence(long pairs, String revision) {

    /** The header of a table whose rows end with their evidence. */
    static List<String> header(List<String> header) {
        return append(header, "pairs", "revision");
    }

    /** A row of such a table. */
    List<String> row(List<String> fields) {
        return append(fields, pairs(pairs), revision);
    }

    /** A field of a table, or a part of a sentence. Of one pair, nobody knows what is chance. */
    static String pairs(long pairs) {
        return pairs == 1 ? "one pair, indicative" : pairs + " pairs";
    }

    private static List<String> append(List<String> fields, String... more) {
        List<String> all = new ArrayList<>(fields);
        all.addAll(List.of(more));
        return all;
    }
}
