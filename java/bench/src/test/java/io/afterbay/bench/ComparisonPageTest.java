package io.afterbay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonPageTest {
    private static final Pattern DATA =
            Pattern.compile(
                    "<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);

    private static JsonNode data(String page) throws IOException {
        Matcher matcher = DATA.matcher(page);
        assertThat(matcher.find()).isTrue();
        return new ObjectMapper().readTree(matcher.group(1));
    }

    @Test
    void carriesItsData(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("page.html");
        ComparisonPage.write(file, Samples.good());
        JsonNode data = data(Files.readString(file));
        JsonNode written = new ObjectMapper().readTree(ComparisonJson.line(Samples.good()));
        assertThat(data.get("comparison")).isEqualTo(written);
        assertThat(data.at("/backends/0").textValue()).isEqualTo("afterbay");
    }

    @Test
    void loadsNothing() throws IOException {
        String page = ComparisonPage.render(Samples.good());
        assertThat(page).contains("Content-Security-Policy\" content=\"default-src 'none'");
        String echarts =
                page.substring(
                        page.indexOf("Licensed to the Apache"), page.lastIndexOf("<script>"));
        assertThat(page.replace(echarts, "")).doesNotContain("http:", "https:", "src=", "href=");
    }

    @Test
    void keepsTheNoticeOfTheChartLibrary() throws IOException {
        assertThat(ComparisonPage.render(Samples.good()))
                .contains("Licensed to the Apache Software Foundation (ASF)")
                .containsPattern("Apache ECharts \\d+\\.\\d+\\.\\d+, Apache License 2.0")
                .doesNotContain("{{");
    }

    @Test
    void cannotBeBrokenByItsData() throws IOException {
        String page = ComparisonPage.render(Samples.allFailed());
        assertThat(data(page).at("/comparison/runs/0/failure").textValue())
                .contains("</script><!-- job.jar");
        assertThat(page).doesNotContain("</script><!--").contains("No verdict: no run finished");
    }

    @Test
    void escapesItsTitle() throws IOException {
        Comparison sample = Samples.quick();
        Comparison named =
                new Comparison(
                        "a<b> & \"{{data}}\".jar",
                        sample.command(),
                        sample.environment(),
                        sample.latencySource(),
                        sample.ratePerS(),
                        sample.runs(),
                        sample.ratios(),
                        sample.outputsEqual(),
                        sample.timelines());
        assertThat(ComparisonPage.render(named))
                .contains("<title>compare a&lt;b&gt; &amp; &quot;{{data}}&quot;.jar: Afterbay is");
    }
}
