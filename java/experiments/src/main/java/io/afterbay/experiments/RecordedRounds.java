package io.afterbay.experiments;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.Trial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The rounds of an experiment that need not run again: those that are recorded for a revision, ran
 * as long and with as much memory, and in which nothing failed or was wrong.
 */
final class RecordedRounds<P extends TrialPlan, R extends Trial> {
    /**
     * Options that change figures and that no run has in its setting; operations if they are a
     * number, and no list of which there are.
     */
    private static final Pattern FORM =
            Pattern.compile(
                    "--(?:(?:warmup|open|closed|memory|state-memory)[= ][^ ]+|operations[= ]\\d+)");

    private final TrialKind<P, R> kind;
    private final Collection<List<R>> rounds;

    private RecordedRounds(TrialKind<P, R> kind, Collection<List<R>> rounds) {
        this.kind = kind;
        this.rounds = rounds;
    }

    /**
     * @param results directory of the files of results
     * @param command that is run now, as it is recorded
     */
    static <P extends TrialPlan, R extends Trial> RecordedRounds<P, R> read(
            TrialKind<P, R> kind, Path results, String revision, String command)
            throws IOException {
        Collection<List<R>> rounds =
                RecordedTrial.read(results, kind.experiment(), kind.type()).stream()
                        .filter(one -> one.provenance().revision().equals(revision))
                        .filter(one -> form(one.provenance().command()).equals(form(command)))
                        .collect(
                                groupingBy(
                                        RecordedTrial::round,
                                        LinkedHashMap::new,
                                        mapping(RecordedTrial::run, toList())))
                        .values();
        rounds.removeIf(round -> !kind.allProblems(round).isEmpty());
        return new RecordedRounds<>(kind, rounds);
    }

    private static Set<String> form(String command) {
        return FORM.matcher(command)
                .results()
                .map(option -> option.group().replace(' ', '='))
                .collect(toSet());
    }

    /** All of their runs. */
    List<R> runs() {
        return rounds.stream().flatMap(List::stream).toList();
    }

    /** What of the experiment is not among them. */
    List<List<P>> missing() {
        return kind.rounds().stream().filter(round -> !kind.isRecorded(round, rounds)).toList();
    }
}
