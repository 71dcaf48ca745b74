package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One line in the log says that the backend is there, with what, and from where. */
class StartOfBackendTest {
    private final Backends backends = new Backends();
    private final Lines lines = new Lines();
    private final Logger logger =
            (Logger) LogManager.getLogger("io.afterbay.flink.AfterbayKeyedStateBackendBuilder");

    /** What was logged. */
    private static final class Lines extends AbstractAppender {
        private final List<String> messages = new CopyOnWriteArrayList<>();

        Lines() {
            super("lines", null, null, false, Property.EMPTY_ARRAY);
        }

        @Override
        public void append(LogEvent event) {
            messages.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
        }
    }

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        Configurator.setLevel(logger.getName(), Level.INFO);
    }

    @AfterEach
    void close() throws Exception {
        logger.removeAppender(lines);
        Configurator.setLevel(logger.getName(), Level.OFF);
        backends.close();
    }

    @Test
    void isInTheLogOnce() throws Exception {
        backends.open(IntSerializer.INSTANCE);
        assertThat(lines.messages)
                .singleElement()
                .asString()
                .startsWith("INFO Afterbay keeps the keyed state of operator")
                .contains("key groups 0 to 3 of 4", "64.000mb")
                .endsWith("nothing restored");
    }

    @Test
    void saysThatItWasRestored() throws Exception {
        var backend = backends.open(IntSerializer.INSTANCE);
        backend.setCurrentKey(1);
        backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("value", Long.class))
                .update(1L);
        KeyedStateHandle checkpoint = Backends.checkpoint(backend);
        backends.open(IntSerializer.INSTANCE, checkpoint);
        assertThat(lines.messages).hasSize(2);
        assertThat(lines.messages.get(1)).endsWith("restored from 1 state handle(s)");
    }
}
