package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.flink.AfterbayStateBackendFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ValuesTest {

    @ParameterizedTest
    @CsvSource({
        "0,0",
        "1,1",
        "2k,2048",
        "512m,536870912",
        "1g,1073741824",
        "1GiB,1073741824",
        "3 MB,3145728",
        "2t,2199023255552"
    })
    void sizesTakeUnitsOf1024(String text, long bytes) {
        assertThat(ByteSize.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "m", "-1m", "1.5g", "2x", "1 2", "99999999999999", "999999999999t"})
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text)).isInstanceOf(TypeConversionException.class);
    }

    @Test
    void sizesArePrintedForPeople() {
        assertThat(new ByteSize(1023)).hasToString("1023 bytes");
        assertThat(new ByteSize(1536)).hasToString("1.5 KiB");
        assertThat(ByteSize.ofMiB(2048)).hasToString("2.0 GiB");
    }

    @ParameterizedTest
    @CsvSource({
        "500ms,500",
        "10s,10000",
        "2min,120000",
        "2m,120000",
        "1h,3600000",
        "7d,604800000",
        "off,0"
    })
    void durationsNeedAUnit(String text, long millis) {
        assertThat(new Durations().convert(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10", "s", "-1s", "1.5s", "1w", "10 seconds"})
    void whatIsNoDurationIsRefused(String text) {
        assertThatThrownBy(() -> new Durations().convert(text))
                .isInstanceOf(TypeConversionException.class);
    }

    static List<Backend> backends() {
        return Backend.KNOWN;
    }

    @ParameterizedTest
    @MethodSource("backends")
    void theSharesOfMemoryAddUpToTheTotal(Backend backend) {
        for (int parallelism : new int[] {1, 2, 8, 32, 128}) {
            ByteSize minimum = MemorySplit.minimum(backend, parallelism, null);
            for (long mebibytes = minimum.mebibytes(); mebibytes < 100_000; mebibytes *= 2) {
                MemorySplit split =
                        MemorySplit.of(ByteSize.ofMiB(mebibytes), backend, parallelism, null);
                assertThat(
                                split.heap().bytes()
                                        + split.managed().bytes()
                                        + split.network().bytes()
                                        + split.jvm().bytes())
                        .isEqualTo(split.total().bytes());
                assertThat(split.heap().mebibytes()).isGreaterThanOrEqualTo(128);
                assertThat(split.state().bytes() > 0).isEqualTo(backend.isOffHeap());
            }
        }
    }

    @Test
    void backendsAreKnownByTheirNames() throws Exception {
        assertThat(new Backend.Converter().convert("rocksdb-heap-timers"))
                .isEqualTo(Backend.ROCKSDB_HEAP_TIMERS);
        assertThatThrownBy(() -> new Backend.Converter().convert("rockdb"))
                .hasMessageContaining("afterbay, rocksdb, rocksdb-heap-timers, hashmap");
        assertThatThrownBy(() -> new Backend.Converter().convert("java.lang.String"))
                .hasMessageContaining("class name of a StateBackendFactory");
        Backend own = new Backend.Converter().convert(AfterbayStateBackendFactory.class.getName());
        assertThat(own).hasToString("AfterbayStateBackendFactory").isNotEqualTo(Backend.AFTERBAY);
        assertThat(own.isOffHeap()).isTrue();
    }
}
