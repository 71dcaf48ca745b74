package io.afterbay.workloads.profiles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.workloads.run.Backends;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfilesTest {
    private static final long MEMBERS = 1_000;
    private static final long RECORDS = 20_000;

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource({
        "Sr. Software engineer, Senior Software Engineer, Senior Software Engineer",
        "snr SW dev, snr Switchboard Developer, Senior Software Engineer",
        "PM, Postmaster, Product Manager",
        "Ld. hw Engr, ld hw engr, Lead Hardware Engineer",
        "RN, rn, Nurse",
    })
    void aDictionarySaysWhatWordsMean(String title, String first, String second) {
        assertThat(Dictionary.of(1).standard(title)).isEqualTo(first);
        assertThat(Dictionary.of(2).standard(title)).isEqualTo(second);
        assertThat(new StandardizeFunction().eval(title, 2)).isEqualTo(second);
        assertThat(new StandardizeFunction().eval(null, 2)).isNull();
    }

    @Test
    void thereAreTwoDictionaries() {
        assertThatThrownBy(() -> Dictionary.of(3)).hasMessageContaining("use 1 to 2");
        assertThatThrownBy(() -> Dictionary.of(0)).hasMessageContaining("use 1 to 2");
    }

    /** A new dictionary is of no use if it leaves titles as they were. */
    @Test
    void theSecondDictionaryKnowsAllWordsAndChangesManyTitles() {
        List<String> titles =
                LongStream.range(0, RECORDS)
                        .mapToObj(number -> options(1).record(number).title())
                        .distinct()
                        .toList();
        assertThat(titles)
                .hasSizeGreaterThan(200)
                .noneMatch(title -> title.contains(",") || title.contains("\""))
                .allMatch(title -> Dictionary.of(2).standard(title).matches("([A-Z][a-z]+ ?)+"));
        long changed =
                titles.stream()
                        .filter(
                                title ->
                                        !Dictionary.of(1)
                                                .standard(title)
                                                .equals(Dictionary.of(2).standard(title)))
                        .count();
        assertThat(changed).isGreaterThan(titles.size() / 2);
    }

    @Test
    void theSnapshotHasEachMemberOnceAndChangesFollow() {
        ProfileChanges changes = new ProfileChanges(7, MEMBERS);
        assertThat(LongStream.range(0, MEMBERS).map(changes::member))
                .doesNotHaveDuplicates()
                .hasSize((int) MEMBERS);
        assertThat(LongStream.range(MEMBERS, RECORDS).map(changes::member))
                .allMatch(member -> member >= 0 && member < MEMBERS);
        assertThat(changes.record(1234, 5))
                .isEqualTo(new ProfileChanges(7, MEMBERS).record(1234, 5));
        assertThat(
                        LongStream.range(0, 100)
                                .mapToObj(
                                        number -> new ProfileChanges(8, MEMBERS).record(number, 5)))
                .isNotEqualTo(
                        LongStream.range(0, 100)
                                .mapToObj(number -> changes.record(number, 5))
                                .toList());
    }

    /** In whatever order, the newest profile of a member is left. */
    @Test
    void theAnswerIsTheNewestProfileOfEachMember() {
        List<Profile> profiles = new ArrayList<>();
        LongStream.range(0, RECORDS).forEach(number -> profiles.add(options(2).record(number)));
        Map<Long, StandardTitle> inOrder =
                profiles.stream()
                        .collect(
                                Collectors.toMap(
                                        Profile::member,
                                        profile -> StandardTitle.of(profile, Dictionary.of(2)),
                                        (first, second) -> second));
        assertThat(ProfilesAnswer.table(profiles, 2)).isEqualTo(inOrder).hasSize((int) MEMBERS);
        Collections.shuffle(profiles, new Random(3));
        assertThat(ProfilesAnswer.table(profiles, 2)).isEqualTo(inOrder);
        assertThat(ProfilesAnswer.table(profiles, 1)).isNotEqualTo(inOrder);
    }

    @ParameterizedTest
    @CsvSource({"1, hashmap", "2, io.afterbay.flink.AfterbayStateBackendFactory"})
    void theJobYieldsTheAnswer(int dictionary, String backend) throws Exception {
        ProfilesOptions options = options(dictionary);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(
                        2, Backends.settings(backend, directory, Duration.ofMillis(200)));
        Profiles.build(env, options);
        env.execute();
        Path output = Path.of(String.valueOf(options.output()));
        assertThat(ProfilesAnswer.problem(options, output)).isEmpty();
        ProfilesStatistics statistics = ProfilesStatistics.of(options.run());
        assertThat(statistics.accepted()).isEqualTo(RECORDS);
        assertThat(statistics.rows()).isEqualTo(RECORDS);
        assertThat(statistics.latencyMicros().getTotalCount()).isPositive();
        assertThat(Files.readAllLines(output)).hasSize((int) RECORDS + 1);
    }

    /** The negative control: a comparison that cannot fail would prove nothing. */
    @Test
    void aWrongOrDoubledRowIsFound() throws Exception {
        ProfilesOptions options = options(2);
        Path output = Path.of(String.valueOf(options.output()));
        List<String> right = new ArrayList<>(List.of(StandardTitle.HEADER));
        ProfilesAnswer.rows(options).map(StandardTitle::csv).forEach(right::add);
        Files.write(output, right);
        assertThat(ProfilesAnswer.problem(options, output)).isEmpty();
        assertThat(ProfilesAnswer.problem(options(1), output)).contains("right are 20000 rows");
        right.add(right.get(1));
        Files.write(output, right);
        assertThat(ProfilesAnswer.problem(options, output)).contains("20001 rows");
        right.set(0, "x");
        Files.write(output, right);
        assertThatThrownBy(() -> ProfilesAnswer.problem(options, output))
                .hasMessageContaining("is no output of profiles");
    }

    private ProfilesOptions options(int dictionary) {
        return new ProfilesOptions(
                new ProfileChanges(7, MEMBERS),
                RECORDS,
                1_000,
                dictionary,
                0,
                directory.resolve("titles.csv").toString(),
                "profiles-" + dictionary);
    }
}
