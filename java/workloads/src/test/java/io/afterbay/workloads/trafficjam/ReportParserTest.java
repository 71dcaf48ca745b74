package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReportParserTest {

    @Test
    void readsALineOfTheTrace() {
        assertThat(ReportParser.parse("985,292,-1745,-1.5,1983.2,9.5").report())
                .isEqualTo(new Report(985, "292", "-1745", 95, 0));
    }

    @ParameterizedTest
    @CsvSource({
        "0,0",
        "7,70",
        "0.0,0",
        ".4,4",
        "3.,30",
        "1.24,12",
        "1.25,13",
        "1.3499,13",
        "9.95,100"
    })
    void roundsSpeedsHalfUpToTenths(String speed, int tenths) {
        Report report = ReportParser.parse("1,c,s,0,0," + speed).report();
        assertThat(report).isNotNull();
        assertThat(report.speedDms()).isEqualTo(tenths);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "garbage",
                "1,c,s,0,0",
                "1,c,s,0,0,1.0,",
                ",c,s,0,0,1.0",
                "-1,c,s,0,0,1.0",
                "1.5,c,s,0,0,1.0",
                "99999999999999999999,c,s,0,0,1.0",
                "100000000001,c,s,0,0,1.0",
                "1,,s,0,0,1.0",
                "1,c, ,0,0,1.0",
                "1,c,s,x,0,1.0",
                "1,c,s,0,-,1.0",
                "1,c,s,0,1.2.3,1.0",
                "1,c,s,0,0,",
                "1,c,s,0,0,.",
                "1,c,s,0,0,-1.0",
                "1,c,s,0,0,1e3",
                "1,c,s,0,0,NaN",
                "1,c,s,0,0,99999999999999999999",
                "1,c,s,0,0,1.0 "
            })
    void refusesWhatIsNoReportAndSaysWhy(String line) {
        ReportParser.Result result = ReportParser.parse(line);
        assertThat(result.report()).isNull();
        assertThat(result.problem()).isNotEmpty().doesNotContain(",");
    }
}
