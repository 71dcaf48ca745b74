package io.afterbay.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** What a class logs, at INFO and above, until this is closed. */
final class LoggedLines implements AutoCloseable {
    private final Logger logger;
    private final Lines lines = new Lines();

    private static final class Lines extends AbstractAppender {
        private final List<String> all = new CopyOnWriteArrayList<>();

        Lines() {
            super("lines", null, null, false, Property.EMPTY_ARRAY);
        }

        @Override
        public void append(LogEvent event) {
            all.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
        }
    }

    LoggedLines(Class<?> of) {
        logger = (Logger) LogManager.getLogger(of.getName());
        lines.start();
        logger.addAppender(lines);
        Configurator.setLevel(logger.getName(), Level.INFO);
    }

    /** Each begins with its level. */
    List<String> all() {
        return lines.all;
    }

    @Override
    public void close() {
        logger.removeAppender(lines);
        Configurator.setLevel(logger.getName(), Level.OFF);
    }
}
