package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.Profile;
import io.afterbay.workloads.profiles.ProfilesAnswer;
import io.afterbay.workloads.profiles.StandardTitle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Compares the table of titles with what is right for the profiles that were sent: of each member
 * the newest one, by one dictionary.
 *
 * @param members that there are
 * @param wrong whose row is missing, or another one
 * @param examples of them, a few
 */
public record TitlesCheck(int members, int wrong, List<String> examples) {
    private static final int EXAMPLES = 3;
    private static final long ROWS_PAUSE_MS = 200;

    /** The header of rows that a replay has written. */
    private static final String REPLAYED = "afterbay-replay";

    /** Which counts what the topics have when it is called. */
    public static TitlesCheck of(Topic profiles, Topic titles, int dictionary) {
        List<Profile> sent = new ArrayList<>();
        profiles.read(row -> sent.add(ProfileRecords.profile(row)));
        return compare(ProfilesAnswer.table(sent, dictionary), table(titles));
    }

    /** What readers of the table end up with: of each key the last row, if it is not a delete. */
    public static Map<Long, StandardTitle> table(Topic titles) {
        Map<String, ConsumerRecord<byte[], byte[]>> last = new HashMap<>();
        titles.read(row -> last.put(new String(row.key(), StandardCharsets.UTF_8), row));
        Map<Long, StandardTitle> table = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> row : last.values()) {
            if (row.value() != null) {
                StandardTitle title = ProfileRecords.title(row);
                table.put(title.member(), title);
            }
        }
        return table;
    }

    static TitlesCheck compare(Map<Long, StandardTitle> right, Map<Long, StandardTitle> found) {
        List<String> examples = new ArrayList<>();
        int wrong = 0;
        for (Map.Entry<Long, StandardTitle> row : right.entrySet()) {
            StandardTitle title = found.get(row.getKey());
            if (!row.getValue().equals(title)) {
                wrong++;
                if (examples.size() < EXAMPLES) {
                    examples.add("%s, right is %s".formatted(title, row.getValue()));
                }
            }
        }
        long surplus = found.keySet().stream().filter(key -> !right.containsKey(key)).count();
        return new TitlesCheck(right.size(), wrong + (int) surplus, List.copyOf(examples));
    }

    /**
     * Compares the rows that the live job has written, and no replay, with the profiles since then:
     * each has to be there once.
     *
     * @return how many are missing or there too often
     */
    public static long wrongOfLive(Topic profiles, Topic titles, long sinceMs) {
        Map<String, Long> open = new HashMap<>();
        profiles.read(
                row -> {
                    Profile profile = ProfileRecords.profile(row);
                    if (row.timestamp() >= sinceMs) {
                        open.merge(profile.member() + "@" + profile.changedMicros(), 1L, Long::sum);
                    }
                });
        titles.read(
                row -> {
                    if (row.timestamp() >= sinceMs && row.headers().lastHeader(REPLAYED) == null) {
                        StandardTitle title = ProfileRecords.title(row);
                        open.merge(title.member() + "@" + title.changedMicros(), -1L, Long::sum);
                    }
                });
        return open.values().stream().filter(count -> count != 0).count();
    }

    /** The same as a program, for the example. */
    @Command(
            name = "check",
            description = {
                "Waits until the live job has read all profiles, and compares the table of titles"
                        + " with what is right. Exit codes: 0 equal, 1 not."
            },
            mixinStandardHelpOptions = true)
    static final class Program implements Callable<Integer> {
        @Option(names = "--bootstrap", required = true, paramLabel = "HOST:PORT")
        private String bootstrap = "";

        @Option(names = "--profiles", paramLabel = "TOPIC", defaultValue = "profiles")
        private String profiles = "";

        @Option(names = "--titles", paramLabel = "TOPIC", defaultValue = "titles")
        private String titles = "";

        @Option(names = "--dictionary", paramLabel = "N", defaultValue = "2")
        private int dictionary;

        @Option(names = "--group", paramLabel = "NAME", defaultValue = "titles")
        private String group = "";

        @Option(
                names = "--rows",
                paramLabel = "N",
                description =
                        "Only count the rows that are by the dictionary: 0 as soon as there are as"
                                + " many, 1 if there are not.")
        private @Nullable Long rows;

        @Option(
                names = "--wait",
                paramLabel = "S",
                defaultValue = "0",
                description = "With --rows: for how long they may come.")
        private int waitSeconds;

        @Option(
                names = "--live-since",
                paramLabel = "MS",
                description =
                        "The live job, which is exactly-once, must have written each profile since"
                                + " then once.")
        private @Nullable Long liveSinceMs;

        @Option(
                names = "--without-offsets",
                paramLabel = "GROUP",
                description = "A group that must not have committed anything.")
        private @Nullable String silentGroup;

        @Option(names = "--timeout", paramLabel = "S", defaultValue = "120")
        private int timeoutSeconds;

        @Override
        public Integer call() throws Exception {
            Topic table = new Topic(bootstrap, titles);
            return rows == null ? compare(table) : awaitRows(table, rows);
        }

        private int awaitRows(Topic table, long wanted) throws InterruptedException {
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(waitSeconds);
            long count = count(table);
            while (count < wanted && System.nanoTime() < deadlineNanos) {
                Thread.sleep(ROWS_PAUSE_MS);
                count = count(table);
            }
            System.out.printf("%d rows by dictionary %d%n", count, dictionary);
            return count >= wanted ? 0 : 1;
        }

        private long count(Topic table) {
            return table(table).values().stream()
                    .filter(title -> title.dictionary() == dictionary)
                    .count();
        }

        private int compare(Topic table) throws Exception {
            Topic input = new Topic(bootstrap, profiles);
            input.awaitNoLag(group, timeoutSeconds);
            TitlesCheck check = of(input, table, dictionary);
            System.out.println(
                    check.wrong() == 0
                            ? "all %d members have the title that is right"
                                    .formatted(check.members())
                            : "of %d members, %d have a wrong title"
                                    .formatted(check.members(), check.wrong()));
            check.examples().forEach(System.out::println);
            return check.wrong() == 0 && isLiveRight(input, table) && isSilent(input) ? 0 : 1;
        }

        private boolean isLiveRight(Topic input, Topic table) {
            if (liveSinceMs == null) {
                return true;
            }
            long wrong = wrongOfLive(input, table, liveSinceMs);
            System.out.printf("of the live job's rows, %d are missing or there too often%n", wrong);
            return wrong == 0;
        }

        private boolean isSilent(Topic input) throws Exception {
            if (silentGroup == null) {
                return true;
            }
            boolean isSilent = input.lag(silentGroup) == input.lag("nobody");
            System.out.printf(
                    "group %s has committed %s%n", silentGroup, isSilent ? "nothing" : "offsets");
            return isSilent;
        }
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new Program()).execute(args));
    }
}
