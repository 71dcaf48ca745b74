package io.afterbay.doctor.live;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.MalformedURLException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import javax.naming.NameNotFoundException;
import org.jspecify.annotations.Nullable;

/**
 * The counters of the RocksDB instances that a coordinator looks after in a running process: the
 * bean {@code io.afterbay:type=RocksDBDesync}, whose attributes are those of {@code
 * io.afterbay.rocksdb.DesyncMetrics}. Two coordinators in a process, of two jobs that bring the jar
 * themselves, are two.
 *
 * @param values by attribute
 */
public record LiveCounters(String bean, Map<String, Object> values) {
    private static final String BEANS = "io.afterbay:type=RocksDBDesync,*";
    private static final Pattern HOST_AND_PORT = Pattern.compile("(?:\\[.+]|[^:/]+):\\d{1,5}");

    /**
     * Reads the counters once. JMX deserializes what the process answers: for processes that the
     * user trusts, as with JDK's own jconsole. What does not answer in time is left to itself, in a
     * daemon thread: RMI has limits of time for whole processes only, and no way to interrupt it.
     *
     * @param address HOST:PORT of a JMX port, or a whole {@code service:jmx:} URL
     * @return empty if the process has none
     * @throws IOException if nobody answers, with the cause in words
     */
    public static List<LiveCounters> read(String address, Duration timeout) throws IOException {
        JMXServiceURL url = url(address);
        FutureTask<List<LiveCounters>> reading = new FutureTask<>(() -> read(url));
        Thread thread = new Thread(reading, "afterbay-doctor-live");
        thread.setDaemon(true);
        thread.start();
        try {
            return reading.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + timeout.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException(reason(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    @SuppressWarnings("BanJNDI") // the address is the user's own
    private static List<LiveCounters> read(JMXServiceURL url) throws IOException, JMException {
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            return read(connector.getMBeanServerConnection());
        }
    }

    /** The innermost cause: those around it say little but the names of layers. */
    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof SecurityException) {
            return "it asks for a password, which is not supported";
        }
        if (cause instanceof NameNotFoundException) {
            return "what listens there is a registry without JMX";
        }
        if (cause instanceof UnknownHostException) {
            return "there is no host of that name";
        }
        @Nullable String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    private static JMXServiceURL url(String address) throws MalformedURLException {
        if (address.startsWith("service:")) {
            return new JMXServiceURL(address);
        }
        if (!HOST_AND_PORT.matcher(address).matches()) {
            throw new MalformedURLException("it must be HOST:PORT or service:jmx:...");
        }
        return new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + address + "/jmxrmi");
    }

    private static List<LiveCounters> read(MBeanServerConnection process)
            throws IOException, JMException {
        List<LiveCounters> found = new ArrayList<>();
        for (ObjectName name : process.queryNames(new ObjectName(BEANS), null)) {
            String[] attributes =
                    Arrays.stream(process.getMBeanInfo(name).getAttributes())
                            .map(MBeanAttributeInfo::getName)
                            .toArray(String[]::new);
            Map<String, Object> values = new TreeMap<>();
            for (Attribute attribute : process.getAttributes(name, attributes).asList()) {
                values.put(attribute.getName(), attribute.getValue());
            }
            found.add(new LiveCounters(name.toString(), values));
        }
        return found;
    }

    /** A number; 0 if this version of the bean does not have it. */
    long count(String attribute) {
        return values.get(attribute) instanceof Number number ? number.longValue() : 0;
    }

    /** Whether something is so; false if this version of the bean does not have it. */
    boolean is(String attribute) {
        return Boolean.TRUE.equals(values.get(attribute));
    }
}
