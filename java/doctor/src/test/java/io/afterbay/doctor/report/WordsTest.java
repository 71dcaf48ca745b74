package io.afterbay.doctor.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordsTest {
    @ParameterizedTest
    @CsvSource({
        "2600, 2.6 ms",
        "340000, 340 ms",
        "8000000, 8.0 s",
        "119000000, 119.0 s",
        "186000000, 3.1 min",
        "9000000000, 2.5 h",
        "302400000000, 3.5 days",
    })
    void timesHaveAUnitThatFits(long micros, String words) {
        assertThat(Words.micros(micros)).isEqualTo(words);
    }
}
