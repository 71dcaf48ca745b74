package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.PublishSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class CommitOptionTest {
    /** Rewrites the table of the guide instead of comparing: -Dafterbay.docs.write=true. */
    private static final boolean WRITE = Boolean.getBoolean("afterbay.docs.write");

    private static final String BEGIN = "<!-- generated: settings -->\n";
    private static final String END = "<!-- end: settings -->\n";

    private static final String HEAD =
            "| `"
                    + CommitOption.PREFIX
                    + "` | unit | default | what it is | when to change it |\n"
                    + "|---|---|---|---|---|\n";

    @Test
    void theGuideHasThemAll() throws Exception {
        Path guide = Path.of("../../docs/spark.md");
        String present = Files.readString(guide);
        int begin = present.indexOf(BEGIN);
        int end = present.indexOf(END);
        assertThat(begin).as("the place of the table").isPositive();
        String expected = present.substring(0, begin) + BEGIN + table() + present.substring(end);
        if (WRITE) {
            Files.writeString(guide, expected);
        }
        assertThat(Files.readString(guide))
                .as("run the test with -Dafterbay.docs.write=true to write it anew")
                .isEqualTo(expected);
    }

    private static String table() {
        return Arrays.stream(CommitOption.values())
                .map(CommitOptionTest::row)
                .collect(Collectors.joining("", HEAD, ""));
    }

    private static String row(CommitOption option) {
        String defaultValue =
                option.defaultValue().isEmpty() ? "(none)" : "`" + option.defaultValue() + "`";
        return "| `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        option.shortName(),
                        option.unit(),
                        defaultValue,
                        option.meaning(),
                        option.whenToChange());
    }

    /** Defaults are text here, and numbers there. */
    @Test
    void defaultsAreThoseOfThePublisher() {
        SparkConf all = new SparkConf(false);
        for (CommitOption option : CommitOption.values()) {
            if (!option.defaultValue().isEmpty()) {
                all.set(option.key(), option.defaultValue());
            }
        }
        assertThat(CommitSettings.of(all)).isEqualTo(PublishSettings.defaults());
        assertThat(CommitSettings.silenceNanosMax(all)).isEqualTo(20_000_000_000L);
    }

    /** The control of the one before: a default that is not the publisher's is seen. */
    @Test
    void eachOfThePublishersIsRead() {
        for (CommitOption option : CommitOption.values()) {
            if (option.defaultValue().matches("\\d.*") && option != CommitOption.SILENCE) {
                SparkConf other = new SparkConf(false);
                String value = option.defaultValue().replaceFirst("^\\d+", "10485760");
                other.set(option.key(), option == CommitOption.HEDGED ? "11" : value);
                assertThat(CommitSettings.of(other))
                        .as(option.key())
                        .isNotEqualTo(PublishSettings.defaults());
            }
        }
    }
}
