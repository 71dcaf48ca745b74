package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.RowSum;
import io.afterbay.workloads.run.WorkloadException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** What is right, without an engine. */
public final class ProfilesAnswer {
    private ProfilesAnswer() {}

    /** All rows of a run: of each record one, since they come in the order of their times. */
    public static Stream<StandardTitle> rows(ProfilesOptions options) {
        Dictionary dictionary = Dictionary.of(options.dictionary());
        return LongStream.range(0, options.records())
                .mapToObj(number -> StandardTitle.of(options.record(number), dictionary));
    }

    /**
     * The table that is left: of each member the newest profile, by one dictionary, whoever wrote
     * it and in whatever order.
     */
    public static Map<Long, StandardTitle> table(Iterable<Profile> profiles, int version) {
        Map<Long, Profile> newest = new HashMap<>();
        for (Profile profile : profiles) {
            newest.merge(
                    profile.member(),
                    profile,
                    (a, b) -> b.changedMicros() >= a.changedMicros() ? b : a);
        }
        Map<Long, StandardTitle> table = new TreeMap<>();
        newest.forEach(
                (member, profile) ->
                        table.put(member, StandardTitle.of(profile, Dictionary.of(version))));
        return table;
    }

    /**
     * Compares the output of a run with the rows that are right, as multisets.
     *
     * @return what is wrong, or empty
     */
    public static String problem(ProfilesOptions options, Path file) throws IOException {
        RowSum right = new RowSum();
        rows(options).map(StandardTitle::csv).forEach(right::add);
        RowSum found = new RowSum();
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            String header = lines.readLine();
            if (!StandardTitle.HEADER.equals(header)) {
                throw new WorkloadException(
                        file + " is no output of profiles: it begins with " + header);
            }
            lines.lines().forEach(found::add);
        }
        return right.equals(found) ? "" : "it has %s; right are %s".formatted(found, right);
    }
}
